#[entity_core::standard(version, alias(author = nobody))]
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, entity_core::Entity)]
#[entity(prefix = "note", table = "note", access = Public, verbs(read))]
struct Note {
    #[entity(id)]
    note_id: String,
}

fn main() {}

#[entity_core::standard(version, constant(ratio = 1.5))]
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, entity_core::Entity)]
#[entity(prefix = "note", table = "note", access = Public, verbs(read))]
struct Note {
    #[entity(id)]
    note_id: String,
}

fn main() {}

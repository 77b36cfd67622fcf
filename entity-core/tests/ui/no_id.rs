#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, entity_core::Entity)]
#[entity(prefix = "note", table = "note", access = Public, verbs(read))]
struct Note {
    subject: String,
}

fn main() {}

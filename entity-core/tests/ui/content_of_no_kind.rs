#[derive(Clone, Debug, serde::Serialize, entity_core::Entity)]
#[entity(prefix = "note", table = "note", access = Session, verbs(read))]
struct Note {
    #[entity(id)]
    id: String,
    #[entity(content)]
    text: String,
}

fn main() {}

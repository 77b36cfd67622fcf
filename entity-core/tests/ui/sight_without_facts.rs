#[derive(Clone, Debug, serde::Serialize, entity_core::Entity)]
#[entity(prefix = "note", table = "note", access = Session, sight = entity_core::db::RowPolicy::Own, verbs(read))]
struct Note {
    #[entity(id)]
    id: String,
    #[entity(owner)]
    author: String,
}

fn main() {}

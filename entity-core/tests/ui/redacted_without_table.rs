#[derive(Clone, Debug, serde::Serialize, entity_core::Entity)]
#[entity(prefix = "note", access = Session)]
struct Note {
    #[entity(id)]
    id: String,
    #[entity(owner)]
    author: String,
    #[entity(sight = entity_core::db::RowPolicy::Own)]
    serial: Option<String>,
}

fn main() {}

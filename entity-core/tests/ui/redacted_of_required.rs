#[derive(Clone, Debug, serde::Serialize, entity_core::Entity)]
#[entity(prefix = "note", table = "note", access = Session, verbs(read))]
struct Note {
    #[entity(id)]
    id: String,
    #[entity(owner)]
    author: String,
    #[entity(sight = entity_core::db::RowPolicy::Own)]
    remark: String,
}

fn main() {}

#[derive(Clone, Debug, serde::Serialize, entity_core::Entity)]
#[entity(table = "note")]
struct Note {
    #[entity(id)]
    id: String,
    #[entity(sight = entity_core::db::RowPolicy::Holds("note.pages"))]
    pages: i64,
}

fn main() {}

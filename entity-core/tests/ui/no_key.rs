#[derive(Clone, Debug, serde::Serialize, entity_core::Entity)]
#[entity(prefix = "note", table = "note", access = Session, verbs(read))]
struct Note {
    #[entity(id, shown = "{site_id}:{number}")]
    id: String,
    #[entity(read_only)]
    number: String,
    #[entity(site)]
    site_id: String,
}

fn main() {}

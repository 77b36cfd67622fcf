#[derive(Clone, Debug, serde::Serialize, entity_core::Entity)]
#[entity(prefix = "note", table = "note", access = Session, verbs(read))]
struct Note {
    #[entity(id, shown = "{number}:{site_id}")]
    id: String,
    #[entity(key)]
    number: String,
    #[entity(site)]
    site_id: String,
}

fn main() {}

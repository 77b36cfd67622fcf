/// A note.
#[derive(Clone, Debug, serde::Serialize, entity_core::Entity)]
#[entity(prefix = "note", table = "note", access = Site("note"), verbs(read, list, create))]
struct Note {
    #[entity(id)]
    note_id: String,
    #[entity(id)]
    number: String,
    #[entity(site)]
    site_id: String,
}

fn main() {}

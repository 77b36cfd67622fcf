/// A note.
#[derive(Clone, Debug, serde::Serialize, entity_core::Entity)]
#[entity(prefix = "note", table = "note", access = Site("note"), verbs(read, list, create))]
struct Note {
    #[entity(id)]
    note_id: String,
    #[entity(site)]
    site_id: String,
    #[entity(read_only, default = "open")]
    state: String,
}

fn main() {}

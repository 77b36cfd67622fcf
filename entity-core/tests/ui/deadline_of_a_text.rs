/// A note.
#[derive(Clone, Debug, serde::Serialize, entity_core::Entity)]
#[entity(prefix = "note", table = "note", access = Site("note"), deadline = due, verbs(read, list, create))]
struct Note {
    #[entity(id)]
    note_id: String,
    #[entity(site)]
    site_id: String,
    due: String,
}
entity_core::register!(Note);

fn main() {}

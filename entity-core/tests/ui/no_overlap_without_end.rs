/// A note.
#[derive(Clone, Debug, serde::Serialize, entity_core::Entity)]
#[entity(prefix = "note", table = "note", access = Site("note"), no_overlap(start, end), verbs(read, list, create))]
struct Note {
    #[entity(id)]
    note_id: String,
    #[entity(site)]
    site_id: String,
    start: entity_core::DateTimeUtc,
    end: entity_core::DateTimeUtc,
}

fn main() {}

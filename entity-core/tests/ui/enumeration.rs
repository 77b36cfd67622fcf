/// The urgency of a note.
#[derive(Clone, Debug, Default, serde::Serialize)]
enum Urgency {
    #[default]
    Low,
    High,
}

/// A note.
#[derive(Clone, Debug, serde::Serialize, entity_core::Entity)]
#[entity(prefix = "note", table = "note", access = Public, verbs(read, list, create))]
struct Note {
    #[entity(id)]
    id: String,
    urgency: Urgency,
}

entity_core::register!(Note);

fn main() {}

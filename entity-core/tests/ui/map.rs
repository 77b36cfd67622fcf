/// A note.
#[derive(Clone, Debug, serde::Serialize, entity_core::Entity)]
#[entity(prefix = "note", table = "note", access = Public, verbs(read, list, create))]
struct Note {
    #[entity(id)]
    id: String,
    /// The labels.
    labels: std::collections::HashMap<String, String>,
}

entity_core::register!(Note);

fn main() {}

use entity_core::{Choice, Entity};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
enum Urgency {
    #[default]
    Low,
    #[choice(name = "VERY", words = "Today")]
    High,
}

/// A note.
#[derive(Clone, Debug, serde::Serialize, Entity)]
#[entity(prefix = "note", table = "note", access = Public, verbs(read, list, create))]
struct Note {
    #[entity(id)]
    id: String,
    urgency: Urgency,
    former: Option<Urgency>,
}

entity_core::register!(Note);

fn main() {}

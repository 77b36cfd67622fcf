#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, entity_core::Entity)]
struct Note {
    #[entity(id)]
    note_id: String,
    #[entity(readonly)]
    subject: String,
}

fn main() {}

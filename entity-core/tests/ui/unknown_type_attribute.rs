#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, entity_core::Entity)]
#[entity(prefix = "note", tabel = "note", access = Public)]
struct Note {
    #[entity(id)]
    note_id: String,
}

fn main() {}

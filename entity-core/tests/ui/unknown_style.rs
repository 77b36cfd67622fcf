#[derive(Clone, Debug, serde::Serialize, entity_core::Entity)]
#[serde(rename_all = "PascalCase")]
#[entity(prefix = "note", table = "note", access = Session, verbs(read))]
struct Note {
    #[entity(id)]
    id: String,
}

fn main() {}

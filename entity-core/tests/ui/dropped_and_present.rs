#[derive(Clone, Debug, serde::Serialize, entity_core::Entity)]
#[entity(prefix = "note", table = "note", dropped("remark"), access = Session, verbs(read))]
struct Note {
    #[entity(id)]
    id: String,
    #[entity(owner)]
    author: String,
    remark: String,
}

fn main() {}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, entity_core::Entity)]
enum Note {
    One,
    Another,
}

fn main() {}

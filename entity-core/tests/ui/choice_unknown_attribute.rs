#[derive(Default, entity_core::Choice)]
enum State {
    #[default]
    #[choice(label = "Still open")]
    Open,
}

fn main() {}

#[derive(Default, entity_core::Choice)]
enum State {
    #[default]
    Open,
    Closed(String),
}

fn main() {}

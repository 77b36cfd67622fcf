#[derive(entity_core::Choice)]
enum State {
    Open,
    Closed,
}

fn main() {}

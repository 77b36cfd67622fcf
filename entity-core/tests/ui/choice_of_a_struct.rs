#[derive(Default, entity_core::Choice)]
struct State {
    name: String,
}

fn main() {}

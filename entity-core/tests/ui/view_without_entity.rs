#[derive(entity_core::View)]
struct NoteView {
    id: String,
}

#[derive(entity_core::View)]
#[view(of = NoteView)]
struct Pair(String, String);

fn main() {}

struct Note {
    note_id: String,
}

#[derive(entity_core::View)]
#[view(of = Note)]
struct NoteView {
    #[view(from = note_id)]
    id: String,
}

#[derive(entity_core::View)]
#[view(of = Note, next(url: String))]
struct OtherView {
    note_id: String,
}

fn main() {}

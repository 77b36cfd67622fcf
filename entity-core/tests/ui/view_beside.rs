struct Note {
    note_id: String,
}

#[derive(entity_core::View)]
#[view(of = Note, beside(url: String), with(size = 1))]
struct NoteView {
    note_id: String,
    #[view(of = note_id)]
    url: String,
    #[view(as = millis)]
    size: i64,
}

fn main() {}

struct Note {
    note_id: String,
    subject: String,
}

#[derive(entity_core::View)]
#[view(of = Note)]
struct NoteView {
    id: String,
    #[view(of = heading)]
    subject: String,
}

fn main() {
    let _ = |note| NoteView::of(note).id;
}

struct Note {
    note_id: String,
}

#[derive(entity_core::View)]
#[view(of = Note, beside(url: String, size: u32))]
struct NoteView {
    note_id: String,
    #[view(of = note_id)]
    url: String,
}

fn main() {}

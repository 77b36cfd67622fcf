struct Note {
    note_id: String,
    changed: entity_core::DateTimeUtc,
}

#[derive(entity_core::View)]
#[view(of = Note)]
struct NoteView {
    #[view(of = note_id, as = upper)]
    id: String,
    #[view(as = date)]
    changed: String,
}

fn main() {}

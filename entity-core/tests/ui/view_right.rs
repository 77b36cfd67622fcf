struct Note {
    note_id: String,
    subject: String,
    changed: entity_core::DateTimeUtc,
    pages: Option<u32>,
}

#[derive(entity_core::View)]
#[view(of = Note, beside(url: String, base: &str), with(
    length = it.subject.len(),
    is_long = length > 9,
    r#type = "note",
    address = format!("{base}{url}"),
))]
struct NoteView {
    #[view(of = note_id)]
    id: String,
    subject: String,
    #[view(of = subject)]
    title: String,
    #[view(as = iso)]
    changed: String,
    #[view(of = changed, as = millis)]
    date: i64,
    #[view(as = unwrap_or_default)]
    pages: u32,
    url: String,
    address: String,
    is_long: bool,
    r#type: &'static str,
}

fn main() {
    let _ = |note| {
        let view = NoteView::of(note, String::new(), "");
        let _ = (view.id, view.subject, view.title, view.changed);
        (view.date, view.pages, view.url, view.address, view.is_long, view.r#type)
    };
}

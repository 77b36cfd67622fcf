use entity_core::endpoint::{Call, Endpoint};
use entity_core::{Context, Result};

#[derive(serde::Serialize)]
struct Note {
    subject: String,
}

const NOTE: Endpoint = Endpoint::get("/api/note", "readNote").answers::<Note>(&note);
entity_core::register_endpoint!(NOTE);

async fn note(_cx: &Context, _call: Call) -> Result<Note> {
    Ok(Note { subject: String::new() })
}

fn main() {}

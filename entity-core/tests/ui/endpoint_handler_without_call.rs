use entity_core::endpoint::Endpoint;
use entity_core::{Context, Result};

const NOTE: Endpoint = Endpoint::get("/api/note", "readNote").answers::<String>(&note);
entity_core::register_endpoint!(NOTE);

async fn note(_cx: &Context) -> Result<String> {
    Ok(String::new())
}

fn main() {}

//! `/direct/session/{id}/norefresh`: leads to the session without keeping it alive, for clients that know this address.

use axum::http::header::LOCATION;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use entity_core::engine::DirectPath;
use entity_core::{Result, Verb, encode_segment};

use super::request::DirectRequest;

/// The last segment of the address.
const WORD: &str = "norefresh";

/// Returns whether the address is asked for.
pub(crate) fn is_asked(path: &DirectPath, verb: Verb) -> bool {
    let is_named = matches!(path.segments.as_slice(), [_, word] if word == WORD);
    path.prefix == "session" && is_named && verb == Verb::Get
}

/// Returns whether `uri` is such an address: asking for it is no use of the session.
pub(crate) fn is_at(uri: &Uri) -> bool {
    let last = uri.path().rsplit('/').next().unwrap_or_default();
    last.split('.').next() == Some(WORD)
}

/// Leads to the session itself, with the parameter that says the same.
pub(crate) fn answer(direct: DirectRequest<'_>) -> Result<Response> {
    let DirectRequest { app, context, path } = direct;
    let name = path
        .segments
        .first()
        .map(String::as_str)
        .unwrap_or_default();
    let target = DirectPath::new("session", [name]);
    let caller = &context.origin.caller;
    app.dispatcher.admit(&target, Verb::Get, caller)?;
    let base = &context.base_url;
    let format = path.format.as_deref().unwrap_or("json");
    let place = format!(
        "{base}/direct/session/{}.{format}?auto=true",
        encode_segment(name)
    );
    Ok((StatusCode::FOUND, [(LOCATION, place)]).into_response())
}

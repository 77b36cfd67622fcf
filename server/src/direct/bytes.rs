//! Bytes that an action answers: as they are, in no format, as a file.

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::Response;
use entity_core::{Bytes, Error, Reply, Result};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::negotiate;
use super::respond::{self, Asked};
use super::validators::Validators;

/// What bytes are that are of no known type.
const UNKNOWN: HeaderValue = HeaderValue::from_static("application/octet-stream");

/// Answers `bytes`, or the news that the client already has them.
///
/// # Errors
/// The address names a format, or the client does not accept their type.
pub(super) fn respond(bytes: &Bytes, reply: &Reply, asked: &Asked<'_>) -> Result<Response> {
    if asked.is_named || !negotiate::accepts(asked.headers, &bytes.media_type) {
        return Err(Error::not_acceptable(&[&bytes.media_type]));
    }
    let validators = Validators::of_bytes(&bytes.bytes);
    if let Some(response) = validators.not_modified(&reply.effect, asked.headers)? {
        return Ok(response);
    }
    let mut response = Response::new(Body::from(bytes.bytes.clone()));
    *response.status_mut() = respond::status(&reply.effect, true);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, media_type(bytes));
    // Whatever they are, they are not shown as a page of this service.
    respond::set(headers, CONTENT_DISPOSITION, Some(&disposition(bytes)));
    validators.tell(headers);
    Ok(response)
}

fn media_type(bytes: &Bytes) -> HeaderValue {
    let value = HeaderValue::from_str(&bytes.media_type).ok();
    value
        .filter(|_| is_media_type(&bytes.media_type))
        .unwrap_or(UNKNOWN)
}

/// Whether it is two names with a slash between them, in the characters that names of media types have.
fn is_media_type(text: &str) -> bool {
    let is_in_names = |it: u8| it.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&it);
    let is_name = |it: &str| !it.is_empty() && it.bytes().all(is_in_names);
    text.split_once('/')
        .is_some_and(|(kind, own)| is_name(kind) && is_name(own))
}

fn disposition(bytes: &Bytes) -> String {
    match &bytes.name {
        Some(name) => {
            let name = utf8_percent_encode(name, NON_ALPHANUMERIC);
            format!("attachment; filename*=UTF-8''{name}")
        }
        None => "attachment".to_owned(),
    }
}

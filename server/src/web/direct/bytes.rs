//! Bytes that an action answers: as they are, in no format, as a file.

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::Response;
use entity_core::reply::{Bytes, Reply};
use entity_core::{Error, Result};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::respond::{self, ResponseOptions};
use super::validators::Validators;
use crate::base::error;

/// The media type of bytes of no known type.
const UNKNOWN: HeaderValue = HeaderValue::from_static("application/octet-stream");

/// Answers `bytes`, or the news that the client already has them.
///
/// # Errors
/// The address names a format, or the client does not accept their type.
pub(super) fn respond(
    bytes: &Bytes,
    reply: &Reply,
    options: &ResponseOptions<'_>,
) -> Result<Response> {
    if options.is_named || !options.accept.allows(&bytes.media_type) {
        return Err(Error::not_acceptable(&[&bytes.media_type]));
    }
    let validators = Validators::of_bytes(&bytes.bytes);
    if let Some(response) = validators.not_modified(&reply.effect, options.headers)? {
        return Ok(response);
    }
    let mut response = Response::new(Body::from(bytes.bytes.clone()));
    *response.status_mut() = error::done(&reply.effect, true);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, media_type(bytes));
    // Whatever they are, they are not shown as a page of this service.
    respond::set(
        headers,
        CONTENT_DISPOSITION,
        Some(&disposition("attachment", bytes.name.as_deref())),
    );
    validators.tell(headers);
    Ok(response)
}

/// Returns the media type of `bytes` as a header, or that of what is of no known type.
pub(super) fn media_type(bytes: &Bytes) -> HeaderValue {
    let value = HeaderValue::from_str(&bytes.media_type).ok();
    value
        .filter(|_| is_media_type(&bytes.media_type))
        .unwrap_or(UNKNOWN)
}

/// Returns whether it is two names with a slash between them, in the characters that names of media types have.
pub(super) fn is_media_type(text: &str) -> bool {
    let is_in_names = |it: u8| it.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&it);
    let is_name = |it: &str| !it.is_empty() && it.bytes().all(is_in_names);
    text.split_once('/')
        .is_some_and(|(kind, own)| is_name(kind) && is_name(own))
}

/// Returns the `Content-Disposition` of a file of this name, of the kind `inline` or `attachment`. A client that does
/// not know the form for other letters gets the name with `_` in their places.
pub(super) fn disposition(kind: &str, name: Option<&str>) -> String {
    let Some(name) = name else {
        return kind.to_owned();
    };
    let plain = |it: char| it.is_ascii_alphanumeric() || " -_.()".contains(it);
    let simple: String = name
        .chars()
        .map(|it| if plain(it) { it } else { '_' })
        .collect();
    if simple == name {
        return format!("{kind}; filename=\"{simple}\"");
    }
    let exact = utf8_percent_encode(name, NON_ALPHANUMERIC);
    format!("{kind}; filename=\"{simple}\"; filename*=UTF-8''{exact}")
}

//! Answers that nothing may store: how they say so, and how that is read again.

use axum::http::header::CACHE_CONTROL;
use axum::http::{HeaderMap, HeaderValue};

/// The value of `Cache-Control` by which an answer says so.
const VALUE: &str = "no-store";

/// Adds to the headers of an answer that nothing may store it.
pub(crate) fn demand(headers: &mut HeaderMap) {
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(VALUE));
}

/// Returns whether an answer with these headers must not be stored.
pub(crate) fn is_demanded(headers: &HeaderMap) -> bool {
    let value = headers.get(CACHE_CONTROL);
    value.is_some_and(|it| is_said(CACHE_CONTROL.as_str(), it.as_bytes()))
}

/// Returns whether the header `name`, in lower case, with this `value` says that nothing may store the answer.
pub(crate) fn is_said(name: &str, value: &[u8]) -> bool {
    name == CACHE_CONTROL.as_str() && value.starts_with(VALUE.as_bytes())
}

/// The answer carries a secret of its reader.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Secret;

//! Refuses unsafe requests that another site made a browser send.
//!
//! The decision is a pure function of a few headers: [`decide`]. Browsers say by `Sec-Fetch-Site` where a
//! request comes from; older ones by `Origin` or `Referer`; a script that is no browser says nothing and has
//! no cookies that anybody else could make it send.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use entity_core::{Error, ErrorKind};
use http::header::{ORIGIN, REFERER};
use http::{HeaderMap, HeaderName, Method, Uri};
use subtle::ConstantTimeEq as _;

/// The header that carries the session's token.
pub const TOKEN_HEADER: HeaderName = HeaderName::from_static("x-csrf-token");
/// The form field that carries the session's token.
pub const TOKEN_FIELD: &str = "sakai_csrf_token";

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What an unsafe request must show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CsrfMode {
    /// That it does not come from another site.
    #[default]
    FetchMetadata,
    /// That, and the token of its session.
    Token,
}

/// What the decision depends on besides the request.
#[derive(Clone, Debug, Default)]
pub struct CsrfOptions {
    mode: CsrfMode,
    origins: Vec<String>,
}

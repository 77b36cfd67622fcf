//! CORS: pages of the listed origins may read answers with credentials; pages of every origin may read without: answers
//! to strangers, descriptions, and private feeds, whose address is the secret.

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
    ACCESS_CONTROL_REQUEST_METHOD, ALLOW, ORIGIN,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::Response;

use crate::base::config::{Config, WebOrigin};
use crate::base::mount;

pub(crate) const RESOURCE_POLICY: HeaderName =
    HeaderName::from_static("cross-origin-resource-policy");

/// The headers that a page may send.
const SENT: HeaderValue = HeaderValue::from_static(
    "Accept, Authorization, Content-Type, Idempotency-Key, If-Match, If-Modified-Since, If-None-Match, \
     If-Unmodified-Since, Prefer, X-CSRF-Token",
);
/// The headers of an answer that a page may read.
const TOLD: HeaderValue = HeaderValue::from_static(
    "Allow, ETag, EntityId, EntityReference, Idempotency-Replayed, Link, Location, Preference-Applied, Retry-After, X-Entity-Format, \
     X-Entity-Prefix, X-Entity-Reference, X-Entity-URL, X-Left-Out, X-Request-Id, X-Sakai-Session, X-Total-Count",
);
/// The time for which a browser need not ask again, in seconds.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");

/// Marks an answer that a stranger got.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToStranger;

/// The origins whose pages may read the answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CorsPolicy {
    /// Pages of our own origin.
    Ours,
    /// Pages of every origin, if a stranger got it.
    Everybody,
    /// Pages of every origin that know the address.
    Holders,
    /// Pages of this origin, which is listed; whether the browser asks before it sends the request itself.
    Listed(HeaderValue, bool),
}

impl CorsPolicy {
    /// Returns the origins whose pages may read the answer to the request with this head.
    pub(crate) fn of(parts: &Parts, config: &Config) -> Self {
        if let Some(origin) = listed(&parts.headers, &config.cors_origins) {
            let asks = parts.method == Method::OPTIONS
                && parts.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
            return Self::Listed(origin, asks);
        }
        match parts.method {
            Method::GET | Method::HEAD if is_feed(parts.uri.path()) => Self::Holders,
            Method::GET | Method::HEAD => Self::Everybody,
            _ => Self::Ours,
        }
    }

    /// Tells the browser so.
    pub(crate) fn tell(self, response: &mut Response) {
        let is_public =
            self == Self::Holders || response.extensions().get::<ToStranger>().is_some();
        let is_good =
            response.status().is_success() || response.status() == StatusCode::NOT_MODIFIED;
        let headers = response.headers_mut();
        match self {
            Self::Everybody | Self::Holders if is_public && is_good => {
                headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
                headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, TOLD);
            }
            Self::Ours | Self::Everybody | Self::Holders => return,
            Self::Listed(origin, asks) => {
                headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
                let yes = HeaderValue::from_static("true");
                headers.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, yes);
                headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, TOLD);
                if let Some(methods) = headers.get(ALLOW).filter(|_| asks).cloned() {
                    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
                    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, SENT);
                    headers.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
                }
            }
        }
        headers.insert(RESOURCE_POLICY, HeaderValue::from_static("cross-origin"));
    }
}

/// The origin that the request names, if it names one and that is listed, letter by letter.
fn listed(headers: &HeaderMap, origins: &[WebOrigin]) -> Option<HeaderValue> {
    let mut named = headers.get_all(ORIGIN).iter();
    let (origin, None) = (named.next()?, named.next()) else {
        return None;
    };
    origins
        .iter()
        .any(|it| it.as_str().as_bytes() == origin.as_bytes())
        .then(|| origin.clone())
}

/// Returns whether a private feed is at `path`.
fn is_feed(path: &str) -> bool {
    path.strip_prefix(mount::FEEDS)
        .is_some_and(|it| it.starts_with('/'))
}

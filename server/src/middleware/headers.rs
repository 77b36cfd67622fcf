//! Headers that every answer carries, errors included.

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY,
    STRICT_TRANSPORT_SECURITY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;

const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");
/// Pages run no script at all and load nothing but our stylesheet and pictures over TLS.
const POLICY_OF_PAGES: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; img-src 'self' https:; form-action 'self'; base-uri 'none'; \
     frame-ancestors 'none'",
);
/// Data is not to be shown as a page, whatever it contains.
const POLICY_OF_DATA: HeaderValue =
    HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'; sandbox");

/// Adds them to `response`, which leaves over TLS if `is_secure`.
pub fn add(response: &mut Response, is_secure: bool) {
    let is_page = response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|it| it.to_str().ok())
        .is_some_and(|it| it.starts_with("text/html"));
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(RESOURCE_POLICY, SAME_ORIGIN);
    headers.insert(
        CONTENT_SECURITY_POLICY,
        if is_page {
            POLICY_OF_PAGES
        } else {
            POLICY_OF_DATA
        },
    );
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("private, no-cache"));
    headers.entry(VARY).or_insert(HeaderValue::from_static(
        "Accept, Cookie, Origin, Sec-Fetch-Site",
    ));
    if is_page {
        headers.insert(OPENER_POLICY, SAME_ORIGIN);
    }
    if is_secure {
        headers.insert(
            STRICT_TRANSPORT_SECURITY,
            HeaderValue::from_static("max-age=31536000; includeSubDomains"),
        );
    }
}

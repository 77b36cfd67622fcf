//! Headers that every answer carries, errors included.

use axum::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY,
    SET_COOKIE, STRICT_TRANSPORT_SECURITY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use entity_formats::SCRIPT_PATH;

use super::cors::RESOURCE_POLICY;

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");
/// Pages load nothing but our stylesheet and pictures over TLS.
const POLICY_OF_PAGES: &str = "default-src 'none'; style-src 'self'; img-src 'self' https:; form-action 'self'; \
    base-uri 'none'; frame-ancestors 'none'";
/// Data is not to be shown as a page, whatever it contains.
const POLICY_OF_DATA: HeaderValue =
    HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'; sandbox");

/// A file that a browser shows by itself may load itself and its own styles, and nothing else.
const POLICY_OF_FILES: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox",
);
/// Browsers show a PDF by a program of their own, which does not start in a sandbox.
const POLICY_OF_DOCUMENTS: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'",
);

/// The answer is a file that browsers show.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// True if it is a document that a browser shows by a program of its own.
    pub is_document: bool,
}

/// The headers of a request that every answer depends on.
const VARIES: &str = "Accept, Cookie, Origin, Sec-Fetch-Site";

/// Returns the policy of the pages of the service at `base_url`: they run the one script that is ours, named by its whole
/// address, because files that people upload are at the same origin. It speaks with nobody but the service.
fn policy_of_pages(base_url: &str) -> HeaderValue {
    let policy =
        format!("{POLICY_OF_PAGES}; script-src {base_url}{SCRIPT_PATH}; connect-src 'self'");
    // What a client calls this machine must not become a rule of its own.
    let policy = Some(policy).filter(|_| !base_url.contains([';', ',', ' ']));
    let policy = policy.and_then(|it| HeaderValue::try_from(it).ok());
    policy.unwrap_or(HeaderValue::from_static(POLICY_OF_PAGES))
}

/// Adds them to `response` of the service at `base_url`, which leaves over TLS if `is_secure`.
pub fn add(response: &mut Response, base_url: &str, is_secure: bool) {
    // A browser puts the headers of this answer in the place of those of the page that it has kept.
    let is_unchanged = response.status() == StatusCode::NOT_MODIFIED;
    let shown = response.extensions().get::<Shown>().copied();
    let headers = response.headers_mut();
    let is_html = headers
        .get(CONTENT_TYPE)
        .and_then(|it| it.to_str().ok())
        .is_some_and(|it| it.starts_with("text/html"));
    // A file that somebody wrote is none of our pages, even if it would like to be one.
    let is_page = is_html && !headers.contains_key(CONTENT_DISPOSITION);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(RESOURCE_POLICY, SAME_ORIGIN);
    if !is_unchanged {
        headers.insert(
            CONTENT_SECURITY_POLICY,
            match shown {
                Some(Shown { is_document: true }) => POLICY_OF_DOCUMENTS,
                Some(_) => POLICY_OF_FILES,
                None if is_page => policy_of_pages(base_url),
                None => POLICY_OF_DATA,
            },
        );
    }
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("private, no-cache"));
    let varies = vary(headers);
    headers.insert(VARY, varies);
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

/// The maximum number of lines of a head. The date and up to three lines of the connection come on top, so that there
/// are no more than 40: clients and proxies refuse answers with many.
const MOST_LINES: usize = 36;
/// Longest list that lines of one name are joined to, in bytes.
const LONGEST_LIST: usize = 4096;

/// Joins the lines of one name to a list where `response` has too many lines: that says the same. A list that is too
/// long is left out; those that may become so name what the body tells too.
pub fn bound(response: &mut Response) {
    let headers = response.headers_mut();
    if headers.len() <= MOST_LINES {
        return;
    }
    let names: Vec<_> = headers.keys().cloned().collect();
    // Cookies are no list.
    for name in names.into_iter().filter(|it| *it != SET_COOKIE) {
        let lines = headers.get_all(&name).iter().map(HeaderValue::as_bytes);
        let lines: Vec<_> = lines.collect();
        if lines.len() < 2 {
            continue;
        }
        let list = lines.join(b", ".as_slice());
        match HeaderValue::from_bytes(&list) {
            Ok(joined) if list.len() <= LONGEST_LIST => drop(headers.insert(name, joined)),
            _ => drop(headers.remove(&name)),
        }
    }
}

/// Returns the `Vary` of an answer with these headers: that of every answer, and the headers that its handler named.
fn vary(headers: &HeaderMap) -> HeaderValue {
    let always = HeaderValue::from_static(VARIES);
    if !headers.contains_key(VARY) {
        return always;
    }
    let mut names: Vec<&str> = VARIES.split(", ").collect();
    let lines = headers
        .get_all(VARY)
        .iter()
        .filter_map(|it| it.to_str().ok());
    for name in lines.flat_map(|it| it.split(',')).map(str::trim) {
        match name {
            "*" => return HeaderValue::from_static("*"),
            "" => {}
            name if names.iter().any(|it| it.eq_ignore_ascii_case(name)) => {}
            name => names.push(name),
        }
    }
    HeaderValue::from_str(&names.join(", ")).unwrap_or(always)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn out_9_what_a_handler_varies_by_is_added_to_what_all_vary_by() {
        for (lines, expected) in [
            (
                &["Prefer"][..],
                "Accept, Cookie, Origin, Sec-Fetch-Site, Prefer",
            ),
            (&[], "Accept, Cookie, Origin, Sec-Fetch-Site"),
            (
                &["accept, COOKIE"],
                "Accept, Cookie, Origin, Sec-Fetch-Site",
            ),
            (
                &["Prefer,Accept-Language", "prefer", " , "],
                "Accept, Cookie, Origin, Sec-Fetch-Site, Prefer, Accept-Language",
            ),
            (&["Prefer", "*"], "*"),
        ] {
            let mut response = Response::new(axum::body::Body::empty());
            for line in lines {
                response
                    .headers_mut()
                    .append(VARY, HeaderValue::from_static(line));
            }
            add(&mut response, "http://127.0.0.1:8080", false);
            let told: Vec<_> = response.headers().get_all(VARY).iter().collect();
            assert_eq!(told, [expected], "{lines:?}");
        }
    }
}

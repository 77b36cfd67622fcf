//! Tells unsafe requests that another site made a browser send from those of our own pages.
//!
//! The decision is a pure function of a few headers: [`decide`]. Browsers say by `Sec-Fetch-Site` where a
//! request comes from; older ones by `Origin` or `Referer`; a script that is no browser says nothing and has
//! no cookies that anybody else could make it send.

use entity_core::{Error, ErrorKind};
use http::header::{ORIGIN, REFERER};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use subtle::ConstantTimeEq as _;

use crate::base::config::{CsrfMode, CsrfSettings, WebOrigin};
use crate::base::media;

/// The header that carries the session's token.
pub const TOKEN_HEADER: HeaderName = HeaderName::from_static("x-csrf-token");
/// The form field that carries the session's token.
pub const TOKEN_FIELD: &str = "sakai_csrf_token";

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The settings on which the decision depends.
#[derive(Clone, Debug)]
pub struct CsrfOptions {
    mode: CsrfMode,
    own: String,
    trusted: Vec<String>,
}

/// The word on a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on.
    Pass,
    /// Another site sent it.
    Foreign,
    /// It goes on if its form holds the token of its session.
    IfFormHoldsToken,
    /// It goes on if its form, which brings files, holds the token of its session before the first of them.
    IfUploadHoldsToken,
    /// It lacks the token of its session, or has a wrong one.
    WithoutToken,
}

impl CsrfOptions {
    /// Requests from pages of `base_url` pass, and from those of the origins that `settings` list.
    pub fn new(settings: &CsrfSettings, base_url: &str) -> Self {
        let trusted = settings.trusted_origins.iter().map(WebOrigin::as_str);
        let origin = |url| origin_of(url).unwrap_or_default();
        Self {
            mode: settings.mode,
            own: origin(base_url),
            trusted: trusted.map(origin).collect(),
        }
    }
}

/// Returns whether a request with these headers, which belongs to a session with `token` if there is one, may go on.
pub fn decide(
    options: &CsrfOptions,
    method: &Method,
    headers: &HeaderMap,
    token: Option<&str>,
) -> Verdict {
    if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
        return Verdict::Pass;
    }
    let comes_from_us = comes_from_us(options, headers);
    if !comes_from_us && !comes_from_friends(options, headers) {
        return Verdict::Foreign;
    }
    // A page elsewhere proves by the token that it may read what is here.
    let mode = match comes_from_us {
        true => options.mode,
        false => CsrfMode::Token,
    };
    match (mode, token) {
        (CsrfMode::FetchMetadata, _) | (CsrfMode::Token, None) => Verdict::Pass,
        (CsrfMode::Token, Some(token)) => match headers.get(TOKEN_HEADER) {
            Some(sent) if is_same(sent.as_bytes(), token) => Verdict::Pass,
            None if media::is_form(headers) => Verdict::IfFormHoldsToken,
            None if media::boundary(headers).is_some() => Verdict::IfUploadHoldsToken,
            _ => Verdict::WithoutToken,
        },
    }
}

/// The newest header that is there decides; several values of one header must all be good.
fn comes_from_us(options: &CsrfOptions, headers: &HeaderMap) -> bool {
    let is_ours = |it: &HeaderValue| {
        it.to_str()
            .ok()
            .and_then(origin_of)
            .is_some_and(|it| it == options.own || options.trusted.contains(&it))
    };
    let is_near = |it: &HeaderValue| matches!(it.as_bytes(), b"same-origin" | b"none");
    all(headers, &SEC_FETCH_SITE, is_near)
        .or_else(|| all(headers, &ORIGIN, is_ours))
        .or_else(|| all(headers, &REFERER, is_ours))
        .unwrap_or(true)
}

/// Returns whether a browser sent the request from a page of one of the listed origins, which is another site for it.
fn comes_from_friends(options: &CsrfOptions, headers: &HeaderMap) -> bool {
    let is_listed = |it: &HeaderValue| {
        let origin = it.to_str().ok().and_then(origin_of);
        origin.is_some_and(|it| options.trusted.contains(&it))
    };
    let is_elsewhere = |it: &HeaderValue| matches!(it.as_bytes(), b"same-site" | b"cross-site");
    all(headers, &SEC_FETCH_SITE, is_elsewhere) == Some(true)
        && all(headers, &ORIGIN, is_listed) == Some(true)
}

/// Returns whether all values of `name` are good; `None` if there are none.
fn all(
    headers: &HeaderMap,
    name: &HeaderName,
    is_good: impl FnMut(&HeaderValue) -> bool,
) -> Option<bool> {
    headers
        .contains_key(name)
        .then(|| headers.get_all(name).iter().all(is_good))
}

/// `scheme://host[:port]` of a URL, in small letters and without the scheme's own port.
fn origin_of(url: &str) -> Option<String> {
    let uri: Uri = url.parse().ok()?;
    let (scheme, authority) = (uri.scheme_str()?, uri.authority()?);
    if authority.as_str().contains('@') {
        return None;
    }
    let host = authority.host().to_ascii_lowercase();
    match (scheme, authority.port_u16()) {
        ("http", None | Some(80)) | ("https", None | Some(443)) => {
            Some(format!("{scheme}://{host}"))
        }
        ("http" | "https", Some(port)) => Some(format!("{scheme}://{host}:{port}")),
        _ => None,
    }
}

/// Compares in a time that tells nothing about where the difference is.
pub(crate) fn is_same(sent: impl AsRef<[u8]>, token: &str) -> bool {
    sent.as_ref().ct_eq(token.as_bytes()).into()
}

pub(crate) fn form_holds(body: &[u8], token: &str) -> bool {
    let mut values = entity_formats::parse_pairs(body)
        .into_iter()
        .flatten()
        .filter(|(name, _)| name == TOKEN_FIELD);
    matches!((values.next(), values.next()), (Some((_, sent)), None) if is_same(sent.as_bytes(), token))
}

pub(crate) fn foreign() -> Error {
    Error::new(
        ErrorKind::Forbidden,
        "the request comes from another site: send it from a page of this service",
    )
}

pub(crate) fn without_token() -> Error {
    Error::new(
        ErrorKind::Forbidden,
        "the request must carry the csrf token of its session: send it as `X-CSRF-Token`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::config::Value;

    const OURS: &str = "https://lms.example.org";
    const TOKEN: &str = "the-token";

    fn options(mode: CsrfMode) -> CsrfOptions {
        let trusted = Value::parse("https://portal.example.org").unwrap();
        let settings = CsrfSettings {
            mode,
            trusted_origins: vec![trusted],
        };
        CsrfOptions::new(&settings, OURS)
    }

    /// The decision of another program about one row: written as the rule reads, not as the code does.
    fn oracle(
        method: &str,
        site: Option<&str>,
        origin: Option<&str>,
        referer: Option<&str>,
    ) -> bool {
        if method == "GET" || method == "HEAD" || method == "OPTIONS" {
            return true;
        }
        if let Some(site) = site {
            return site == "same-origin" || site == "none";
        }
        if let Some(origin) = origin {
            return origin.eq_ignore_ascii_case(OURS)
                || origin == "https://lms.example.org:443"
                || origin == "https://portal.example.org";
        }
        match referer {
            Some(referer) => referer.starts_with("https://lms.example.org/"),
            None => true,
        }
    }

    #[test]
    fn csrf_1_every_combination_is_decided_as_the_rule_says() {
        let sites = [
            None,
            Some("same-origin"),
            Some("none"),
            Some("same-site"),
            Some("cross-site"),
            Some("nonsense"),
        ];
        let origins = [
            None,
            Some(OURS),
            Some("HTTPS://LMS.example.org"),
            Some("https://lms.example.org:443"),
            Some("https://portal.example.org"),
            Some("null"),
            Some("http://lms.example.org"),
            Some("https://lms.example.org.evil.example"),
            Some("https://lms.example.org@evil.example"),
        ];
        let referers = [
            None,
            Some("https://lms.example.org/portal?x=1"),
            Some("https://evil.example/https://lms.example.org/"),
            Some("about:blank"),
        ];
        let methods = [
            "GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "PURGE",
        ];
        let mut rows = 0;
        for (method, site) in methods
            .iter()
            .flat_map(|m| sites.iter().map(move |s| (m, s)))
        {
            for (origin, referer) in origins
                .iter()
                .flat_map(|o| referers.iter().map(move |r| (o, r)))
            {
                let mut headers = HeaderMap::new();
                for (name, value) in [(SEC_FETCH_SITE, site), (ORIGIN, origin), (REFERER, referer)]
                {
                    if let Some(value) = value {
                        headers.insert(name, HeaderValue::from_static(value));
                    }
                }
                let is_good = oracle(method, *site, *origin, *referer);
                let is_elsewhere = matches!(site, Some("same-site" | "cross-site"));
                let is_listed = *origin == Some("https://portal.example.org");
                let is_friend = is_elsewhere && is_listed && !is_good;
                let decide = |mode, token| {
                    let method = Method::from_bytes(method.as_bytes()).unwrap();
                    super::decide(&options(mode), &method, &headers, token)
                };
                let row = format!("{method} {site:?} {origin:?} {referer:?}");
                if is_friend {
                    for mode in [CsrfMode::FetchMetadata, CsrfMode::Token] {
                        assert_eq!(decide(mode, Some(TOKEN)), Verdict::WithoutToken, "{row}");
                        assert_eq!(decide(mode, None), Verdict::Pass, "{row}");
                    }
                    rows += 1;
                    continue;
                }
                let plain = if is_good {
                    Verdict::Pass
                } else {
                    Verdict::Foreign
                };
                assert_eq!(decide(CsrfMode::FetchMetadata, Some(TOKEN)), plain, "{row}");
                assert_eq!(decide(CsrfMode::Token, None), plain, "{row}");
                let is_safe = ["GET", "HEAD", "OPTIONS"].contains(method);
                let with_token = match plain {
                    Verdict::Pass if !is_safe => Verdict::WithoutToken,
                    other => other,
                };
                assert_eq!(decide(CsrfMode::Token, Some(TOKEN)), with_token, "{row}");
                rows += 1;
            }
        }
        assert_eq!(rows, 8 * 6 * 9 * 4);
    }

    #[test]
    fn csrf_2_the_token_is_that_of_the_session() {
        let form = "application/x-www-form-urlencoded; charset=utf-8";
        for (sent, content_type, expected) in [
            (Some(TOKEN), "application/json", Verdict::Pass),
            (Some("another"), "application/json", Verdict::WithoutToken),
            (Some(""), form, Verdict::WithoutToken),
            (None, "application/json", Verdict::WithoutToken),
            (None, form, Verdict::IfFormHoldsToken),
        ] {
            let mut headers = HeaderMap::new();
            let value = HeaderValue::from_static(content_type);
            headers.insert(http::header::CONTENT_TYPE, value);
            if let Some(sent) = sent {
                headers.insert(TOKEN_HEADER, HeaderValue::from_static(sent));
            }
            let verdict = decide(
                &options(CsrfMode::Token),
                &Method::POST,
                &headers,
                Some(TOKEN),
            );
            assert_eq!(verdict, expected, "{sent:?} {content_type}");
        }
    }

    #[test]
    fn a_form_holds_the_token_once() {
        for (body, expected) in [
            ("a=b&sakai_csrf_token=the-token", true),
            ("sakai_csrf_token=the%2Dtoken", true),
            ("sakai_csrf_token=the-token&sakai_csrf_token=x", false),
            ("sakai_csrf_token=the-toke", false),
            ("a=sakai_csrf_token=the-token", false),
            ("", false),
        ] {
            assert_eq!(form_holds(body.as_bytes(), TOKEN), expected, "{body}");
        }
    }

    #[test]
    fn several_values_of_a_header_must_all_be_good() {
        let mut headers = HeaderMap::new();
        headers.append(SEC_FETCH_SITE, HeaderValue::from_static("same-origin"));
        headers.append(SEC_FETCH_SITE, HeaderValue::from_static("cross-site"));
        let verdict = decide(
            &options(CsrfMode::FetchMetadata),
            &Method::POST,
            &headers,
            None,
        );
        assert_eq!(verdict, Verdict::Foreign);
    }
}

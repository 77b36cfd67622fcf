//! Addresses as they are written where a URI stands: in headers, in feeds and in calendars.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// The characters that no part of a URI may have but percent-encoded: RFC 3986, section 2.
const FORBIDDEN: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');
/// The characters that a path, a query or a fragment may not have: brackets are for addresses of hosts, and a fragment
/// begins once.
const FORBIDDEN_IN_PARTS: &AsciiSet = &FORBIDDEN.add(b'#').add(b'[').add(b']');

/// Returns an absolute address, which people may have typed, as a URI of RFC 3986: what a URI may not have is
/// percent-encoded, and what is percent-encoded already stays so.
///
/// ```
/// let uri = entity_core::primitives::to_uri("HTTPS://example.org/{x}|y%20z");
/// assert_eq!(uri, "https://example.org/%7Bx%7D%7Cy%20z");
/// ```
pub fn to_uri(url: &str) -> String {
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) => (format!("{}://", scheme.to_ascii_lowercase()), rest),
        None => (String::new(), url),
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, rest) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let host = match host.starts_with('[') || host.contains("@[") {
        true => escaped(host, FORBIDDEN),
        false => to_uri_part(host),
    };
    match rest.split_once('#') {
        Some((rest, fragment)) => {
            let (rest, fragment) = (to_uri_part(rest), to_uri_part(fragment));
            format!("{scheme}{host}{rest}#{fragment}")
        }
        None => format!("{scheme}{host}{}", to_uri_part(rest)),
    }
}

/// Returns a part of an address, such as a path or a pair of a query, as [`to_uri`] does.
pub fn to_uri_part(part: &str) -> String {
    escaped(part, FORBIDDEN_IN_PARTS)
}

fn escaped(text: &str, forbidden: &'static AsciiSet) -> String {
    let is_code = |it: &str| {
        let code = it.get(..2);
        code.is_some_and(|it| it.bytes().all(|it| it.is_ascii_hexdigit()))
    };
    let mut escaped = String::with_capacity(text.len());
    for (index, piece) in text.split('%').enumerate() {
        match index {
            0 => {}
            _ if is_code(piece) => escaped.push('%'),
            _ => escaped.push_str("%25"),
        }
        escaped.extend(utf8_percent_encode(piece, forbidden));
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x13_an_address_that_was_typed_becomes_a_uri_once() {
        for (url, uri) in [
            ("https://a.example/{x}|y", "https://a.example/%7Bx%7D%7Cy"),
            ("HTTPS://a.example/B", "https://a.example/B"),
            (
                "https://a.example/%7Bx%7d%20",
                "https://a.example/%7Bx%7d%20",
            ),
            ("https://a.example/100%", "https://a.example/100%25"),
            (
                "https://a.example/%zz%\u{fc}",
                "https://a.example/%25zz%25%C3%BC",
            ),
            (
                "https://a.example/a[1]?b[]=^#c#d",
                "https://a.example/a%5B1%5D?b%5B%5D=%5E#c%23d",
            ),
            ("https://[2001:db8::1]:8/a", "https://[2001:db8::1]:8/a"),
            (
                "https://m\u{fc}nchen.example",
                "https://m%C3%BCnchen.example",
            ),
            (
                "https://a.example/~a;b=c,d!$&'()*+:@/?x=1/2?3",
                "https://a.example/~a;b=c,d!$&'()*+:@/?x=1/2?3",
            ),
        ] {
            assert_eq!(to_uri(url), uri, "{url}");
            assert_eq!(to_uri(uri), uri, "twice");
        }
    }
}

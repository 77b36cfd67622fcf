//! The media type of the body of a request: decided here, for all callers.

use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue};
use entity_core::{Error, ErrorKind, Result};
use percent_encoding::percent_decode_str;

pub(crate) use entity_formats::FORM;

/// JSON.
pub(crate) const JSON: &str = "application/json";

/// Returns whether the body is that of an HTML form, in whatever charset it claims to be.
pub(crate) fn is_form(headers: &HeaderMap) -> bool {
    named(headers).is_some_and(|it| it.eq_ignore_ascii_case(FORM))
}

/// The text that separates the parts of a form with files, if the body is one.
pub(crate) fn boundary(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    multer::parse_boundary(text).ok()
}

/// The name of a file in a header `Content-Disposition`: that in any letters, or else the plain one.
pub(crate) fn file_name(value: &HeaderValue) -> Option<String> {
    let text = std::str::from_utf8(value.as_bytes()).ok()?;
    let parameters = || text.split(';').skip(1).filter_map(|it| it.split_once('='));
    let find = |name: &str| {
        let found = parameters().find(|it| it.0.trim().eq_ignore_ascii_case(name));
        found.map(|it| it.1.trim())
    };
    let exact = find("filename*").and_then(|it| {
        let (charset, rest) = it.split_once('\'')?;
        let (_language, encoded) = rest.split_once('\'')?;
        let decoded = percent_decode_str(encoded).decode_utf8().ok()?;
        charset
            .eq_ignore_ascii_case("utf-8")
            .then(|| decoded.into_owned())
    });
    exact.or_else(|| find("filename").map(|it| it.trim_matches('"').to_owned()))
}

/// The media type of `body`, without its parameters, in lower case.
///
/// JSON and forms have no charset, whatever a client writes there: they are UTF-8. XML has one.
///
/// # Errors
/// The header is no media type, or says of XML with other characters than those of ASCII that it is not UTF-8.
pub(crate) fn essence(headers: &HeaderMap, body: &[u8]) -> Result<Option<String>> {
    let Some(value) = headers.get(CONTENT_TYPE) else {
        return Ok(None);
    };
    let text = value
        .to_str()
        .map_err(|error| unsupported().with_source(error))?;
    let essence = named(headers).map(|it| usual(&it.to_ascii_lowercase()));
    let is_xml = |it: &String| it.ends_with("/xml") || it.ends_with("+xml");
    let charset = text
        .split(';')
        .skip(1)
        .filter_map(|it| it.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))
        .map(|(_, value)| value.trim().trim_matches('"').to_ascii_lowercase());
    match charset {
        Some(it) if essence.as_ref().is_some_and(is_xml) => {
            match body.is_ascii() || UTF_8.contains(&it.as_str()) {
                true => Ok(essence),
                false => Err(unsupported()),
            }
        }
        _ => Ok(essence),
    }
}

/// The labels of UTF-8 by the Encoding Standard, as far as clients write them, and that of its part ASCII.
const UTF_8: [&str; 4] = ["utf-8", "utf8", "unicode-1-1-utf-8", "us-ascii"];

/// The usual name of the media type `name`.
fn usual(name: &str) -> String {
    match name {
        "text/json" => JSON.to_owned(),
        name => name.to_owned(),
    }
}

/// The answer to a body of a kind that is not read.
pub(crate) fn unsupported() -> Error {
    Error::new(
        ErrorKind::UnsupportedMediaType,
        "send the body as application/json, application/xml or application/x-www-form-urlencoded, in UTF-8",
    )
}

/// The media type as it was sent, without its parameters.
fn named(headers: &HeaderMap) -> Option<&str> {
    let text = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    text.split(';').next().map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x10_a_charset_that_changes_nothing_refuses_nothing() {
        for (content_type, body, is_taken) in [
            ("application/json; charset=utf8", "\u{e9}", true),
            (
                "application/merge-patch+json; charset=latin1",
                "\u{e9}",
                true,
            ),
            ("application/x-www-form-urlencoded; charset=utf8", "", true),
            ("application/xml; charset=UTF8", "\u{e9}", true),
            ("text/xml; charset=\"utf-8\"", "\u{e9}", true),
            ("application/xml; charset=iso-8859-1", "<a/>", true),
            ("application/xml; charset=iso-8859-1", "\u{e9}", false),
        ] {
            let value = HeaderValue::from_static(content_type);
            let headers = HeaderMap::from_iter([(CONTENT_TYPE, value)]);
            let found = essence(&headers, body.as_bytes());
            assert_eq!(found.is_ok(), is_taken, "{content_type}");
        }
    }

    #[test]
    fn a_form_is_one_by_its_whole_name_and_in_any_case() {
        for (content_type, is_a_form, expected) in [
            (None, false, Some(None)),
            (Some(FORM), true, Some(Some(FORM))),
            (
                Some("Application/X-WWW-Form-URLencoded ; charset=\"UTF-8\""),
                true,
                Some(Some(FORM)),
            ),
            (
                Some("application/x-www-form-urlencoded;charset=latin1"),
                true,
                Some(Some(FORM)),
            ),
            (
                Some("application/x-www-form-urlencodedness"),
                false,
                Some(Some("application/x-www-form-urlencodedness")),
            ),
            (
                Some("application/json; x=application/x-www-form-urlencoded"),
                false,
                Some(Some(JSON)),
            ),
            (Some("Text/JSON; charset=utf-8"), false, Some(Some(JSON))),
            (Some("caf\u{e9}"), false, None),
        ] {
            let headers: HeaderMap = content_type
                .map(|it| {
                    let value = HeaderValue::from_bytes(it.as_bytes());
                    (CONTENT_TYPE, value.expect("a value that can be sent"))
                })
                .into_iter()
                .collect();
            assert_eq!(is_form(&headers), is_a_form, "{content_type:?}");
            let found = essence(&headers, b"").ok();
            let found = found.as_ref().map(Option::as_deref);
            assert_eq!(found, expected, "{content_type:?}");
        }
    }
}

//! Entity tags: the version of what is answered, and the format it is answered in.
//!
//! The part before the dash is the version alone, so that a tag that came with one format guards a write
//! that is sent in another.

use axum::http::header::{IF_MATCH, IF_NONE_MATCH, IF_UNMODIFIED_SINCE};
use axum::http::{HeaderMap, HeaderName};
use entity_core::{Error, IfMatch, Result, Version};

/// The strong tag of `version` in the format `format`.
pub(crate) fn tag(version: Version, format: &str) -> String {
    format!("\"{version}-{format}\"")
}

/// Whether the client already has what `tag` names.
pub(crate) fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    list(headers, &IF_NONE_MATCH).any(|it| it == "*" || it.strip_prefix("W/").unwrap_or(it) == tag)
}

/// The versions in which the client wants to write: those that it names in the header, else the one that its
/// form was filled with.
///
/// # Errors
/// The header is not a list of tags.
pub(crate) fn if_match(headers: &HeaderMap, of_form: Option<&str>) -> Result<Option<IfMatch>> {
    match of_form {
        _ if headers.contains_key(IF_MATCH) => {}
        Some(text) => {
            return Ok(Some(IfMatch::Versions(Vec::from_iter(Version::parse(
                text,
            )))));
        }
        None => return Ok(unchanged_since(headers)),
    }
    if list(headers, &IF_MATCH).any(|it| it == "*") {
        return Ok(Some(IfMatch::Any));
    }
    let versions = list(headers, &IF_MATCH)
        .map(version)
        .collect::<Result<Vec<_>>>()?;
    Ok(Some(IfMatch::Versions(
        versions.into_iter().flatten().collect(),
    )))
}

/// The instant since which the client wants nothing to have changed. A date that is none counts as absent.
fn unchanged_since(headers: &HeaderMap) -> Option<IfMatch> {
    let text = headers.get(IF_UNMODIFIED_SINCE)?.to_str().ok()?;
    let since = httpdate::parse_http_date(text).ok()?;
    Some(IfMatch::UnchangedSince(since.into()))
}

/// The version in a tag. A tag that we never gave out names no version; a weak one never matches.
fn version(tag: &str) -> Result<Option<Version>> {
    if tag.starts_with("W/\"") {
        return Ok(None);
    }
    let inner = tag
        .strip_prefix('"')
        .and_then(|it| it.strip_suffix('"'))
        .ok_or_else(|| Error::bad_request("`If-Match` must be a list of quoted tags"))?;
    let hex = inner.split('-').next().unwrap_or_default();
    Ok(Version::parse(hex))
}

fn list<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    headers
        .get_all(name)
        .iter()
        .filter_map(|it| it.to_str().ok())
        .flat_map(|it| it.split(','))
        .map(str::trim)
        .filter(|it| !it.is_empty())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn headers(name: HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn a_tag_of_one_format_guards_a_write_in_another() {
        let tag = tag(Version(255), "xml");
        assert_eq!(tag, "\"00000000000000ff-xml\"");
        let sent = HeaderMap::from_iter([(IF_MATCH, HeaderValue::from_str(&tag).unwrap())]);
        assert!(
            if_match(&sent, None)
                .unwrap()
                .unwrap()
                .holds(Some(Version(255)), None)
        );
        assert!(
            !if_match(&sent, None)
                .unwrap()
                .unwrap()
                .holds(Some(Version(254)), None)
        );
        assert!(is_known(
            &headers(IF_NONE_MATCH, "\"x\", W/\"00000000000000ff-xml\""),
            &tag
        ));
        assert!(!is_known(
            &headers(IF_NONE_MATCH, "\"00000000000000ff-json\""),
            &tag
        ));
    }

    #[test]
    fn what_is_no_tag_is_refused_or_matches_nothing() {
        assert!(if_match(&HeaderMap::new(), None).unwrap().is_none());
        assert_eq!(
            if_match(&headers(IF_MATCH, "*"), None).unwrap(),
            Some(IfMatch::Any)
        );
        assert!(if_match(&headers(IF_MATCH, "abc"), None).is_err());
        for value in ["\"abc!\"", "W/\"00000000000000ff-xml\""] {
            assert!(
                !if_match(&headers(IF_MATCH, value), None)
                    .unwrap()
                    .unwrap()
                    .holds(Some(Version(255)), None),
                "{value}"
            );
        }
    }

    #[test]
    fn a_form_names_its_version_unless_the_header_does() {
        let version = Version(255).to_string();
        let of_form = |headers: &HeaderMap, text| if_match(headers, Some(text)).unwrap().unwrap();
        let plain = HeaderMap::new();
        assert!(of_form(&plain, &version).holds(Some(Version(255)), None));
        assert!(!of_form(&plain, &version).holds(Some(Version(254)), None));
        assert!(!of_form(&plain, "nonsense").holds(Some(Version(255)), None));
        let any = headers(IF_MATCH, "*");
        assert_eq!(of_form(&any, &version), IfMatch::Any);
        let dated = headers(IF_UNMODIFIED_SINCE, "Sat, 21 Nov 2026 10:00:00 GMT");
        assert!(of_form(&dated, &version).holds(Some(Version(255)), None));
    }
}

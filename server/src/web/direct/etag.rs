//! Entity tags, the version of what is answered and the format it is answered in, and the headers that name them.
//!
//! The part before the dash is the version alone, so that a tag that came with one format guards a write
//! that is sent in another.

use axum::http::header::{ETAG, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_UNMODIFIED_SINCE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use chrono::{DateTime, Utc};
use entity_core::engine::Versions;
use entity_core::format::Format;
use entity_core::{Error, IfMatch, Preconditions, Result, Version};

use crate::web::coding;

/// Stands for whatever there is.
const ANY: &str = "*";
/// The beginning of a weak tag.
const WEAK: &str = "W/";

/// The strong tag of `version` in the format `format`.
pub(crate) fn tag(version: Version, format: &str) -> String {
    format!("\"{version}-{format}\"")
}

/// Names the version that there is, where a write was refused because it is another one.
pub(super) fn name_version(headers: &mut HeaderMap, error: &Error, format: Format) {
    let tag = error.version().map(|it| tag(it, format.name));
    if let Some(Ok(tag)) = tag.map(HeaderValue::try_from) {
        headers.insert(ETAG, tag);
    }
}

/// The demands of the client on the state of what it reads, which is answered in the format `format`: a tag that
/// came with another format names another answer, and one of a compressed answer the same, if that may be sent again.
pub(crate) fn of_read(headers: &HeaderMap, format: &str) -> Result<Preconditions> {
    let is_same = |version: Version, it: &str| {
        tag(version, format) == it
            || (coding::takes_gzip(headers) && tag(version, &coding::coded(format)) == it)
    };
    let version = |it: &str| named(it).filter(|version| is_same(*version, it));
    preconditions(headers, version)
}

/// The demands of the client on the state of what it writes: in the headers or, without `If-Match`, in the form
/// that it filled in, which was filled with `of_form`.
pub(crate) fn of_write(headers: &HeaderMap, of_form: Option<&str>) -> Result<Preconditions> {
    let mut preconditions = preconditions(headers, named)?;
    if let Some(text) = of_form.filter(|_| !headers.contains_key(IF_MATCH)) {
        let version = Vec::from_iter(Version::parse(text));
        preconditions.if_match = Some(IfMatch::Versions(version));
    }
    Ok(preconditions)
}

/// The demands of the headers, where `version` is the version that a strong tag names.
///
/// Anything but a tag is refused where it guards a state, and matches nothing where it names the copy of a client.
fn preconditions(
    headers: &HeaderMap,
    version: impl Fn(&str) -> Option<Version>,
) -> Result<Preconditions> {
    let unchanged = date(headers, &IF_UNMODIFIED_SINCE).map(IfMatch::UnchangedSince);
    let if_match = match tags(headers, &IF_MATCH) {
        None => unchanged,
        Some(tags) if tags.contains(&ANY) => Some(IfMatch::Any),
        Some(tags) if !tags.iter().all(|it| is_tag(it)) => {
            let message = "`If-Match` must be a list of quoted tags";
            return Err(Error::bad_request(message));
        }
        // A weak tag promises too little to guard anything: it names no version.
        Some(tags) => {
            let versions = tags.into_iter().filter_map(&version);
            Some(IfMatch::Versions(versions.collect()))
        }
    };
    let if_none_match = tags(headers, &IF_NONE_MATCH).map(|tags| {
        if tags.contains(&ANY) {
            return Versions::Any;
        }
        let strong = tags
            .into_iter()
            .map(|it| it.strip_prefix(WEAK).unwrap_or(it));
        Versions::OneOf(strong.filter_map(&version).collect())
    });
    Ok(Preconditions {
        if_match,
        if_none_match,
        if_modified_since: date(headers, &IF_MODIFIED_SINCE),
    })
}

/// A date that is none counts as absent.
fn date(headers: &HeaderMap, name: &HeaderName) -> Option<DateTime<Utc>> {
    let text = headers.get(name)?.to_str().ok()?;
    httpdate::parse_http_date(text).ok().map(Into::into)
}

/// The version in a strong tag. A tag that we never gave out names none.
fn named(tag: &str) -> Option<Version> {
    let inner = tag.strip_prefix('"')?.strip_suffix('"')?;
    Version::parse(inner.split('-').next()?)
}

/// Returns whether it is a tag, strong or weak.
fn is_tag(text: &str) -> bool {
    let strong = text.strip_prefix(WEAK).unwrap_or(text);
    let inner = strong.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    inner.is_some()
}

/// The tags that a header lists, if there is one.
fn tags<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<Vec<&'a str>> {
    if !headers.contains_key(name) {
        return None;
    }
    let values = headers.get_all(name).iter();
    let texts = values.filter_map(|it| it.to_str().ok());
    let tags = texts.flat_map(|it| it.split(',')).map(str::trim);
    Some(tags.filter(|it| !it.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use entity_core::engine::{Freshness, State};

    use super::*;

    const PRESENT: State = State {
        version: Some(Version(255)),
        updated: None,
        is_of_now: false,
    };

    fn headers(name: HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
    }

    fn may_write(headers: &HeaderMap, of_form: Option<&str>) -> bool {
        of_write(headers, of_form)
            .unwrap()
            .judge_write(PRESENT)
            .is_ok()
    }

    #[test]
    fn a_tag_of_one_format_guards_a_write_in_another_and_names_no_other_answer() {
        let tag = tag(Version(255), "xml");
        assert_eq!(tag, "\"00000000000000ff-xml\"");
        assert!(may_write(&headers(IF_MATCH, &tag), None));
        assert!(!may_write(&headers(IF_NONE_MATCH, &tag), None));
        let other = super::tag(Version(254), "xml");
        assert!(!may_write(&headers(IF_MATCH, &other), None));
        assert!(may_write(&headers(IF_NONE_MATCH, &other), None));
        for (format, expected) in [("xml", Freshness::Fresh), ("json", Freshness::Stale)] {
            let known = headers(IF_NONE_MATCH, &format!("\"x\", W/{tag}"));
            let judged = of_read(&known, format).unwrap().judge_read(PRESENT);
            assert_eq!(judged.unwrap(), expected);
            let meant = of_read(&headers(IF_MATCH, &tag), format).unwrap();
            assert_eq!(meant.judge_read(PRESENT).is_ok(), format == "xml");
        }
    }

    #[test]
    fn what_is_no_tag_is_refused_or_matches_nothing() {
        assert_eq!(
            of_write(&HeaderMap::new(), None).unwrap(),
            Preconditions::default()
        );
        assert!(may_write(&headers(IF_MATCH, "*"), None));
        for value in ["abc", "\"", "\"a"] {
            assert!(
                of_write(&headers(IF_MATCH, value), None).is_err(),
                "{value}"
            );
            assert!(may_write(&headers(IF_NONE_MATCH, value), None), "{value}");
        }
        for value in ["\"abc!\"", "W/\"00000000000000ff-xml\"", ""] {
            assert!(!may_write(&headers(IF_MATCH, value), None), "{value}");
        }
    }

    #[test]
    fn a_form_names_its_version_unless_the_header_does() {
        let version = Version(255).to_string();
        let plain = HeaderMap::new();
        assert!(may_write(&plain, Some(&version)));
        assert!(!may_write(&plain, Some(&Version(254).to_string())));
        assert!(!may_write(&plain, Some("nonsense")));
        assert!(may_write(&headers(IF_MATCH, "*"), Some("nonsense")));
        let dated = headers(IF_UNMODIFIED_SINCE, "Sat, 21 Nov 2026 10:00:00 GMT");
        assert!(!may_write(&dated, Some("nonsense")));
    }
}

//! Which format is answered: the URL's extension, else the `Accept` header, else the default.

use axum::http::HeaderMap;
use axum::http::header::ACCEPT;
use entity_core::format::{Format, Formats};
use entity_core::{Error, Result};

/// The media type by which a client asks for errors after RFC 9457.
pub(crate) const PROBLEM_JSON: &str = "application/problem+json";

/// All media types.
const ANY: &str = "*/*";

/// The format to answer in, of all there are. `extension` is the URL's, which is always a registered one.
///
/// # Errors
/// The client accepts none of the formats.
pub(crate) fn format(
    extension: Option<&str>,
    headers: &HeaderMap,
    formats: &Formats,
) -> Result<Format> {
    let all: Vec<_> = formats.all().map(|it| it.name).collect();
    format_among(&all, extension, headers, formats)
}

/// The format to answer in, of those with the names `offered`. An extension is taken at its word: whoever answers
/// refuses one that is not offered.
///
/// # Errors
/// The client accepts none of them.
pub(crate) fn format_among(
    offered: &[&'static str],
    extension: Option<&str>,
    headers: &HeaderMap,
    formats: &Formats,
) -> Result<Format> {
    if let Some(named) = extension.and_then(|it| formats.renderer(it)) {
        return Ok(named.format());
    }
    let ranges: Vec<Range<'_>> = ranges(headers).collect();
    let best = formats
        .all()
        .filter(|it| offered.contains(&it.name))
        .map(|format| (quality(&format, &ranges), format))
        .filter(|(quality, _)| *quality > 0)
        // The first of equals: `max_by_key` would answer the last.
        .reduce(|best, other| if other.0 > best.0 { other } else { best });
    match best {
        Some((_, format)) => Ok(format),
        None => Err(Error::not_acceptable(offered)),
    }
}

/// Returns whether the client accepts `media_type`, which is none of a format. `*/*` is one that is not known yet.
pub(crate) fn accepts(headers: &HeaderMap, media_type: &str) -> bool {
    let ranges: Vec<Range<'_>> = ranges(headers).collect();
    media_type == ANY || ranges.is_empty() || quality_of(media_type, &ranges) > 0
}

/// Returns whether the client names `media_type` in its `Accept` header; wildcards do not count.
pub(crate) fn names(headers: &HeaderMap, media_type: &str) -> bool {
    ranges(headers).any(|it| it.is(media_type) && it.quality > 0)
}

/// One element of an `Accept` header.
struct Range<'a> {
    media_type: &'a str,
    /// In thousandths.
    quality: u16,
}

impl Range<'_> {
    fn is(&self, media_type: &str) -> bool {
        self.media_type.eq_ignore_ascii_case(media_type)
    }
}

fn ranges(headers: &HeaderMap) -> impl Iterator<Item = Range<'_>> {
    headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|it| it.to_str().ok())
        .flat_map(|line| line.split(','))
        .filter_map(range)
}

fn range(text: &str) -> Option<Range<'_>> {
    let mut parts = text.split(';').map(str::trim);
    let media_type = parts.next().filter(|it| !it.is_empty())?;
    let quality = parts
        .filter_map(|it| it.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("q"))
        .map_or(Some(1000), |(_, value)| thousandths(value.trim()))?;
    Some(Range {
        media_type,
        quality,
    })
}

/// `0.5` → 500. What is no quality makes the range void.
fn thousandths(text: &str) -> Option<u16> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if matches!(text, "" | ".")
        || fraction.len() > 3
        || !fraction.bytes().all(|it| it.is_ascii_digit())
    {
        return None;
    }
    let fraction = format!("{fraction:0<3}").parse::<u16>().ok()?;
    match whole {
        // Some clients write `.9` and mean `0.9`.
        "0" | "" => Some(fraction),
        "1" if fraction == 0 => Some(1000),
        _ => None,
    }
}

/// How much the client wants `format`: the most specific range that matches decides. No header accepts all.
/// An alias counts only by its own name.
fn quality(format: &Format, ranges: &[Range<'_>]) -> u16 {
    if ranges.is_empty() {
        return 1000;
    }
    let is_named = |range: &&Range<'_>| format.aliases.iter().any(|it| range.is(it));
    let named = ranges.iter().filter(is_named).map(|it| it.quality).max();
    named
        .unwrap_or_default()
        .max(quality_of(format.essence(), ranges))
}

fn quality_of(media_type: &str, ranges: &[Range<'_>]) -> u16 {
    let kind = media_type.split('/').next().unwrap_or_default();
    ranges
        .iter()
        .filter_map(|range| Some((specificity(range, media_type, kind)?, range.quality)))
        .max_by_key(|(specificity, _)| *specificity)
        .map_or(0, |(_, quality)| quality)
}

fn specificity(range: &Range<'_>, media_type: &str, kind: &str) -> Option<u8> {
    let is_of_kind = |it: &str| it.eq_ignore_ascii_case(kind);
    match range.media_type {
        // Java before 19 writes `*` for `*/*`.
        ANY | "*" => Some(0),
        _ if range.is(media_type) => Some(2),
        _ if range.is(PROBLEM_JSON) && media_type == "application/json" => Some(1),
        it if it.strip_suffix("/*").is_some_and(is_of_kind) => Some(1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn check(extension: Option<&str>, accept: &[&'static str], expected: Option<&str>) {
        let mut headers = HeaderMap::new();
        for line in accept {
            headers.append(ACCEPT, HeaderValue::from_static(line));
        }
        let chosen = format(extension, &headers, &entity_formats::standard().unwrap());
        assert_eq!(
            chosen.ok().map(|it| it.name),
            expected,
            "{extension:?} {accept:?}"
        );
    }

    #[test]
    fn the_extension_wins_then_the_header_then_json() {
        check(None, &[], Some("json"));
        check(Some("xml"), &["text/html"], Some("xml"));
        check(None, &["*/*"], Some("json"));
        check(None, &["application/json, text/plain, */*"], Some("json"));
        check(
            None,
            &["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"],
            Some("html"),
        );
        check(
            None,
            &["application/xml;q=0.5, application/json;q=0.4"],
            Some("xml"),
        );
        check(None, &["application/*"], Some("json"));
        check(None, &["text/*"], Some("html"));
        check(None, &["application/json;q=0, */*;q=0.1"], Some("xml"));
        check(None, &["application/atom+xml"], Some("atom"));
        check(None, &["image/png"], None);
        check(None, &["application/problem+json"], Some("json"));
        check(None, &["text/html;q=abc"], Some("json"));
        check(None, &["text/html;q=., application/xml;q="], Some("json"));
        check(
            None,
            &["application/xml;q=0.2, application/json;q=.9"],
            Some("json"),
        );
        check(
            None,
            &["text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2"],
            Some("html"),
        );
        check(None, &["application/xml;q=.1, *; q=.2"], Some("json"));
        check(None, &["text/plain", "application/xml"], Some("xml"));
    }
}

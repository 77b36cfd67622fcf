//! Content negotiation: the media types that a client accepts, and the format to answer in.
//!
//! The URL's extension decides, else the `Accept` header, else the default.

use axum::http::HeaderMap;
use axum::http::header::ACCEPT;
use entity_core::format::{Format, Formats};
use entity_core::{Error, Result};

/// The media type by which a client asks for errors after RFC 9457.
pub(crate) const PROBLEM_JSON: &str = "application/problem+json";

/// All media types.
const ANY: &str = "*/*";

/// The media ranges of a request, read once from its `Accept` header. Without any, all types are accepted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Accept(Vec<MediaRange>);

impl Accept {
    /// The media ranges in `headers`. Malformed ones are left out.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let lines = headers.get_all(ACCEPT).iter();
        let lines = lines.filter_map(|it| it.to_str().ok());
        let ranges = lines.flat_map(|line| line.split(','));
        Self(ranges.filter_map(MediaRange::parse).collect())
    }

    /// The format to answer in, of all there are. `extension` is the URL's, which is always a registered one.
    pub(crate) fn format(&self, extension: Option<&str>, formats: &Formats) -> Result<Format> {
        let all: Vec<_> = formats.all().map(|it| it.name).collect();
        self.format_among(&all, extension, formats)
    }

    /// The format to answer in, of those with the names `offered`. An extension is taken at its word: whoever answers
    /// refuses one that is not offered.
    pub(crate) fn format_among(
        &self,
        offered: &[&'static str],
        extension: Option<&str>,
        formats: &Formats,
    ) -> Result<Format> {
        if let Some(named) = extension.and_then(|it| formats.renderer(it)) {
            return Ok(named.format());
        }
        let best = formats
            .all()
            .filter(|it| offered.contains(&it.name))
            .map(|format| (self.quality(&format), format))
            .filter(|(quality, _)| *quality > 0)
            // The first of equals: `max_by_key` would answer the last.
            .reduce(|best, other| if other.0 > best.0 { other } else { best });
        match best {
            Some((_, format)) => Ok(format),
            None => Err(Error::not_acceptable(offered)),
        }
    }

    /// Returns whether the client accepts `media_type`, which is none of a format. `*/*` is one that is not known yet.
    pub(crate) fn allows(&self, media_type: &str) -> bool {
        media_type == ANY || self.0.is_empty() || self.quality_of(media_type) > 0
    }

    /// Returns whether the client names `media_type` in its `Accept` header; wildcards do not count.
    pub(crate) fn names(&self, media_type: &str) -> bool {
        self.0.iter().any(|it| it.is(media_type) && it.quality > 0)
    }

    /// The quality of `format` for the client: the most specific range that matches decides. An alias counts only by its own
    /// name.
    fn quality(&self, format: &Format) -> u16 {
        if self.0.is_empty() {
            return 1000;
        }
        let is_named = |range: &&MediaRange| format.aliases.iter().any(|it| range.is(it));
        let named = self.0.iter().filter(is_named).map(|it| it.quality).max();
        named
            .unwrap_or_default()
            .max(self.quality_of(format.essence()))
    }

    fn quality_of(&self, media_type: &str) -> u16 {
        let kind = media_type.split('/').next().unwrap_or_default();
        self.0
            .iter()
            .filter_map(|range| Some((range.specificity(media_type, kind)?, range.quality)))
            .max_by_key(|(specificity, _)| *specificity)
            .map_or(0, |(_, quality)| quality)
    }
}

/// One element of an `Accept` header.
#[derive(Clone, Debug)]
struct MediaRange {
    media_type: Box<str>,
    /// In thousandths.
    quality: u16,
}

impl MediaRange {
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(';').map(str::trim);
        let media_type = parts.next().filter(|it| !it.is_empty())?;
        let quality = parts
            .filter_map(|it| it.split_once('='))
            .find(|(name, _)| name.trim().eq_ignore_ascii_case("q"))
            .map_or(Some(1000), |(_, value)| thousandths(value.trim()))?;
        Some(Self {
            media_type: media_type.into(),
            quality,
        })
    }

    fn is(&self, media_type: &str) -> bool {
        self.media_type.eq_ignore_ascii_case(media_type)
    }

    fn specificity(&self, media_type: &str, kind: &str) -> Option<u8> {
        let is_of_kind = |it: &str| it.eq_ignore_ascii_case(kind);
        match &*self.media_type {
            // Java before 19 writes `*` for `*/*`.
            ANY | "*" => Some(0),
            _ if self.is(media_type) => Some(2),
            _ if self.is(PROBLEM_JSON) && media_type == "application/json" => Some(1),
            it if it.strip_suffix("/*").is_some_and(is_of_kind) => Some(1),
            _ => None,
        }
    }
}

/// `0.5` → 500. Anything else makes the range void.
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

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn check(extension: Option<&str>, accept: &[&'static str], expected: Option<&str>) {
        let mut headers = HeaderMap::new();
        for line in accept {
            headers.append(ACCEPT, HeaderValue::from_static(line));
        }
        let formats = entity_formats::standard().unwrap();
        let chosen = Accept::of(&headers).format(extension, &formats);
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

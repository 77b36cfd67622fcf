//! The part of a file that a client asks for.

use std::ops::Range;

use axum::http::HeaderMap;
use axum::http::header::{IF_RANGE, RANGE};

/// The range of a file that a client asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// All of it.
    Whole,
    /// These bytes of it.
    Part(Range<u64>),
    /// Bytes that it does not have.
    Beyond,
}

/// Parses the `Range` header for a file of `size` bytes, which has `tag` and, if that is known, the date `modified`. An
/// invalid range, several ranges at once, and a range of another state of the file ask for all of it.
pub(super) fn wanted(headers: &HeaderMap, size: u64, tag: &str, modified: Option<&str>) -> Wanted {
    let text = |name| headers.get(name).and_then(|it| it.to_str().ok());
    let mut values = headers.get_all(RANGE).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return Wanted::Whole;
    };
    if text(IF_RANGE).is_some_and(|it| it != tag && Some(it) != modified) {
        return Wanted::Whole;
    }
    let range = value.to_str().ok().and_then(|it| it.split_once('='));
    match range {
        Some((unit, range)) if unit.trim().eq_ignore_ascii_case("bytes") => {
            one(range.trim(), size).unwrap_or(Wanted::Whole)
        }
        _ => Wanted::Whole,
    }
}

/// Reads `first-last`, `first-` or `-length`; `None` if it is none of these.
fn one(range: &str, size: u64) -> Option<Wanted> {
    let (first, last) = range.split_once('-')?;
    let part = match (number(first)?, number(last)?) {
        (None, None) => return None,
        (None, Some(length)) => size.saturating_sub(length)..size,
        (Some(first), None) => first..size,
        (Some(first), Some(last)) if first > last => return None,
        (Some(first), Some(last)) => first..size.min(last.saturating_add(1)),
    };
    Some(match part.is_empty() {
        true => Wanted::Beyond,
        false => Wanted::Part(part),
    })
}

/// Parses a number, which is none where there is no text. One that is larger than any file counts as the largest.
#[expect(clippy::option_option, reason = "none is a number that is left out")]
fn number(text: &str) -> Option<Option<u64>> {
    match text {
        "" => Some(None),
        digits if digits.bytes().all(|it| it.is_ascii_digit()) => {
            Some(Some(digits.parse().unwrap_or(u64::MAX)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn one_range_of_bytes_is_a_part_and_all_else_is_the_whole() {
        let part = |first, behind| Wanted::Part(first..behind);
        for (range, size, expected) in [
            ("bytes=0-0", 10, part(0, 1)),
            ("bytes=2-5", 10, part(2, 6)),
            ("Bytes=5-", 10, part(5, 10)),
            ("bytes=-3", 10, part(7, 10)),
            ("bytes=-99", 10, part(0, 10)),
            ("bytes=8-99999999999999999999999", 10, part(8, 10)),
            ("bytes=10-", 10, Wanted::Beyond),
            ("bytes=-0", 10, Wanted::Beyond),
            ("bytes=0-", 0, Wanted::Beyond),
            ("bytes=99999999999999999999-", 10, Wanted::Beyond),
            ("bytes=5-2", 10, Wanted::Whole),
            ("bytes=0-1,3-4", 10, Wanted::Whole),
            ("bytes=-", 10, Wanted::Whole),
            ("bytes=a-b", 10, Wanted::Whole),
            ("bytes=+1-2", 10, Wanted::Whole),
            ("lines=0-1", 10, Wanted::Whole),
            ("0-1", 10, Wanted::Whole),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(RANGE, HeaderValue::from_static(range));
            assert_eq!(wanted(&headers, size, "\"t\"", None), expected, "{range}");
        }
    }

    #[test]
    fn a_range_of_another_state_is_the_whole() {
        let date = "Sat, 21 Nov 2026 10:00:00 GMT";
        for (condition, is_part) in [
            ("\"t\"", true),
            ("W/\"t\"", false),
            ("\"other\"", false),
            (date, true),
            ("Sat, 21 Nov 2026 10:00:01 GMT", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(RANGE, HeaderValue::from_static("bytes=1-"));
            headers.insert(IF_RANGE, HeaderValue::from_str(condition).unwrap());
            let found = wanted(&headers, 9, "\"t\"", Some(date));
            assert_eq!(found == Wanted::Part(1..9), is_part, "{condition}");
        }
    }
}

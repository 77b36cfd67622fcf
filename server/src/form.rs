//! Form bodies and queries as pairs, read strictly.

use std::borrow::Cow;

use entity_core::{Error, Result};
use percent_encoding::percent_decode;

/// The pairs of an `application/x-www-form-urlencoded` text, decoded, in order.
///
/// # Errors
/// A percent sign is not followed by two hexadecimal digits, or the text is not UTF-8.
pub fn pairs(text: &[u8]) -> Result<Vec<(String, String)>> {
    text.split(|it| *it == b'&')
        .filter(|it| !it.is_empty())
        .map(|pair| {
            let mut halves = pair.splitn(2, |it| *it == b'=');
            let name = decode(halves.next().unwrap_or_default())?;
            Ok((name, decode(halves.next().unwrap_or_default())?))
        })
        .collect()
}

fn decode(text: &[u8]) -> Result<String> {
    let text: Cow<'_, [u8]> = match text.contains(&b'+') {
        true => text
            .iter()
            .map(|it| if *it == b'+' { b' ' } else { *it })
            .collect(),
        false => text.into(),
    };
    let mut rest = text.iter();
    while let Some(byte) = rest.next() {
        let is_digit = |it: Option<&u8>| it.is_some_and(u8::is_ascii_hexdigit);
        if *byte == b'%' && !(is_digit(rest.next()) && is_digit(rest.next())) {
            return Err(Error::bad_request(
                "a percent sign must be followed by two hexadecimal digits",
            ));
        }
    }
    percent_decode(&text)
        .decode_utf8()
        .map(Cow::into_owned)
        .map_err(|error| Error::bad_request("the text must be UTF-8").with_source(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read_strictly() {
        let read = |text: &str| {
            pairs(text.as_bytes()).ok().map(|pairs| {
                pairs
                    .iter()
                    .map(|(a, b)| format!("{a}={b}"))
                    .collect::<Vec<_>>()
                    .join("|")
            })
        };
        for (text, expected) in [
            ("", Some("")),
            ("a=b&c=d", Some("a=b|c=d")),
            ("a=+b%20c%2B&&d", Some("a= b c+|d=")),
            ("a=b=c", Some("a=b=c")),
            ("%C3%A4=1", Some("ä=1")),
            ("a=%C3", None),
            ("a=%", None),
            ("a=%2", None),
            ("a=%zz", None),
            ("a=%%20", None),
        ] {
            assert_eq!(read(text).as_deref(), expected, "{text}");
        }
    }
}

//! The characters and names that XML allows.

use std::borrow::Cow;

/// Returns whether XML 1.0 allows the character, even as a reference.
pub(crate) fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..)
}

/// `text` with every character that XML does not allow replaced.
pub(crate) fn replace_forbidden(text: &str) -> Cow<'_, str> {
    replace(text, may_be_forbidden, |c| {
        (!is_allowed(c)).then_some("\u{fffd}")
    })
}

/// `text` as the content of an element or an attribute, such that a parser reads the same text again.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    let is_suspect =
        |byte| may_be_forbidden(byte) || matches!(byte, b'&' | b'<' | b'>' | b'"' | b'\r');
    replace(text, is_suspect, |c| match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '"' => Some("&quot;"),
        // A parser would read a bare one as a line feed.
        '\r' => Some("&#13;"),
        it if is_allowed(it) => None,
        _ => Some("\u{fffd}"),
    })
}

/// Returns whether a character that begins with this byte may be one that XML does not allow.
fn may_be_forbidden(byte: u8) -> bool {
    // U+FFFE and U+FFFF begin with 0xEF.
    byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r') || byte == 0xef
}

/// The bytes that are looked at together: so many at once need no branch for each.
const STEP: usize = 32;

/// `text` with what `replacement` returns in the place of each character for which it returns anything. It is asked for
/// those alone that begin with a byte that `is_suspect`.
fn replace(
    text: &str,
    is_suspect: impl Fn(u8) -> bool,
    replacement: impl Fn(char) -> Option<&'static str>,
) -> Cow<'_, str> {
    let next = |from: usize| {
        let rest = text.as_bytes().get(from..)?;
        let mut steps = rest.chunks(STEP).enumerate();
        let is_any = |bytes: &[u8]| {
            bytes
                .iter()
                .fold(false, |found, it| found | is_suspect(*it))
        };
        let (step, bytes) = steps.find(|(_, bytes)| is_any(bytes))?;
        let place = bytes.iter().position(|it| is_suspect(*it))?;
        Some(from + step * STEP + place)
    };
    let mut replaced = String::new();
    let (mut copied, mut from) = (0, 0);
    while let Some(place) = next(from) {
        let Some(suspect) = text.get(place..).and_then(|it| it.chars().next()) else {
            break;
        };
        from = place + suspect.len_utf8();
        if let Some(new) = replacement(suspect) {
            if replaced.is_empty() {
                replaced.reserve(text.len() + text.len() / 8 + STEP);
            }
            replaced.push_str(text.get(copied..place).unwrap_or_default());
            replaced.push_str(new);
            copied = from;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    replaced.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(replaced)
}

/// Returns the number of bytes that [`escape`] makes of a character.
pub(crate) fn escaped_length(c: char) -> usize {
    match c {
        '&' | '\r' => 5,
        '<' | '>' => 4,
        '"' => 6,
        it if is_allowed(it) => it.len_utf8(),
        _ => '\u{fffd}'.len_utf8(),
    }
}

/// Returns whether `text` is a name, leaving colons to namespaces.
pub(crate) fn is_name(text: &str) -> bool {
    let is_plain = |it: &u8| it.is_ascii_alphanumeric() || *it == b'_';
    match text.as_bytes() {
        [first, rest @ ..]
            if !first.is_ascii_digit() && is_plain(first) && rest.iter().all(is_plain) =>
        {
            true
        }
        _ => {
            let mut chars = text.chars();
            chars.next().is_some_and(is_name_start) && chars.all(is_name_char)
        }
    }
}

/// `text` as the name of an element: what a name can't have becomes `_`.
pub(crate) fn repair_name(text: &str) -> Cow<'_, str> {
    let is_reserved = text
        .get(..3)
        .is_some_and(|it| it.eq_ignore_ascii_case("xml"));
    if is_name(text) && !is_reserved {
        return Cow::Borrowed(text);
    }
    let (start, rest) = match is_reserved {
        true => ("_", text.get(3..).unwrap_or_default()),
        false => ("", text),
    };
    let mut name = String::from(start);
    for c in rest.chars() {
        let fits = match name.is_empty() {
            true => is_name_start(c),
            false => is_name_char(c),
        };
        name.push(if fits { c } else { '_' });
    }
    if name.is_empty() {
        name.push('_');
    }
    Cow::Owned(name)
}

fn is_name_start(c: char) -> bool {
    matches!(c,
        'A'..='Z' | '_' | 'a'..='z' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}'
        | '\u{370}'..='\u{37d}' | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}' | '\u{2070}'..='\u{218f}'
        | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}'
        | '\u{10000}'..='\u{effff}')
}

fn is_name_char(c: char) -> bool {
    is_name_start(c)
        || matches!(c, '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn one_by_one(text: &str) -> String {
        let escaped = text.chars().map(|c| match c {
            '&' => "&amp;".to_owned(),
            '<' => "&lt;".to_owned(),
            '>' => "&gt;".to_owned(),
            '"' => "&quot;".to_owned(),
            '\r' => "&#13;".to_owned(),
            it if is_allowed(it) => it.to_string(),
            _ => "\u{fffd}".to_owned(),
        });
        escaped.collect()
    }

    proptest! {
        #[test]
        fn texts_are_escaped_as_their_characters_are(
            text in "([a-z ]{0,40}|[\\x00-\\x20&<>\"\u{fffd}\u{fffe}\u{ffff}\u{ef}\u{10ffff}ß]){0,12}"
        ) {
            prop_assert_eq!(&*escape(&text), one_by_one(&text));
            let length: usize = text.chars().map(escaped_length).sum();
            prop_assert_eq!(escape(&text).len(), length);
            let replaced: String = text.chars().map(|it| if is_allowed(it) { it } else { '\u{fffd}' }).collect();
            prop_assert_eq!(&*replace_forbidden(&text), replaced);
        }
    }
}

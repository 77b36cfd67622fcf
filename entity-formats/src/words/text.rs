//! The characters and names that XML allows.

use std::borrow::Cow;

/// Returns whether XML 1.0 allows the character, even as a reference.
pub(crate) fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..)
}

/// `text` with every character that XML does not allow replaced.
pub(crate) fn replace_forbidden(text: &str) -> Cow<'_, str> {
    match text.chars().all(is_allowed) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(
            text.chars()
                .map(|it| if is_allowed(it) { it } else { '\u{fffd}' })
                .collect(),
        ),
    }
}

/// `text` as the content of an element or an attribute, such that a parser reads the same text again.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    if !text.chars().any(needs_escape) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 32);
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // A parser would read a bare one as a line feed.
            '\r' => escaped.push_str("&#13;"),
            it if is_allowed(it) => escaped.push(it),
            _ => escaped.push('\u{fffd}'),
        }
    }
    Cow::Owned(escaped)
}

/// How many bytes [`escape`] makes of a character.
pub(crate) fn escaped_length(c: char) -> usize {
    match c {
        '&' | '\r' => 5,
        '<' | '>' => 4,
        '"' => 6,
        it if is_allowed(it) => it.len_utf8(),
        _ => '\u{fffd}'.len_utf8(),
    }
}

fn needs_escape(c: char) -> bool {
    matches!(c, '&' | '<' | '>' | '"' | '\r') || !is_allowed(c)
}

/// Returns whether `text` is a name, leaving colons to namespaces.
pub(crate) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(is_name_start) && chars.all(is_name_char)
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

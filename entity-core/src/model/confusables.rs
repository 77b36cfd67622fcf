//! The detection of invisible characters, which make one text look like another.

use crate::model::schema::MAX_LINE;

/// The characters that join or separate letters of some scripts and emoji.
const JOINERS: [char; 2] = ['\u{200c}', '\u{200d}'];

/// Checks that `text`, in a field of at most `max` characters, can't pass for another text. A text of one line names
/// something and must not be open to imitation, so it may contain no invisible characters besides joiners between
/// letters; a longer text may change its direction if it restores it. The error says what is wrong.
pub(crate) fn check(text: &str, max: usize) -> Result<(), String> {
    match max <= MAX_LINE {
        _ if text.is_ascii() => Ok(()),
        true => check_line(text),
        false => check_text(text),
    }
}

fn check_line(text: &str) -> Result<(), String> {
    let mut before = None;
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        let joins = is_joined(before) && is_joined(signs.peek().copied());
        if is_hidden(sign) || (JOINERS.contains(&sign) && !joins) {
            let code = u32::from(sign);
            return Err(format!(
                "must not have the invisible character U+{code:04X}: leave it out"
            ));
        }
        before = Some(sign);
    }
    Ok(())
}

/// Returns whether the character may stand beside a joiner.
fn is_joined(sign: Option<char>) -> bool {
    sign.is_some_and(|it| !it.is_ascii() && (it.is_alphanumeric() || is_picture(it)))
}

/// Checks that a text of several lines, or HTML, ends each change of text direction that it begins. The error says what
/// is wrong.
pub(crate) fn check_text(text: &str) -> Result<(), String> {
    let mut open = Vec::new();
    for sign in text.chars() {
        match sign {
            '\u{202a}' | '\u{202b}' | '\u{202d}' | '\u{202e}' => open.push('\u{202c}'),
            '\u{2066}'..='\u{2068}' => open.push('\u{2069}'),
            '\u{202c}' | '\u{2069}' if open.pop() != Some(sign) => {
                return Err(UNBALANCED.to_owned());
            }
            _ => {}
        }
    }
    match open.is_empty() {
        true => Ok(()),
        false => Err(UNBALANCED.to_owned()),
    }
}

const UNBALANCED: &str = "must end each change of the direction of text (U+202A to U+202E, U+2066 to U+2069) that it begins";

/// Returns whether the character is invisible or changes the direction of the text behind it.
fn is_hidden(sign: char) -> bool {
    matches!(
        sign,
        '\u{ad}' | '\u{61c}' | '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    )
}

/// Returns whether the character is an emoji or symbol, or modifies the character before it.
fn is_picture(sign: char) -> bool {
    matches!(sign, '\u{fe0f}' | '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
        || is_mark(sign)
}

/// Returns whether the character belongs to an Indic script, where vowel signs and other marks follow a letter.
fn is_mark(sign: char) -> bool {
    matches!(sign, '\u{900}'..='\u{dff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sec_a_name_has_nothing_that_nobody_sees() {
        for (text, expected) in [
            ("Biology 101", true),
            ("M\u{fc}ller \u{2014} \u{65e5}\u{672c}\u{8a9e}", true),
            (
                "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}",
                true,
            ),
            ("\u{1f469}\u{200d}\u{1f3eb} class", true),
            ("\u{2764}\u{fe0f}\u{200d}\u{1f525}", true),
            ("\u{915}\u{94d}\u{200d}\u{937}", true),
            ("ad\u{200b}min", false),
            ("admin\u{200d}", false),
            ("\u{200c}admin", false),
            ("ad\u{ad}min", false),
            ("\u{202e}nimda", false),
            ("\u{2066}x\u{2069}", false),
            ("\u{feff}admin", false),
            ("a\u{2028}b", false),
        ] {
            assert_eq!(check(text, 99).is_ok(), expected, "{text:?}");
        }
        assert!(check("a\u{200b}", 99).unwrap_err().contains("U+200B"));
    }

    #[test]
    fn sec_a_text_turns_its_direction_back() {
        for (text, expected) in [
            ("ad\u{200b}min \u{200f}x\u{200d}", true),
            ("a \u{202b}b\u{202c} c", true),
            ("a \u{2067}b \u{202a}c\u{202c}\u{2069}\n", true),
            ("a \u{202e}b", false),
            ("a \u{2067}b\u{202c}", false),
            ("a\u{2069}", false),
        ] {
            assert_eq!(check(text, 9_999).is_ok(), expected, "{text:?}");
        }
    }
}

//! Folding: makes letters equal that people take for one another, in stored text and in the text to search for.
//!
//! Databases disagree about the case of letters beyond ASCII, and a search that folds every row is slow. Searchable
//! text is therefore folded here, once, when it is stored: a column beside its own holds the result (see
//! [`Field::folded_column`](crate::schema::Field::folded_column)), and a search compares bytes there.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::canonical_combining_class;

/// The ranges of characters that may have case; a character outside them is its own fold.
const CASED: [RangeInclusive<char>; 3] = [
    '\u{80}'..='\u{2fff}',
    '\u{a000}'..='\u{abff}',
    '\u{f900}'..='\u{1efff}',
];

/// Returns `text` without accents and in lower case: `Jiménez` is `jimenez`, however its accent was typed.
///
/// The text is decomposed (NFD), marks above, below and through letters are left out, each letter is replaced by the lower
/// case of its upper case, which for some is several letters (`ß` is `ss`), and the result is composed (NFC). A letter
/// with a stroke that is no mark of its own stays: `ø` is not `o`. Folding is idempotent.
///
/// Stored text was folded with the Unicode version of that time. Letters that gain a case or a decomposition in a later
/// version are found only as they are until the row is written again.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let bare = text.nfd().filter(|it| canonical_combining_class(*it) == 0);
    let lower = bare
        .flat_map(char::to_lowercase)
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase);
    // The lower case of some letters is decomposed, too.
    let bare = lower.nfd().filter(|it| canonical_combining_class(*it) == 0);
    bare.nfc().collect()
}

/// Returns `text` with each letter replaced by the lower case of its upper case, character by character, and accents as
/// they are: what a database can do with text that is not stored folded.
///
/// A letter whose other case is more than one character is left unchanged, and so is a letter beyond ASCII whose other
/// case is in ASCII (the dotless `ı`, the Kelvin sign).
pub(crate) fn fold_case(text: &str) -> String {
    match text.is_ascii() {
        true => text.to_ascii_lowercase(),
        false => text.chars().map(fold_letter).collect(),
    }
}

fn fold_letter(letter: char) -> char {
    if letter.is_ascii() {
        return letter.to_ascii_lowercase();
    }
    let upper = only(letter.to_uppercase()).unwrap_or(letter);
    match only(upper.to_lowercase()).unwrap_or(upper) {
        folded if folded.is_ascii() => letter,
        folded => folded,
    }
}

/// Returns the other characters whose case is folded to `letter`, which must be beyond ASCII.
pub(crate) fn variants(letter: char) -> &'static [char] {
    static ALL: LazyLock<HashMap<char, Vec<char>>> = LazyLock::new(|| {
        let mut all: HashMap<char, Vec<char>> = HashMap::new();
        for variant in CASED.into_iter().flatten() {
            let folded = fold_letter(variant);
            if folded != variant {
                all.entry(folded).or_default().push(variant);
            }
        }
        all
    });
    ALL.get(&letter).map_or(&[], Vec::as_slice)
}

/// Returns the letter, if there is exactly one.
fn only(mut letters: impl Iterator<Item = char>) -> Option<char> {
    let first = letters.next()?;
    letters.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accents_and_case_are_folded() {
        for (text, folded) in [
            ("Eine ÜBUNG", "eine ubung"),
            ("Jiménez", "jimenez"),
            ("Jime\u{301}nez", "jimenez"),
            ("Đặng Ngọc", "đang ngoc"),
            ("ΟΔΌΣ", "οδοσ"),
            ("οδός", "οδοσ"),
            ("STRAẞE", "strasse"),
            ("Straße", "strasse"),
            ("Ёлка", "елка"),
            ("K\u{212a} ıI İi ſS", "kk ii ii ss"),
            ("Smørrebrød", "smørrebrød"),
            ("한국어", "한국어"),
            ("हिन्दी", "हिनदी"),
            ("100%_\\", "100%_\\"),
        ] {
            assert_eq!(fold(text), folded);
            assert_eq!(fold(folded), folded);
        }
    }

    #[test]
    fn case_alone_is_folded_where_nothing_else_is() {
        for (text, folded) in [
            ("Eine ÜBUNG", "eine übung"),
            ("STRAẞE", "straße"),
            ("K\u{212a} ıI İi ſS", "k\u{212a} ıi İi ſs"),
        ] {
            assert_eq!(fold_case(text), folded);
        }
    }

    #[test]
    fn every_character_is_folded_once_and_found_among_the_variants() {
        for letter in ('\0'..=char::MAX).filter(|it| !it.is_ascii()) {
            let folded = fold_letter(letter);
            assert_eq!(fold_letter(folded), folded, "{letter:?}");
            assert!(!folded.is_ascii(), "{letter:?}");
            let is_variant = variants(folded).contains(&letter);
            assert_eq!(is_variant, folded != letter, "{letter:?} of {folded:?}");
            if !letter.is_alphabetic() {
                continue;
            }
            let bare = fold(&letter.to_string());
            assert_eq!(fold(&bare), bare, "{letter:?}");
            let composed: String = letter.to_string().nfc().collect();
            let decomposed: String = letter.to_string().nfd().collect();
            assert_eq!(fold(&composed), bare, "{letter:?}");
            assert_eq!(fold(&decomposed), bare, "{letter:?}");
        }
    }
}

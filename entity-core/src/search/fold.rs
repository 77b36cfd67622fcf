//! Case folding: makes upper and lower case letters equal, in stored text and in the text to search for.
//!
//! Databases disagree about the case of letters beyond ASCII, and a search that folds every row is slow. Searchable
//! text is therefore folded here, once, when it is stored: a column beside its own holds the result (see
//! [`Field::folded_column`](crate::schema::Field::folded_column)), and a search compares bytes there.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

/// The ranges of characters that may have case; a character outside them is its own fold.
const CASED: [RangeInclusive<char>; 3] = [
    '\u{80}'..='\u{2fff}',
    '\u{a000}'..='\u{abff}',
    '\u{f900}'..='\u{1efff}',
];

/// Returns `text` with each letter replaced by the lower case of its upper case, character by character.
///
/// Upper and lower case letters become equal, and so do the two small sigmas. A letter whose other case is more than
/// one character is left unchanged (`ß` has no upper case of one character), and so is a letter beyond ASCII whose
/// other case is in ASCII (the dotless `ı`, the Kelvin sign): ASCII text is folded by ASCII alone. Folding is
/// idempotent. Accents are kept: `é` is not `e`.
///
/// Stored text was folded with the Unicode version of the compiler of that time. Letters that gain a case in a later
/// version are found only in their own case until the row is written again.
pub fn fold(text: &str) -> String {
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

/// Returns the other characters that are folded to `letter`, which must be beyond ASCII.
pub(super) fn variants(letter: char) -> &'static [char] {
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
    fn both_cases_are_folded_alike() {
        for (text, folded) in [
            ("Eine ÜBUNG", "eine übung"),
            ("ΟΔΟΣ", "οδοσ"),
            ("οδος", "οδοσ"),
            ("STRAẞE", "straße"),
            ("Straße", "straße"),
            ("K\u{212a} ıI İi ſS", "k\u{212a} ıi İi ſs"),
            ("100%_\\", "100%_\\"),
        ] {
            assert_eq!(fold(text), folded);
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
        }
    }
}

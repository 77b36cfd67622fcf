//! Folding: what makes letters of either case the same, for the text that is stored and for the text that is
//! looked for.
//!
//! Databases disagree about the cases of letters beyond ASCII, and a search that folds every row it looks at is
//! slow. Text that is searched is therefore folded here, once, when it is stored: a column beside its own holds the
//! result (see [`Field::folded_column`](crate::schema::Field::folded_column)), and a search compares bytes there.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

/// Where letters have cases: what is not in here is its own fold.
const CASED: [RangeInclusive<char>; 3] = [
    '\u{80}'..='\u{2fff}',
    '\u{a000}'..='\u{abff}',
    '\u{f900}'..='\u{1efff}',
];

/// `text` with each letter in the lower case of its upper case, one character for one.
///
/// Capital and small letters become the same, and so do the two small sigmas. A letter whose other case is more
/// than one character stays as it is (`ß` has no capital of one character), and so does a letter beyond ASCII whose
/// other case is in ASCII (the dotless `ı`, the sign of the kelvin): ASCII text is folded by ASCII alone. Folding
/// twice is folding once. Accents stay: `é` is not `e`.
///
/// What is stored was folded by the Unicode version of the compiler of its day. Letters that gain a case later are
/// found in their own case until the row is written again.
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

/// The other characters that are folded to `letter`, which is beyond ASCII.
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

/// The letter, if it is one only.
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

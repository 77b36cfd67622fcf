//! Text that is searched for without regard to case.

use super::fold::{fold, variants};

/// A text to search for without regard to case: both sides are [folded](fold), then bytes are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needle(String);

impl Needle {
    /// Creates a needle that finds `text`.
    pub fn new(text: &str) -> Self {
        Self(fold(text))
    }

    /// Returns the folded text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns the replacements to make in a text before it is compared, if only its ASCII letters are in lower case so
    /// far: the first character of each pair is replaced by the second.
    pub fn replacements(&self) -> Vec<(char, char)> {
        let mut letters: Vec<char> = self.0.chars().filter(|it| !it.is_ascii()).collect();
        letters.sort_unstable();
        letters.dedup();
        let pairs = letters
            .into_iter()
            .flat_map(|it| variants(it).iter().map(move |variant| (*variant, it)));
        pairs.collect()
    }

    /// Returns whether `text` contains the needle.
    pub fn occurs_in(&self, text: &str) -> bool {
        fold(text).contains(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_found_in_whatever_case() {
        for (needle, text) in [
            ("ÜBUNG", "Eine übung"),
            ("übung", "EINE ÜBUNG"),
            ("Ελλάδα", "ΕΛΛΆΔΑ"),
            ("οδος", "ΟΔΟΣ"),
            ("ΟΔΟΣ", "οδος"),
            ("100%_\\", "x100%_\\y"),
            ("straße", "STRAßE"),
        ] {
            assert!(Needle::new(needle).occurs_in(text), "{needle} in {text}");
        }
        for (needle, text) in [("ubung", "übung"), ("a%b", "axb"), ("a_b", "axb")] {
            assert!(!Needle::new(needle).occurs_in(text), "{needle} in {text}");
        }
    }

    #[test]
    fn replacing_leads_to_what_folding_leads_to() {
        for text in ["ÜBUNG ΟΔΟς", "Ельцин ЁЛКА", "Ǆ ǅ ǆ ϑ ϴ Θ"] {
            let needle = Needle::new(text);
            let lowered = text.to_ascii_lowercase();
            let replaced = needle.replacements().iter().fold(lowered, |text, pair| {
                text.replace(pair.0, &pair.1.to_string())
            });
            assert_eq!(replaced, needle.text());
        }
    }
}

//! Text that is looked for in whatever case.

use super::fold::{fold, variants};

/// Text that is looked for in whatever case: both sides are [folded](fold), then bytes are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needle(String);

impl Needle {
    /// What is looked for when `text` is.
    pub fn new(text: &str) -> Self {
        Self(fold(text))
    }

    /// The text, folded.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// What has to be replaced in text that is not folded but has its ASCII in lower case, before it is compared:
    /// each of these characters by the letter beside it.
    pub fn replacements(&self) -> Vec<(char, char)> {
        let mut letters: Vec<char> = self.0.chars().filter(|it| !it.is_ascii()).collect();
        letters.sort_unstable();
        letters.dedup();
        let pairs = letters
            .into_iter()
            .flat_map(|it| variants(it).iter().map(move |variant| (*variant, it)));
        pairs.collect()
    }

    /// Whether `text` holds it.
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

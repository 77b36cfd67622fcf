//! Text that is searched for without regard to case and accents.

use unicode_normalization::UnicodeNormalization as _;

use crate::model::schema::Field;
use crate::primitives::fold::{fold, fold_case, variants};

/// A text to search for without regard to case and accents: both sides are [folded](fold), then bytes are compared. In a
/// field whose text is not stored folded, accents count, whether they are composed with their letters or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needle {
    folded: String,
    /// The text as it is, composed and decomposed, in lower case: one form if these are the same.
    forms: Vec<String>,
}

impl Needle {
    /// Creates a needle that finds `text`.
    pub fn new(text: &str) -> Self {
        let composed = fold_case(&text.nfc().collect::<String>());
        let decomposed = fold_case(&text.nfd().collect::<String>());
        // A word of marks alone would be empty without them, and match everything.
        let folded = Some(fold(text)).filter(|it| !it.is_empty());
        let mut forms = vec![composed, decomposed];
        forms.dedup();
        Self {
            folded: folded.unwrap_or_else(|| text.to_owned()),
            forms,
        }
    }

    /// Returns the folded text, which is looked for in folded text.
    pub fn text(&self) -> &str {
        &self.folded
    }

    /// Returns the texts of which one is looked for in text that is not stored folded.
    pub fn forms(&self) -> &[String] {
        &self.forms
    }

    /// Returns the replacements to make in a text that is not stored folded before it is compared, if only its ASCII
    /// letters are in lower case so far: the first character of each pair is replaced by the second.
    pub fn replacements(&self) -> Vec<(char, char)> {
        let letters = self.forms.iter().flat_map(|it| it.chars());
        let mut letters: Vec<char> = letters.filter(|it| !it.is_ascii()).collect();
        letters.sort_unstable();
        letters.dedup();
        let pairs = letters
            .into_iter()
            .flat_map(|it| variants(it).iter().map(move |variant| (*variant, it)));
        pairs.collect()
    }

    /// Returns whether `text`, the content of `field`, contains the needle.
    pub fn occurs_in(&self, text: &str, field: &Field) -> bool {
        if field.is_folded() {
            return fold(text).contains(&self.folded);
        }
        let text = fold_case(text);
        self.forms.iter().any(|it| text.contains(it))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::schema::Kind;

    const FOLDED: Field = Field::new("a", Kind::Text(99), "").column("a").searchable();
    const PLAIN: Field = Field::new("b", Kind::Text(99), "").column("b");

    #[test]
    fn letters_are_found_in_whatever_case_and_with_whatever_accents() {
        for (needle, text) in [
            ("ÜBUNG", "Eine übung"),
            ("ubung", "EINE ÜBUNG"),
            ("übung", "eine UBUNG"),
            ("jimenez", "Jime\u{301}nez"),
            ("Jiménez", "JIMENEZ"),
            ("Ελλάδα", "ΕΛΛΑΔΑ"),
            ("οδος", "ΟΔΟΣ"),
            ("100%_\\", "x100%_\\y"),
            ("strasse", "STRAßE"),
        ] {
            assert!(
                Needle::new(needle).occurs_in(text, &FOLDED),
                "{needle} in {text}"
            );
        }
        for (needle, text) in [("a%b", "axb"), ("a_b", "axb"), ("\u{301}", "e")] {
            assert!(
                !Needle::new(needle).occurs_in(text, &FOLDED),
                "{needle} in {text}"
            );
        }
        for (needle, text, is_found) in [
            ("ÜBUNG", "übung", true),
            ("u\u{308}bung", "ÜBUNG", true),
            ("übung", "u\u{308}bung", true),
            ("ubung", "übung", false),
        ] {
            let found = Needle::new(needle).occurs_in(text, &PLAIN);
            assert_eq!(found, is_found, "{needle} in {text}");
        }
    }

    #[test]
    fn replacing_leads_to_what_folding_case_leads_to() {
        for text in ["ÜBUNG ΟΔΟς", "Ельцин ЁЛКА", "Ǆ ǅ ǆ ϑ ϴ Θ"] {
            let needle = Needle::new(text);
            let lowered = text.to_ascii_lowercase();
            let replaced = needle.replacements().iter().fold(lowered, |text, pair| {
                text.replace(pair.0, &pair.1.to_string())
            });
            assert!(needle.forms().contains(&replaced), "{replaced}");
        }
    }
}

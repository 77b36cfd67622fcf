//! Text that is looked for in whatever case, by a rule that both databases can follow.

/// Text that is looked for in whatever case.
///
/// Databases disagree about the cases of letters beyond ASCII, so that none of them is asked: besides
/// lowering ASCII, only those capital letters are replaced whose small letters are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needle {
    text: String,
    folds: Vec<(char, char)>,
}

impl Needle {
    /// What is looked for when `text` is.
    pub fn new(text: &str) -> Self {
        let text: String = text
            .chars()
            .map(|it| only(it.to_lowercase()).unwrap_or(it))
            .collect();
        let mut folds = Vec::new();
        for small in text.chars().filter(|it| !it.is_ascii()) {
            let capital = only(small.to_uppercase()).filter(|it| *it != small);
            let fold = capital.map(|it| (it, small));
            folds.extend(fold.filter(|it| !folds.contains(it)));
        }
        Self { text, folds }
    }

    /// The text, in small letters.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The letters beyond ASCII that are to be replaced, in this order, in lowered text before it is compared.
    pub fn folds(&self) -> &[(char, char)] {
        &self.folds
    }

    /// Whether `text` holds it.
    pub fn occurs_in(&self, text: &str) -> bool {
        let lowered = text.to_ascii_lowercase();
        let folded = self.folds.iter().fold(lowered, |text, (capital, small)| {
            text.replace(*capital, small.encode_utf8(&mut [0; 4]))
        });
        folded.contains(&self.text)
    }
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
    fn letters_are_found_in_whatever_case() {
        for (needle, text) in [
            ("ÜBUNG", "Eine übung"),
            ("übung", "EINE ÜBUNG"),
            ("Ελλάδα", "ΕΛΛΆΔΑ"),
            ("100%_\\", "x100%_\\y"),
            ("straße", "STRAßE"),
        ] {
            assert!(Needle::new(needle).occurs_in(text), "{needle} in {text}");
        }
        for (needle, text) in [("ubung", "übung"), ("a%b", "axb"), ("a_b", "axb")] {
            assert!(!Needle::new(needle).occurs_in(text), "{needle} in {text}");
        }
    }
}

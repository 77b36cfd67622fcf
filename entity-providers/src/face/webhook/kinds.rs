//! The kinds of events that a webhook is sent.

use entity_core::db::{ColumnValue, Row};
use entity_core::{Context, Result};
use serde::Serialize;

/// The maximum number of kinds that a webhook names.
const MOST: usize = 100;
/// The maximum number of characters of a kind.
const LONGEST: usize = 99;

/// The kinds of events that a webhook is sent, stored as one text with blanks between them; empty for all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Kinds(pub Vec<String>);

impl Kinds {
    /// Returns whether events of this kind are sent.
    pub fn have(&self, kind: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|it| it == kind)
    }

    /// Reads the text of the column.
    pub fn parse(text: &str) -> Self {
        Self(text.split_whitespace().map(ToOwned::to_owned).collect())
    }
}

impl ColumnValue for Kinds {
    type Sent = Vec<String>;

    fn receive(_cx: &Context, mut sent: Vec<String>) -> Result<Self, String> {
        sent.sort();
        sent.dedup();
        match sent.len() <= MOST && sent.iter().all(|it| is_kind(it)) {
            true => Ok(Self(sent)),
            false => Err(format!(
                "must be at most {MOST} kinds of events, such as `annc.new`"
            )),
        }
    }

    fn to_value(&self) -> sea_orm::Value {
        self.0.join(" ").into()
    }

    fn read(_cx: &Context, row: &mut Row<'_>) -> Result<Self> {
        let text: String = row.take()?;
        Ok(Self::parse(&text))
    }
}

/// Returns whether `text` can be a kind: words of letters, digits, `-` and `_` with dots between them.
fn is_kind(text: &str) -> bool {
    let is_sign = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_');
    let is_word = |it: &str| !it.is_empty() && it.bytes().all(is_sign);
    text.len() <= LONGEST && text.split('.').all(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_words_with_dots_between_them() {
        for kind in ["annc.new", "asn.revise.any", "calendar-event_2.new", "x"] {
            assert!(is_kind(kind), "{kind}");
        }
        let long = "a".repeat(LONGEST + 1);
        for wrong in ["", ".", "annc.", ".new", "a b", "a..b", "*", "ä.new", &long] {
            assert!(!is_kind(wrong), "{wrong}");
        }
    }

    #[test]
    fn no_kind_stands_for_all() {
        assert!(Kinds::default().have("annc.new"));
        let kinds = Kinds::parse("annc.new asn.submit");
        assert!(kinds.have("asn.submit"));
        assert!(!kinds.have("annc"));
    }
}

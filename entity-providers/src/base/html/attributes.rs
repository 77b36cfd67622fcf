//! The maximum number of attributes of a tag. The tokenizer compares each attribute of a tag with all before it.

/// The maximum number of attributes of one tag.
pub(super) const MOST: u16 = 64;

/// Where in a tag a tokenizer may be.
#[derive(Clone, Copy)]
enum Place {
    TagName,
    /// Where an attribute may begin.
    Between,
    Name,
    BehindName,
    BeforeValue,
    InDoubleQuotes,
    InSingleQuotes,
    Unquoted,
}

const PLACES: [Place; 8] = [
    Place::TagName,
    Place::Between,
    Place::Name,
    Place::BehindName,
    Place::BeforeValue,
    Place::InDoubleQuotes,
    Place::InSingleQuotes,
    Place::Unquoted,
];

impl Place {
    /// Where it goes on behind `byte`: nowhere, if that ends the tag.
    fn next(self, byte: u8) -> Option<Self> {
        let is_space = matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c');
        Some(match (self, byte) {
            (Self::InDoubleQuotes, b'"') | (Self::InSingleQuotes, b'\'') => Self::Between,
            (Self::InDoubleQuotes | Self::InSingleQuotes, _) => self,
            (_, b'>') => return None,
            (Self::TagName | Self::Unquoted, _) if is_space => Self::Between,
            (Self::TagName | Self::Between | Self::Name | Self::BehindName, b'/') => Self::Between,
            (Self::TagName | Self::Unquoted, _) => self,
            (Self::Between | Self::BeforeValue, _) if is_space => self,
            (Self::Name | Self::BehindName, _) if is_space => Self::BehindName,
            (Self::Name | Self::BehindName, b'=') => Self::BeforeValue,
            (Self::Between | Self::Name | Self::BehindName, _) => Self::Name,
            (Self::BeforeValue, b'"') => Self::InDoubleQuotes,
            (Self::BeforeValue, b'\'') => Self::InSingleQuotes,
            (Self::BeforeValue, _) => Self::Unquoted,
        })
    }

    /// Returns whether an attribute begins where one goes from here to `next`.
    fn begins_attribute(self, next: Self) -> bool {
        matches!((self, next), (Self::Between | Self::BehindName, Self::Name))
    }
}

/// The places in which a tokenizer may be, each with the number of attributes before it, plus one.
type Counts = [u16; PLACES.len()];

/// No fewer than the most attributes that any tag in `html` has, whatever a parser takes for a tag: which `<` begin
/// tags depends on what is around them, such as comments and scripts, so all of them are followed at once.
pub(super) fn most(html: &str) -> u16 {
    let mut counts = Counts::default();
    let (mut most, mut is_inside) = (0, false);
    let mut before = (0, 0);
    for byte in html.bytes() {
        if is_inside {
            counts = step(&counts, byte);
            is_inside = counts != Counts::default();
            most = most.max(counts.into_iter().max().unwrap_or_default());
        }
        if byte.is_ascii_alphabetic() && matches!(before, (_, b'<') | (b'<', b'/')) {
            let [first, ..] = &mut counts;
            *first = (*first).max(1);
            is_inside = true;
        }
        before = (before.1, byte);
    }
    most.saturating_sub(1)
}

fn step(counts: &Counts, byte: u8) -> Counts {
    let mut after = Counts::default();
    for (place, count) in PLACES.into_iter().zip(counts) {
        if let (Some(next), true) = (place.next(byte), *count > 0) {
            let added = u16::from(place.begins_attribute(next));
            for (other, most) in PLACES.into_iter().zip(&mut after) {
                if std::mem::discriminant(&other) == std::mem::discriminant(&next) {
                    *most = (*most).max(count.saturating_add(added));
                }
            }
        }
    }
    after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_counted_whatever_is_around_their_tag() {
        for (html, expected) in [
            ("no tag a=b", 0),
            ("<p>", 0),
            ("<p a>", 1),
            ("<p a=1 b='2' c=\"3\" d e = 5/f>x y z", 5),
            ("<p a=\"b c d > e f\">", 1),
            ("<p/a/b/c>", 3),
            ("</p a b>", 2),
            ("<p a=1><b c=2 d=3><i>", 2),
            ("<img src=\"data:image/png;base64,a/b/c/d/e+f==\">", 1),
            // A comment or a script may hide a quote, and a quote may hide a tag.
            ("<!-- <p x=\" --><i a b c d=\">", 4),
            ("<p title=\"<i a b c>\">", 3),
            ("<p =a =b>", 1),
            ("<p a=b/c d>", 2),
            ("<p a='1'b='2'c>", 3),
        ] {
            assert_eq!(most(html), expected, "{html}");
        }
        let many = |it: usize| format!("<p{}>", " a='<p>'".repeat(it));
        assert_eq!(most(&many(64)), 64);
        assert!(most(&many(70_000)) > MOST);
    }
}

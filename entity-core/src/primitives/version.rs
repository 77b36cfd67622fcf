//! The version of an entity.

use std::hash::{DefaultHasher, Hash, Hasher as _};

/// Identifies the state of an entity. Different states of one entity have different versions. It is written as 16
/// hexadecimal digits, the form in which it stands in entity tags and HTML forms.
#[derive(derive_more::Display, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[display("{:016x}", self.0)]
pub struct Version(pub u64);

impl Version {
    /// Returns the hash of `parts` as a version. The parts must tell the states apart, as row versions, ids and dates
    /// do.
    pub fn of(parts: &impl Hash) -> Self {
        let mut hasher = DefaultHasher::new();
        parts.hash(&mut hasher);
        Self(hasher.finish())
    }

    /// Parses a version from the hexadecimal number that its `Display` implementation writes, or returns `None`.
    pub fn parse(text: &str) -> Option<Self> {
        // A sign is a digit to `from_str_radix`, but nothing that this type writes.
        let is_plain = text.bytes().all(|it| it.is_ascii_hexdigit());
        u64::from_str_radix(text, 16)
            .ok()
            .filter(|_| is_plain)
            .map(Self)
    }
}

//! References to entities.

use std::fmt;

use super::path::DirectPath;

/// A reference to an entity or, without an id, to a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The type's prefix.
    pub prefix: String,
    /// The entity's id.
    pub id: Option<String>,
}

impl Reference {
    /// Creates a reference to the entity `id` of the type `prefix`.
    pub fn entity(prefix: impl Into<String>, id: impl Into<String>) -> Self {
        Self {
            prefix: prefix.into(),
            id: Some(id.into()),
        }
    }

    /// Creates a reference to the type `prefix` itself.
    pub fn collection(prefix: impl Into<String>) -> Self {
        Self {
            prefix: prefix.into(),
            id: None,
        }
    }

    /// Parses a reference in the form that entities contain, `/prefix/id`. Returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let (prefix, id) = text.strip_prefix('/')?.split_once('/')?;
        let is_whole = !prefix.is_empty() && !id.is_empty();
        is_whole.then(|| Self::entity(prefix, id))
    }

    /// Returns the path below `/direct`, percent-encoded.
    pub fn path(&self) -> String {
        DirectPath::new(&self.prefix, self.id.clone()).to_string()
    }
}

/// Writes the reference in the form that entities contain: `/prefix/id`, not percent-encoded.
impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.id {
            Some(id) => write!(f, "/{}/{id}", self.prefix),
            None => write!(f, "/{}", self.prefix),
        }
    }
}

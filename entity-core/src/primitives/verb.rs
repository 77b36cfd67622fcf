//! The verbs of requests.

/// The operation that a request asks for at its address. HEAD is a [`Verb::Get`] whose body is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verb {
    /// Reads; changes nothing.
    Get,
    /// Creates, or runs an action.
    Post,
    /// Changes some fields.
    Put,
    /// Changes some fields, by a patch document.
    Patch,
    /// Deletes.
    Delete,
}

impl Verb {
    /// All verbs.
    pub const ALL: [Self; 5] = [Self::Get, Self::Post, Self::Put, Self::Patch, Self::Delete];

    /// Returns the verb's name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Returns whether the verb changes nothing.
    pub const fn is_safe(self) -> bool {
        matches!(self, Self::Get)
    }
}

//! The namespace prefixes that are declared where an element stands.

use entity_core::Result;

use super::refuse;

/// The namespace of `nil`.
const INSTANCES: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// The prefixes that the open elements declare.
#[derive(Default)]
pub(super) struct Spaces {
    depth: usize,
    /// The depth of the element that declares the prefix, the prefix, and whether it stands for [`INSTANCES`].
    declared: Vec<(usize, String, bool)>,
}

impl Spaces {
    /// Enters an element.
    pub(super) fn open(&mut self) {
        self.depth += 1;
    }

    /// Leaves an element, and forgets what it declared.
    pub(super) fn close(&mut self) {
        while self.declared.pop_if(|it| it.0 >= self.depth).is_some() {}
        self.depth = self.depth.saturating_sub(1);
    }

    /// Adds a prefix that the element declares.
    pub(super) fn declare(&mut self, prefix: &str, space: &str) {
        let entry = (self.depth, prefix.to_owned(), space == INSTANCES);
        self.declared.push(entry);
    }

    /// Refuses a prefix that nothing declares.
    pub(super) fn require(&self, prefix: Option<&str>) -> Result<()> {
        match prefix {
            Some(prefix) if prefix != "xml" && self.find(prefix).is_none() => Err(refuse(
                &format!("uses the namespace prefix `{prefix}`, which it does not declare"),
            )),
            _ => Ok(()),
        }
    }

    /// Returns whether names with this prefix are about instances of schemas, as `nil` is.
    pub(super) fn is_of_instances(&self, prefix: &str) -> bool {
        self.find(prefix) == Some(true)
    }

    fn find(&self, prefix: &str) -> Option<bool> {
        let found = self.declared.iter().rev().find(|it| it.1 == prefix);
        found.map(|it| it.2)
    }
}

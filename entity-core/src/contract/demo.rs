//! Demo data: what types add to the database that a newcomer starts with.

use std::collections::BTreeMap;

use futures::future::BoxFuture;

use crate::contract::context::Context;
use crate::words::error::{Error, Result};

/// The people, sites and groups of the demo, for the types that add their own data:
/// `register!(Loan, demo = fill)`, where `fill` is an `async fn(cx: &Context, demo: &Demo) -> Result<usize>` that
/// inserts entities and returns their number.
///
/// The types are asked in the order of their prefixes, in the transaction in which all demo data are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Demo {
    /// The internal ids of the people, by the name that each logs in with: `admin`, `instructor1`, `ta1`, `student1` …
    pub people: BTreeMap<String, String>,
    /// The ids of the sites. The first is a course with groups.
    pub sites: Vec<String>,
    /// The ids of the first site's groups, by title.
    pub groups: BTreeMap<String, String>,
}

/// A function that adds a type's demo data and returns the number of entities.
pub type FillDemo = for<'a> fn(&'a Context, &'a Demo) -> BoxFuture<'a, Result<usize>>;

impl Demo {
    /// Returns the internal id of the person who logs in as `eid`.
    ///
    /// # Errors
    /// Returns an error if the demo has no such person.
    pub fn person(&self, eid: &str) -> Result<&str> {
        let found = self.people.get(eid).map(String::as_str);
        found.ok_or_else(|| Error::internal(format!("the demo has no person `{eid}`")))
    }

    /// Returns the id of the first site's group with this title.
    ///
    /// # Errors
    /// Returns an error if the demo has no such group.
    pub fn group(&self, title: &str) -> Result<&str> {
        let found = self.groups.get(title).map(String::as_str);
        found.ok_or_else(|| Error::internal(format!("the demo has no group `{title}`")))
    }
}

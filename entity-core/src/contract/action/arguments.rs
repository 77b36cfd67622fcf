//! The data with which an action is called.

use std::sync::Arc;

use crate::contract::blob::Upload;
use crate::contract::input::Input;
use crate::contract::search::Search;
use crate::model::entity::Entity;
use crate::primitives::error::{Error, Result};

/// The data with which an action is called.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    /// The path segments after the name of the action, decoded, each with the name that the action declares for it.
    pub path: Vec<(&'static str, String)>,
    /// The name-value pairs of the query, decoded.
    pub query: Arc<[(String, String)]>,
    /// The body of the request.
    pub input: Input,
    /// The parsed list query, if the action accepts list queries of the type.
    pub search: Option<Search>,
}

impl Arguments {
    /// Returns the path segment that the action declares as `name`.
    ///
    /// # Errors
    /// Returns an error if the path has no such segment.
    pub fn argument(&self, name: &str) -> Result<&str> {
        self.optional(name)
            .ok_or_else(|| Error::bad_request(format!("the path must name a `{name}`")))
    }

    /// Returns the path segment that the action declares as `name`, if the path has it.
    pub fn optional(&self, name: &str) -> Option<&str> {
        self.path
            .iter()
            .find(|(own, _)| *own == name)
            .map(|(_, value)| value.as_str())
    }

    /// Returns the file that came with the request: the first one, if there are several.
    ///
    /// # Errors
    /// Returns an error if the request has no file.
    pub fn upload(&self) -> Result<&Upload> {
        let first = self.input.uploads.first();
        first.ok_or_else(|| Error::bad_request("the request must have a file: send it as the body"))
    }

    /// Returns the parsed list query.
    ///
    /// # Errors
    /// Returns an error if the action does not declare that it accepts list queries: a defect, not the caller's fault.
    pub fn search(&self) -> Result<&Search> {
        self.search
            .as_ref()
            .ok_or_else(|| Error::internal("an action that is not declared `searched` searches"))
    }

    /// Returns the parsed list query, narrowed to the entities of `site`.
    ///
    /// # Errors
    /// Returns an error if the action does not declare that it accepts list queries, or if the entities belong to no site:
    /// defects, not the caller's fault.
    pub fn search_in_site<E: Entity>(&self, site: &str) -> Result<Search> {
        let mut search = self.search()?.clone();
        search.narrow_to_site::<E>(site)?;
        Ok(search)
    }

    /// Returns the value of the query parameter `name`, if the query has it.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }
}

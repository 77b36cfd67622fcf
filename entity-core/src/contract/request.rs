//! One request to an entity type, as plain data.

use crate::contract::input::Input;
use crate::contract::origin::Origin;
use crate::contract::preconditions::Preconditions;
use crate::primitives::path::DirectPath;
use crate::primitives::verb::Verb;

/// One request to an entity type.
#[derive(Clone, Debug)]
pub struct Request {
    /// The address below `/direct`.
    pub path: DirectPath,
    /// The verb. A method override is already applied.
    pub verb: Verb,
    /// The pairs of the query, decoded, in order.
    pub query: Vec<(String, String)>,
    /// The body, as data.
    pub input: Input,
    /// The preconditions that the current state must meet.
    pub preconditions: Preconditions,
    /// True if the request is a dry run: it is carried out and then rolled back, to show its result.
    pub is_dry_run: bool,
    /// True if the reply is for a person, who is shown which further operations are possible.
    pub wants_allowed_actions: bool,
    /// The sender of the request and the way by which it came in.
    pub origin: Origin,
}

impl Request {
    /// Creates a request that reads.
    pub fn reading(path: DirectPath, query: Vec<(String, String)>, origin: Origin) -> Self {
        Self {
            path,
            verb: Verb::Get,
            query,
            input: Input::default(),
            preconditions: Preconditions::default(),
            is_dry_run: false,
            wants_allowed_actions: false,
            origin,
        }
    }
}

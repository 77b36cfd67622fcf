//! One request to an entity type, as plain data.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;

use crate::access::Caller;
use crate::input::Input;
use crate::large::Reading;
use crate::path::DirectPath;
use crate::preconditions::Preconditions;

/// What a request wants to do with its address. HEAD is a [`Verb::Get`] whose body is not sent.
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

    /// The verb's name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Whether the verb changes nothing.
    pub const fn is_safe(self) -> bool {
        matches!(self, Self::Get)
    }
}

/// One request to an entity type.
#[derive(Clone, Debug)]
pub struct Request {
    /// The address below `/direct`.
    pub path: DirectPath,
    /// What to do with it. A method override was already applied.
    pub verb: Verb,
    /// The query's pairs, decoded, in order.
    pub query: Vec<(String, String)>,
    /// The body, as data.
    pub input: Input,
    /// What it demands of the state that it finds.
    pub preconditions: Preconditions,
    /// Whether everything is done and then given up, to see what would come of it.
    pub is_dry_run: bool,
    /// Whether the reply is for a person, who is shown what else can be done here.
    pub wants_abilities: bool,
    /// Who asks, and by which way.
    pub origin: Origin,
}

/// Who sent a request and how it came in: what the audit log writes down. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Origin {
    /// On whose behalf it runs.
    pub caller: Caller,
    /// The network address it came from.
    pub address: IpAddr,
    /// The request's id in logs and in error bodies.
    pub request_id: Arc<str>,
    /// The method as it took effect.
    pub method: Cow<'static, str>,
    /// The path without its query.
    pub path: Arc<str>,
    /// How much it has read for its answer.
    pub reading: Reading,
}

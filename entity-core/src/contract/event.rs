//! Events of a request, stored in the same transaction as the change that they describe.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

/// An event: something that happened to an entity and that followers are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The kind of the event: the function that was used, such as `annc.new`.
    pub kind: String,
    /// The reference of the entity: `/prefix/id`.
    pub reference: String,
    /// The internal id of the user who caused the event, if there is one.
    pub actor: Option<String>,
    /// The id of the site of the entity, if it belongs to one.
    pub site: Option<String>,
    /// The time of the event.
    pub time: DateTime<Utc>,
    /// A few further facts, by name. Most events have none.
    pub details: Map<String, Value>,
}

impl Event {
    /// Returns whether the event tells that the entity is deleted: whether a part of its kind begins with `delete`, as in
    /// `annc.delete.any`.
    pub fn is_deletion(&self) -> bool {
        self.kind.split('.').any(|it| it.starts_with("delete"))
    }
}

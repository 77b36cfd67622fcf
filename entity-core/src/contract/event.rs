//! Events and audit log entries of a request, stored in the same transaction as the change that they describe.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use crate::contract::context::Context;
use crate::contract::reply::Effect;
use crate::primitives::error::Result;

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

/// The entry in the audit log for a request that writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Audit {
    /// The effect of the request. The status of the response is not known, or there is no response because the service
    /// acted by itself.
    Done(Effect),
    /// The status of the response, as a number of the transport.
    Answered(u16),
    /// There is no entry yet. The writes are kept although the request fails; the row for it is stored when the
    /// response is known.
    Later,
}

impl From<Effect> for Audit {
    fn from(effect: Effect) -> Self {
        Self::Done(effect)
    }
}

/// Receives the events of units of work.
#[async_trait]
pub trait EventSink: Send + Sync {
    /// Stores `events` and the audit row in the unit of work of `cx`, before it is committed.
    ///
    /// # Errors
    /// Returns an error if they can't be stored; then nothing of the unit of work is.
    async fn record(&self, cx: &Context, events: &[Event], audit: Audit) -> Result<()>;

    /// Notifies the followers on this machine of `events`, after the commit.
    fn published(&self, events: &[Event]);
}

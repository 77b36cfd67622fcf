//! What happened: events of one request, stored with the change they tell of.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use crate::context::Context;
use crate::error::Result;
use crate::reply::Effect;

/// Something that happened, worth telling others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// What kind of thing: the function that was used, such as `annc.new`.
    pub kind: String,
    /// Of which entity: `/prefix/id`.
    pub reference: String,
    /// By which user.
    pub actor: Option<String>,
    /// In which site.
    pub site: Option<String>,
    /// When.
    pub time: DateTime<Utc>,
    /// What else there is to know, a few facts by name. Most events have none.
    pub details: Map<String, Value>,
}

/// What the audit log is told of a request that writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Audit {
    /// What it did. How that is answered is not known, or nobody asked: the service did it of itself.
    Done(Effect),
    /// How it is answered: the status, as the transport counts.
    Answered(u16),
    /// Nothing. What was written stays although the request fails; its row follows when it is answered.
    Later,
}

impl From<Effect> for Audit {
    fn from(effect: Effect) -> Self {
        Self::Done(effect)
    }
}

/// Takes the events of a unit of work.
#[async_trait]
pub trait EventSink: Send + Sync {
    /// Stores `events` and the audit row in the unit of work of `cx`, before it is committed.
    ///
    /// # Errors
    /// They can't be stored; then nothing of the unit of work is.
    async fn record(&self, cx: &Context, events: &[Event], audit: Audit) -> Result<()>;

    /// Tells the followers on this machine, after the commit.
    fn published(&self, events: &[Event]);
}

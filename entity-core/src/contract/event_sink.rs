//! The store of events and audit log entries, which are kept in the same transaction as the change that they describe.

use async_trait::async_trait;

use crate::contract::context::Context;
use crate::contract::event::Event;
use crate::contract::reply::Effect;
use crate::primitives::error::Result;

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

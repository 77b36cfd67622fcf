//! The interface to a store: units of work that are committed as a whole or not at all.

use std::any::Any;
use std::fmt;

use async_trait::async_trait;
use futures::future::BoxFuture;

use crate::primitives::error::Result;

/// The way in which a unit of work uses the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The unit of work only reads; the store gives it no way to write.
    Read,
    /// The unit of work writes, in a transaction of its own.
    Write,
    /// The unit of work writes, in the open transaction that an earlier one left, if there is one. It sees the earlier
    /// writes, and either both are kept or neither is.
    Join,
    /// Like [`Join`](Self::Join), and later units of work may join the same transaction.
    Share,
}

/// The way in which a unit of work ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The writes are kept.
    Keep,
    /// The writes are discarded.
    GiveUp,
}

/// The state of a unit of work after its end.
pub enum CommitOutcome {
    /// The unit of work is over for the store, and its outcome is certain.
    Now,
    /// The unit of work shares a transaction that others may continue. The future completes with the outcome when that
    /// transaction is over; its error is that of [`Unit::end`].
    Later(BoxFuture<'static, Result<()>>),
}

impl fmt::Debug for CommitOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Now => "Now",
            Self::Later(_) => "Later",
        })
    }
}

/// A store, which opens units of work.
#[async_trait]
pub trait Store: Send + Sync {
    /// Begins a unit of work.
    ///
    /// # Errors
    /// Returns an error if the store can't be reached or has no unit of work to spare.
    async fn begin(&self, mode: Mode) -> Result<Box<dyn Unit>>;
}

/// A unit of work. Dropping it discards its writes.
#[async_trait]
pub trait Unit: Send + Sync {
    /// Makes the writes durable and visible.
    ///
    /// # Errors
    /// Returns an error if nothing was written. If the code of the error is
    /// [`OUTCOME_UNKNOWN`](crate::engine::OUTCOME_UNKNOWN), it is unknown whether anything was written. A transient error means
    /// that the same work may succeed when it is run again.
    async fn commit(self: Box<Self>) -> Result<()>;

    /// Returns whether the unit of work sees writes of others that are not durable yet. Nothing about it may then be
    /// told, not even that it is refused, before it has [ended](Self::end).
    fn is_joined(&self) -> bool {
        false
    }

    /// Ends the unit of work. `is_awaited` says whether another one waits to write that may continue its transaction.
    ///
    /// # Errors
    /// Fails as [`commit`](Self::commit) does. A unit that is given up fails with a transient error if the units that
    /// it joined were not kept.
    async fn end(self: Box<Self>, end: End, _is_awaited: bool) -> Result<CommitOutcome> {
        if end == End::Keep {
            self.commit().await?;
        }
        Ok(CommitOutcome::Now)
    }

    /// Returns the store's own type, for providers that know it.
    fn as_any(&self) -> &dyn Any;
}

/// A store without data, for services whose providers keep their data elsewhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoStore;

#[async_trait]
impl Store for NoStore {
    async fn begin(&self, _mode: Mode) -> Result<Box<dyn Unit>> {
        Ok(Box::new(Self))
    }
}

#[async_trait]
impl Unit for NoStore {
    async fn commit(self: Box<Self>) -> Result<()> {
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

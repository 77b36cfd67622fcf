//! The seam to a store: units of work that are committed as a whole or not at all.

use std::any::Any;
use std::fmt;

use async_trait::async_trait;
use futures::future::BoxFuture;

use crate::error::Result;

/// Whether a unit of work may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It only reads; the store gives it no way to write.
    Read,
    /// It writes, in one transaction.
    Write,
    /// It writes, in the transaction that one before it left, if one did: it sees what that wrote, and both are kept or
    /// neither is.
    Join,
    /// The same; others may join it.
    Share,
}

/// How a unit of work ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// What it wrote is kept.
    Keep,
    /// Nothing that it wrote is.
    GiveUp,
}

/// Whether a unit of work is over for the store.
pub enum Ended {
    /// It is: what it came to is certain.
    Now,
    /// It shares a transaction, which others may go on with. What it comes to shows when that is over: the error is that
    /// of [`Unit::end`].
    Later(BoxFuture<'static, Result<()>>),
}

impl fmt::Debug for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Now => "Now",
            Self::Later(_) => "Later",
        })
    }
}

/// Gives out units of work.
#[async_trait]
pub trait Store: Send + Sync {
    /// Begins a unit of work.
    ///
    /// # Errors
    /// The store can't be reached or has no unit of work to spare.
    async fn begin(&self, mode: Mode) -> Result<Box<dyn Unit>>;
}

/// A unit of work. Dropping it gives up what it wrote.
#[async_trait]
pub trait Unit: Send + Sync {
    /// Makes what was written durable and visible.
    ///
    /// # Errors
    /// Nothing was written or, if the code of the error is [`OUTCOME_UNKNOWN`](crate::OUTCOME_UNKNOWN), nobody knows
    /// whether it was. A transient error says that the same work may succeed when it is run again.
    async fn commit(self: Box<Self>) -> Result<()>;

    /// Whether it sees what others wrote that is not durable yet. Then nothing of it may be told, not even that it is
    /// refused, before it has [ended](Self::end).
    fn is_joined(&self) -> bool {
        false
    }

    /// Ends it. `is_awaited` says whether somebody waits to write who may go on with its transaction.
    ///
    /// # Errors
    /// Those of [`commit`](Self::commit). What is given up fails with a transient error, if what it rests on was not
    /// kept.
    async fn end(self: Box<Self>, end: End, _is_awaited: bool) -> Result<Ended> {
        if end == End::Keep {
            self.commit().await?;
        }
        Ok(Ended::Now)
    }

    /// The store's own type, for providers that know it.
    fn as_any(&self) -> &dyn Any;
}

/// A store of nothing, for services whose providers keep their data elsewhere.
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

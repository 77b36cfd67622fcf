//! The seam to a store: units of work that are committed as a whole or not at all.

use std::any::Any;

use async_trait::async_trait;

use crate::error::Result;

/// Whether a unit of work may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It only reads; the store gives it no way to write.
    Read,
    /// It writes, in one transaction.
    Write,
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

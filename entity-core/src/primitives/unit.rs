//! The interface to a store: units of work that are committed as a whole or not at all.

use std::any::Any;

use async_trait::async_trait;

use crate::primitives::error::Result;

/// The way in which a unit of work uses the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The unit of work only reads; the store gives it no way to write.
    Read,
    /// The unit of work writes, in a transaction of its own.
    Write,
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

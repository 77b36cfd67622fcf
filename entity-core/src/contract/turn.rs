//! The write queue, for stores in which only one unit of work can write at a time.

use std::fmt;

use async_trait::async_trait;

use crate::contract::origin::Origin;
use crate::primitives::error::Result;

/// A queue that gives the permit to write to one unit of work after the other.
#[async_trait]
pub trait WriteQueue: Send + Sync {
    /// Waits until the sender of `origin` has the turn to write. `shares` says whether the unit of work may continue
    /// the transaction of the one before it.
    ///
    /// # Errors
    /// Returns an error if the turn will never come.
    async fn wait(&self, origin: &Origin, shares: bool) -> Result<Turn>;
}

/// The permit to write, which tells its holder about itself and about those who wait.
pub trait WritePermit: Send + Sync {
    /// Returns whether the holder should share a transaction with others. One that often takes long should not, because
    /// it would keep the others waiting.
    fn is_shared(&self) -> bool;

    /// Returns whether another unit of work waits that is next in line and may share the transaction.
    fn is_awaited(&self) -> bool;

    /// Notes that the work is done. The time that follows is that of the store, such as the sync of a disk.
    fn rest(&mut self);
}

/// The turn of a unit of work to write: its permit, which is given back when this value is dropped.
pub struct Turn(Option<Box<dyn WritePermit>>);

impl Turn {
    /// Creates a turn that holds `permit`, which is given back when it is dropped.
    pub fn of(permit: impl WritePermit + 'static) -> Self {
        Self(Some(Box::new(permit)))
    }

    /// Creates a turn for a store in which everybody may write at once.
    pub(crate) fn free() -> Self {
        Self(None)
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.0.as_ref().is_some_and(|it| it.is_shared())
    }

    pub(crate) fn is_awaited(&self) -> bool {
        self.0.as_ref().is_some_and(|it| it.is_awaited())
    }

    pub(crate) fn rest(&mut self) {
        if let Some(permit) = &mut self.0 {
            permit.rest();
        }
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_taken = self.0.is_some();
        f.debug_struct("Turn").field("is_taken", &is_taken).finish()
    }
}

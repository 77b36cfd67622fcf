//! Whose turn it is to write, where one unit of work can write at a time.

use std::fmt;

use async_trait::async_trait;

use crate::error::Result;
use crate::request::Origin;

/// Gives the right to write to one unit of work after the other.
#[async_trait]
pub trait Turns: Send + Sync {
    /// Waits until it is the turn of whoever `origin` names. `shares` says whether they may go on with the transaction of
    /// the one before them.
    ///
    /// # Errors
    /// It will never be.
    async fn wait(&self, origin: &Origin, shares: bool) -> Result<Turn>;
}

/// What its holder can learn from the right to write.
pub trait Right: Send + Sync {
    /// Whether its holder is to share a transaction with others: who often takes long would keep them waiting.
    fn is_shared(&self) -> bool;

    /// Whether somebody waits for it who shares.
    fn is_awaited(&self) -> bool;

    /// The work is done; what follows is the store's, such as the sync of a disk.
    fn rest(&mut self);
}

/// The right to write. It is given back when this is dropped.
pub struct Turn(Option<Box<dyn Right>>);

impl Turn {
    /// The right that is given back when `right` is dropped.
    pub fn of(right: impl Right + 'static) -> Self {
        Self(Some(Box::new(right)))
    }

    /// Where everybody may write at once.
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
        if let Some(right) = &mut self.0 {
            right.rest();
        }
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_taken = self.0.is_some();
        f.debug_struct("Turn").field("is_taken", &is_taken).finish()
    }
}

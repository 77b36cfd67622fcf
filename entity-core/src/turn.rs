//! Whose turn it is to write, where one unit of work can write at a time.

use std::any::Any;
use std::fmt;

use async_trait::async_trait;

use crate::error::Result;
use crate::request::Origin;

/// Gives the right to write to one unit of work after the other.
#[async_trait]
pub trait Turns: Send + Sync {
    /// Waits until it is the turn of whoever `origin` names.
    ///
    /// # Errors
    /// It will never be.
    async fn wait(&self, origin: &Origin) -> Result<Turn>;
}

/// The right to write. It is given back when this is dropped.
pub struct Turn(Option<Box<dyn Any + Send + Sync>>);

impl Turn {
    /// The right that is given back when `guard` is dropped.
    pub fn of(guard: impl Any + Send + Sync) -> Self {
        Self(Some(Box::new(guard)))
    }

    /// Where everybody may write at once.
    pub(crate) fn free() -> Self {
        Self(None)
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_taken = self.0.is_some();
        f.debug_struct("Turn").field("is_taken", &is_taken).finish()
    }
}

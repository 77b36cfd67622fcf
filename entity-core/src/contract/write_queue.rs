//! The write queue, for stores in which only one unit of work can write at a time.

use async_trait::async_trait;

use crate::contract::origin::Origin;
use crate::primitives::error::Result;

/// A queue that gives the permit to write to one unit of work after the other.
#[async_trait]
pub trait WriteQueue: Send + Sync {
    /// Waits until the sender of `origin` may write. `is_batch` says whether several requests will be carried out, which
    /// is expected to take long.
    ///
    /// # Errors
    /// Returns an error if the permit will never come.
    async fn wait(&self, origin: &Origin, is_batch: bool) -> Result<WritePermit>;
}

/// The permit of a unit of work to write. It is given back when this value is dropped.
#[derive(derive_more::Debug)]
pub struct WritePermit {
    #[debug(skip)]
    _held: Option<Box<dyn Send + Sync>>,
}

impl WritePermit {
    /// Creates a permit that is given back by dropping `guard`.
    pub fn of(guard: impl Send + Sync + 'static) -> Self {
        Self {
            _held: Some(Box::new(guard)),
        }
    }

    /// Creates a permit for a store in which everybody may write at once.
    pub(crate) fn free() -> Self {
        Self { _held: None }
    }
}

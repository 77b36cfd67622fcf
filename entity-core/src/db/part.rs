//! A transaction that several units of work share: each has its part, and all become durable together.
//!
//! Who makes the whole, and when it is committed, is a matter of the service.

use async_trait::async_trait;
use sea_orm::DatabaseTransaction;

use crate::error::Result;

/// What one unit of work does in a transaction of several. Dropping it gives up this part and no other.
#[derive(Debug)]
pub struct Part {
    // Dropped first: the whole must not go on before the part is given up.
    pub(super) transaction: DatabaseTransaction,
    whole: Box<dyn Whole>,
}

/// The transaction that a part belongs to. Whoever holds it is the only one who writes in it.
#[async_trait]
pub trait Whole: std::fmt::Debug + Send + Sync {
    /// Adds `part`, lets others go on, and waits until it is durable.
    ///
    /// # Errors
    /// It could not be added, or the whole can't be committed: nothing was written.
    async fn add(self: Box<Self>, part: DatabaseTransaction) -> Result<()>;
}

impl Part {
    /// A part of `whole` that is written through `transaction`: the transaction itself, or a savepoint in it.
    pub fn new(transaction: DatabaseTransaction, whole: Box<dyn Whole>) -> Self {
        Self { transaction, whole }
    }

    pub(super) async fn commit(self) -> Result<()> {
        let Self { transaction, whole } = self;
        whole.add(transaction).await
    }
}

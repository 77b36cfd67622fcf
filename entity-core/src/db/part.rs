//! A transaction that several units of work share: each has its part, and all become durable together.
//!
//! A part is a savepoint. Who makes the whole, and when it is committed, is a matter of the service.

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
    /// Lets others go on, and waits until what was `added` is durable.
    ///
    /// # Errors
    /// It could not be added, or the whole can't be committed: nothing was written.
    async fn settle(self: Box<Self>, added: Result<()>) -> Result<()>;
}

impl Part {
    /// The part of `whole` that was begun with `transaction`, a savepoint.
    pub fn new(transaction: DatabaseTransaction, whole: Box<dyn Whole>) -> Self {
        Self { transaction, whole }
    }

    pub(super) async fn commit(self) -> Result<()> {
        let Self { transaction, whole } = self;
        let added = transaction.commit().await.map_err(Into::into);
        whole.settle(added).await
    }
}

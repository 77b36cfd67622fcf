//! The cache of a transaction: values that it has read, for as long as it changes and locks nothing.
//!
//! The permission to read is asked for each entity of an answer. A transaction sees its own writes, so that it may not
//! use what others have read before; but between two writes it need not read the same again for each entity.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::session::Session;
use crate::primitives::error::Result;

type Values = HashMap<(TypeId, Box<str>), Arc<dyn Any + Send + Sync>>;

/// The values that one transaction has read since it last changed or locked something.
#[derive(Debug, Default)]
pub(super) struct TransactionCache(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    values: Values,
    /// The number of statements so far after which nothing that was read before counts.
    changes: u64,
}

impl TransactionCache {
    /// Notes that `sql` is run.
    pub(super) fn see(&self, sql: &str) {
        // A lock waits for others, who may have changed what was read.
        let only_reads = sql.starts_with("SELECT ") && !sql.contains(" FOR ");
        if !only_reads {
            let mut state = self.0.lock();
            state.values.clear();
            state.changes = state.changes.saturating_add(1);
        }
    }

    async fn load<T: Send + Sync + 'static>(
        &self,
        name: &str,
        load: impl Future<Output = Result<Arc<T>>>,
    ) -> Result<Arc<T>> {
        let key = (TypeId::of::<T>(), Box::from(name));
        let (found, before) = {
            let state = self.0.lock();
            (state.values.get(&key).cloned(), state.changes)
        };
        if let Some(value) = found.and_then(|it| it.downcast().ok()) {
            return Ok(value);
        }
        let value = load.await?;
        let any: Arc<dyn Any + Send + Sync> = Arc::<T>::clone(&value);
        let mut state = self.0.lock();
        if state.changes == before {
            state.values.insert(key, any);
        }
        Ok(value)
    }
}

impl Session {
    /// Returns what `load` reads or, in a transaction, what it has read under this `name` since the last statement that
    /// changed or locked something. There is one value for each name and type.
    ///
    /// # Errors
    /// Fails as `load` does.
    pub async fn cached<T: Send + Sync + 'static>(
        &self,
        name: &str,
        load: impl Future<Output = Result<Arc<T>>>,
    ) -> Result<Arc<T>> {
        match self {
            Self::Reader(_) => load.await,
            Self::Writer(transaction) => transaction.cache.load(name, load).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_was_read_counts_until_something_is_written_or_locked() {
        let cache = TransactionCache::default();
        let read = async |name: &str, value: u32| {
            *cache
                .load(name, async { Ok(Arc::new(value)) })
                .await
                .unwrap()
        };
        assert_eq!(read("one", 1).await, 1);
        cache.see("SELECT 1 FROM site");
        assert_eq!((read("one", 2).await, read("other", 3).await), (1, 3));
        for (value, sql) in (4..).zip([
            "UPDATE site SET title = 'x'",
            "SELECT id FROM site FOR UPDATE",
            "WITH gone AS (DELETE FROM site RETURNING id) SELECT id FROM gone",
            "ROLLBACK TO unit",
        ]) {
            cache.see(sql);
            assert_eq!(read("one", value).await, value, "{sql}");
        }
        let meanwhile = cache.load("two", async {
            cache.see("DELETE FROM site");
            Ok(Arc::new(1_u32))
        });
        assert_eq!(*meanwhile.await.unwrap(), 1);
        assert_eq!(read("two", 2).await, 2);
    }
}

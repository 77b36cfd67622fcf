//! A cache of values that are loaded once, however many ask, and kept until their data changes.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use entity_core::Result;
use futures::lock::Mutex;
use quick_cache::sync::Cache;

/// The time for which a value is kept at most. Changes are noticed at once or, those of other machines, by the epoch;
/// this is for what somebody changes in the database by hand.
const MOST_AGE: Duration = Duration::from_secs(30);
/// The number of locks among which the names of loaded values are spread.
const LOCKS: usize = 64;

/// Values of one kind, by name.
#[derive(derive_more::Debug)]
#[debug("LoadingCache({})", self.values.len())]
pub(super) struct LoadingCache<T: Send + Sync + 'static> {
    values: Cache<Box<str>, Value<T>>,
    generation: AtomicU64,
    /// The locks under which values are loaded, so that a hundred requests that lack a value load it once.
    locks: [Mutex<()>; LOCKS],
    hasher: RandomState,
}

struct Value<T> {
    content: Arc<T>,
    generation: u64,
    since: Instant,
}

/// The ticket that a loader takes before it reads: what it then puts back counts only if nothing was forgotten since.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket(u64);

impl<T: Send + Sync + 'static> LoadingCache<T> {
    pub(super) fn new(most: usize) -> Self {
        Self {
            values: Cache::new(most),
            generation: AtomicU64::new(0),
            locks: std::array::from_fn(|_| Mutex::new(())),
            hasher: RandomState::new(),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<Arc<T>> {
        let value = self.values.get(name)?;
        let is_current = value.generation == self.generation.load(Ordering::Acquire);
        (is_current && value.since.elapsed() < MOST_AGE).then_some(value.content)
    }

    /// Returns the value that is kept under `name`, or else the one that `load` reads, which is then kept.
    pub(super) async fn load(
        &self,
        name: &str,
        load: impl Future<Output = Result<Arc<T>>>,
    ) -> Result<Arc<T>> {
        let _loading = self.lock(name).lock().await;
        if let Some(value) = self.get(name) {
            return Ok(value);
        }
        let ticket = self.ticket();
        let value = load.await?;
        self.put(ticket, name, &value);
        Ok(value)
    }

    pub(super) fn ticket(&self) -> Ticket {
        Ticket(self.generation.load(Ordering::Acquire))
    }

    /// Keeps what was read after `ticket` was taken.
    pub(super) fn put(&self, ticket: Ticket, name: &str, value: &Arc<T>) {
        let value = Value {
            content: Arc::clone(value),
            generation: ticket.0,
            since: Instant::now(),
        };
        self.values.insert(name.into(), value);
    }

    /// Makes everything unusable that was read before, or is being read.
    pub(super) fn forget(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    fn lock(&self, name: &str) -> &Mutex<()> {
        let [first, ..] = &self.locks;
        let hash = usize::try_from(self.hasher.hash_one(name) >> 32).unwrap_or_default();
        self.locks.get(hash % LOCKS).unwrap_or(first)
    }
}

impl<T> Clone for Value<T> {
    fn clone(&self) -> Self {
        Self {
            content: Arc::clone(&self.content),
            generation: self.generation,
            since: self.since,
        }
    }
}

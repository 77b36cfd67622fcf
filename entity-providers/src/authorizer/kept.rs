//! Values kept in memory for a moment, unless somebody changed what they were made of.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chrono::{DateTime, TimeDelta, Utc};
use entity_core::Context;
use moka::sync::Cache;

/// How long a value is used. Some are made of others that were kept as well, and both together must let
/// another machine's change go unnoticed for a second at most.
const MOST_AGE: TimeDelta = TimeDelta::milliseconds(500);

/// Values of one kind, by name.
pub(super) struct Kept<T: Send + Sync + 'static> {
    values: Cache<Box<str>, Value<T>>,
    generation: AtomicU64,
}

struct Value<T> {
    content: Arc<T>,
    generation: u64,
    loaded: DateTime<Utc>,
}

/// What a loader takes before it reads: what it then puts back counts only if nothing was forgotten since.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket(u64);

impl<T: Send + Sync + 'static> Kept<T> {
    pub(super) fn new(most: u64) -> Self {
        Self {
            values: Cache::new(most),
            generation: AtomicU64::new(0),
        }
    }

    pub(super) fn get(&self, cx: &Context, name: &str) -> Option<Arc<T>> {
        let value = self.values.get(name)?;
        let is_young = (cx.now() - value.loaded).abs() < MOST_AGE;
        let is_current = value.generation == self.generation.load(Ordering::Acquire);
        (is_young && is_current).then_some(value.content)
    }

    pub(super) fn ticket(&self) -> Ticket {
        Ticket(self.generation.load(Ordering::Acquire))
    }

    /// Keeps what was read after `ticket` was taken, unless it was read within a unit of work that writes.
    pub(super) fn put(&self, cx: &Context, ticket: Ticket, name: &str, value: &Arc<T>) {
        if super::cached(cx).unwrap_or(false) {
            self.put_unchanging(cx, ticket, name, value);
        }
    }

    /// Keeps what was read after `ticket` was taken and no unit of work changes.
    pub(super) fn put_unchanging(&self, cx: &Context, ticket: Ticket, name: &str, value: &Arc<T>) {
        let value = Value {
            content: Arc::clone(value),
            generation: ticket.0,
            loaded: cx.now(),
        };
        self.values.insert(name.into(), value);
    }

    /// Makes everything unusable that was read before, or is being read.
    pub(super) fn forget(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }
}

impl<T> Clone for Value<T> {
    fn clone(&self) -> Self {
        Self {
            content: Arc::clone(&self.content),
            ..*self
        }
    }
}

impl<T: Send + Sync + 'static> fmt::Debug for Kept<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kept({})", self.values.entry_count())
    }
}

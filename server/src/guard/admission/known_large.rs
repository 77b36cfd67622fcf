//! Addresses that are known to be answered at length: where there is no room for that, the request is refused before anything is read for it.
//! Whoever asks on and on would otherwise cost as much by what is refused as by what is answered.

use std::sync::Arc;
use std::time::{Duration, Instant};

use quick_cache::sync::Cache;

/// The number of questions that are remembered at most.
const REMEMBERED: usize = 10_000;
/// For how long: what was long may be short by then.
const LIFE: Duration = Duration::from_mins(1);

/// The client and the query, as hashes.
pub(crate) type QueryFingerprint = (u64, u64);

/// The questions whose answers are large, and since when that is known. All clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct KnownLarge(Arc<Cache<QueryFingerprint, Instant>>);

impl KnownLarge {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Cache::new(REMEMBERED)))
    }

    /// Notes that the answer to `question` is large.
    pub(crate) fn note(&self, question: QueryFingerprint, now: Instant) {
        self.0.insert(question, now);
    }

    /// Returns whether the answer to `question` was large a short time ago.
    pub(crate) fn is_large(&self, question: QueryFingerprint, now: Instant) -> bool {
        let since = self.0.get(&question);
        let is_large = since.is_some_and(|it| now.saturating_duration_since(it) < LIFE);
        if since.is_some() && !is_large {
            self.0.remove(&question);
        }
        is_large
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_large_is_forgotten_after_a_while() {
        let (known, now) = (KnownLarge::new(), Instant::now());
        assert!(!known.is_large((1, 1), now));
        known.note((1, 1), now);
        assert!(known.is_large((1, 1), now + LIFE / 2));
        assert!(!known.is_large((1, 2), now) && !known.is_large((2, 1), now));
        assert!(!known.is_large((1, 1), now + LIFE));
        assert!(!known.is_large((1, 1), now));
    }
}

//! How often a private feed may be read, or something else used that has a name: whoever asks without a pause has to
//! wait.
//!
//! It is counted in memory, by each machine for itself: what is limited is work, and not access.

use std::hash::{BuildHasher as _, RandomState};

use chrono::{DateTime, TimeDelta, Utc};
use entity_core::{Error, Result};
use quick_cache::sync::{Cache, EntryAction, EntryResult};

/// How many feeds are counted at a time.
const COUNTED: usize = 20_000;

/// What was read of late.
pub(crate) struct Pace {
    /// Until when each feed is paid for, in milliseconds since 1970: every reading costs one interval.
    paid: Cache<u64, i64>,
    hasher: RandomState,
    interval: i64,
    /// How far that may lie in the future, in milliseconds.
    patience: i64,
}

impl Pace {
    /// `burst` readings at once, and one more in each `interval` from then on.
    pub(crate) fn new(burst: usize, interval: TimeDelta) -> Self {
        let interval = interval.num_milliseconds().max(1);
        let burst = i64::try_from(burst.max(1)).unwrap_or(i64::MAX);
        Self {
            paid: Cache::new(COUNTED),
            hasher: RandomState::new(),
            interval,
            patience: burst.saturating_mul(interval),
        }
    }

    /// Counts one reading of `feed`.
    ///
    /// # Errors
    /// It is one too many; the error says for how many seconds.
    pub(crate) fn ask(&self, feed: &str, now: DateTime<Utc>) -> Result<()> {
        self.wait(feed, now)
            .map_or(Ok(()), |seconds| Err(too_often(seconds)))
    }

    /// Counts one use of what is called `name`; answers for how many seconds one has to wait if it is one too many.
    pub(crate) fn wait(&self, name: &str, now: DateTime<Utc>) -> Option<u32> {
        let now = now.timestamp_millis();
        let key = self.hasher.hash_one(name);
        let seen = self.paid.entry(&key, None, |_key, paid: &mut i64| {
            let next = now.max(*paid).saturating_add(self.interval);
            let wait = next.saturating_sub(now).saturating_sub(self.patience);
            if wait <= 0 {
                *paid = next;
            }
            EntryAction::Retain(wait)
        });
        match seen {
            EntryResult::Retained(wait) if wait > 0 => Some(seconds(wait)),
            EntryResult::Vacant(place) => {
                // Somebody else cleared the cache meanwhile: nothing is counted, which harms nobody.
                let _kept = place.insert(now.saturating_add(self.interval));
                None
            }
            _ => None,
        }
    }
}

fn seconds(millis: i64) -> u32 {
    let seconds = u64::try_from(millis).unwrap_or_default().div_ceil(1000);
    u32::try_from(seconds).unwrap_or(u32::MAX)
}

fn too_often(seconds: u32) -> Error {
    Error::too_many_requests(
        format!(
            "this feed was read too often: wait {seconds} seconds, and send its `ETag` when you ask again"
        ),
        seconds,
    )
}

#[cfg(test)]
mod tests {
    use entity_core::ErrorKind;

    use super::*;

    #[test]
    fn a_feed_is_read_at_once_as_often_as_its_burst_and_then_once_in_each_interval() {
        let start = DateTime::from_timestamp(1_796_436_929, 0).unwrap();
        let pace = Pace::new(3, TimeDelta::seconds(10));
        // Milliseconds since the start, and for how many seconds one has to wait then.
        for (millis, expected) in [
            (0, None),
            (0, None),
            (1, None),
            (2, Some(10)),
            (9_000, Some(1)),
            (10_000, None),
            (10_001, Some(10)),
            (30_000, None),
            (30_000, None),
            (30_000, Some(10)),
            (90_000, None),
            (90_000, None),
            (90_000, None),
            (90_000, Some(10)),
        ] {
            let answer = pace.ask("a", start + TimeDelta::milliseconds(millis));
            let told = answer.err();
            assert_eq!(
                told.as_ref().and_then(Error::retry_after),
                expected,
                "{millis}"
            );
            assert!(told.is_none_or(|it| it.kind() == ErrorKind::TooManyRequests));
        }
        assert!(
            pace.ask("b", start).is_ok(),
            "another feed has a count of its own"
        );
    }
}

//! Token buckets, one for each of many keys: a burst at once, and then one unit in each interval.
//!
//! One instant is kept for each, until when what it used is paid for. It is counted in memory, by each machine for
//! itself: what is limited is work, and not access.

use std::hash::{BuildHasher as _, Hash, RandomState};

use chrono::{DateTime, TimeDelta, Utc};
use quick_cache::sync::{Cache, EntryAction, EntryResult};

/// The number of keys that are counted at a time.
const COUNTED: usize = 50_000;

/// Limits the rate at which each of many keys is used.
#[derive(Debug)]
pub(crate) struct RateLimiter {
    keys: RandomState,
    /// Until when each has paid, in microseconds since 1970.
    paid: Cache<u64, i64>,
    /// The cost of one unit, in microseconds.
    interval: i64,
    /// The most that somebody may be ahead, in microseconds.
    patience: i64,
}

/// The state of a bucket after something was asked of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    /// The time that it takes until there is enough of it; nothing if it was granted.
    pub(crate) wait: TimeDelta,
    /// The number of units that are left.
    pub(crate) left: i64,
    /// The time that it takes until all of them are there again.
    pub(crate) until_full: TimeDelta,
}

impl Taken {
    /// Returns whether it was granted.
    pub(crate) fn is_granted(&self) -> bool {
        self.wait <= TimeDelta::zero()
    }
}

impl RateLimiter {
    /// `burst` units at once, and one more in each `interval` from then on.
    pub(crate) fn new(burst: usize, interval: TimeDelta) -> Self {
        let interval = interval.num_microseconds().unwrap_or(i64::MAX).max(1);
        let burst = i64::try_from(burst.max(1)).unwrap_or(i64::MAX);
        Self {
            keys: RandomState::new(),
            paid: Cache::new(COUNTED),
            interval,
            patience: burst.saturating_mul(interval),
        }
    }

    /// Takes one unit for `key`.
    ///
    /// # Errors
    /// There is none; the error is the number of seconds to wait.
    pub(crate) fn ask(&self, key: impl Hash, now: DateTime<Utc>) -> Result<(), u32> {
        let taken = self.take(key, 1, now);
        match taken.is_granted() {
            true => Ok(()),
            false => Err(seconds(taken.wait)),
        }
    }

    /// Takes `units` for `key`, all or none.
    pub(crate) fn take(&self, key: impl Hash, units: usize, now: DateTime<Utc>) -> Taken {
        let key = self.keys.hash_one(key);
        let now = now.timestamp_micros();
        let cost = i64::try_from(units)
            .unwrap_or(i64::MAX)
            .saturating_mul(self.interval);
        let seen = self.paid.entry(&key, None, |_key, paid: &mut i64| {
            // A clock that was set back makes nobody wait longer than for a whole burst.
            let before = (*paid).clamp(now, now.saturating_add(self.patience));
            let next = before.saturating_add(cost);
            let is_granted = next.saturating_sub(now) <= self.patience;
            *paid = if is_granted { next } else { before };
            EntryAction::Retain((next, is_granted))
        });
        let (next, is_granted) = match seen {
            EntryResult::Retained(known) => known,
            EntryResult::Vacant(place) => {
                let next = now.saturating_add(cost);
                let is_granted = cost <= self.patience;
                // Somebody else cleared the cache meanwhile: nothing is counted, which harms nobody.
                let _kept = place.insert(if is_granted { next } else { now });
                (next, is_granted)
            }
            _ => (now, true),
        };
        let ahead = next.saturating_sub(now);
        let beyond = ahead.saturating_sub(self.patience);
        let used = if is_granted { ahead } else { ahead - cost };
        Taken {
            wait: TimeDelta::microseconds(if is_granted { 0 } else { beyond }),
            left: (self.patience - used) / self.interval,
            until_full: TimeDelta::microseconds(used),
        }
    }
}

/// The whole seconds after which a wait is over.
pub(crate) fn seconds(wait: TimeDelta) -> u32 {
    let micros = u64::try_from(wait.num_microseconds().unwrap_or(i64::MAX)).unwrap_or_default();
    u32::try_from(micros.div_ceil(1_000_000)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> DateTime<Utc> {
        DateTime::from_timestamp(1_796_436_929, 0).unwrap()
    }

    #[test]
    fn a_burst_and_then_one_in_each_interval() {
        let limiter = RateLimiter::new(3, TimeDelta::milliseconds(50));
        let at = |millis| start() + TimeDelta::milliseconds(millis);
        for (millis, units, wait, left) in [
            (0, 1, 0, 2),
            (0, 2, 0, 0),
            (0, 1, 50, 0),
            (10, 1, 40, 0),
            (50, 1, 0, 0),
            (100, 2, 50, 1),
            (150, 2, 0, 0),
            (1_000, 3, 0, 0),
        ] {
            let taken = limiter.take(1, units, at(millis));
            let told = (taken.wait, taken.left);
            assert_eq!(told, (TimeDelta::milliseconds(wait), left), "{millis}");
        }
        assert!(limiter.take(2, 3, at(1_000)).is_granted(), "another key");
        assert!(!limiter.take(3, 4, at(0)).is_granted(), "more than a burst");
    }

    #[test]
    fn a_clock_that_is_set_back_makes_nobody_wait_for_long() {
        let limiter = RateLimiter::new(3, TimeDelta::seconds(1));
        assert!(limiter.take(1, 3, start()).is_granted());
        let back = start() - TimeDelta::hours(1);
        let wait = limiter.take(1, 1, back).wait;
        assert!(wait <= TimeDelta::seconds(1), "{wait}");
    }

    #[test]
    fn one_who_asks_is_told_the_seconds_to_wait() {
        let limiter = RateLimiter::new(3, TimeDelta::seconds(10));
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
            let answer = limiter.ask("a", start() + TimeDelta::milliseconds(millis));
            assert_eq!(answer.err(), expected, "{millis}");
        }
        assert_eq!(limiter.ask("b", start()), Ok(()), "another key");
    }
}

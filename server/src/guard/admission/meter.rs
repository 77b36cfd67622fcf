//! A token bucket for each of many: a burst at once, and then one unit in each interval.
//!
//! One instant is kept for each, until when what it used is paid for. It is counted in memory, by each machine for
//! itself: what is limited is work, and not access.

use chrono::{DateTime, TimeDelta, Utc};
use quick_cache::sync::{Cache, EntryAction, EntryResult};

/// Counts what many use.
#[derive(Debug)]
pub(crate) struct Meter {
    /// Until when each has paid, in microseconds since 1970.
    paid: Cache<u64, i64>,
    /// What one unit costs, in microseconds.
    interval: i64,
    /// How far somebody may be ahead, in microseconds.
    patience: i64,
}

/// What came of asking for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    /// The time that it takes until there is enough of it; nothing if it was granted.
    pub(crate) wait: TimeDelta,
    /// The number of units that are left.
    pub(crate) left: i64,
    /// The time that it takes until all of them are there again.
    pub(crate) until_full: TimeDelta,
}

impl Reading {
    /// Returns whether it was granted.
    pub(crate) fn is_granted(&self) -> bool {
        self.wait <= TimeDelta::zero()
    }
}

impl Meter {
    /// `burst` units at once, and one more in each `interval` from then on, for at most `counted` keys at a time.
    pub(crate) fn new(burst: usize, interval: TimeDelta, counted: usize) -> Self {
        let interval = interval.num_microseconds().unwrap_or(i64::MAX).max(1);
        let burst = i64::try_from(burst.max(1)).unwrap_or(i64::MAX);
        Self {
            paid: Cache::new(counted),
            interval,
            patience: burst.saturating_mul(interval),
        }
    }

    /// Takes `units` for `key`, all or none.
    pub(crate) fn take(&self, key: u64, units: usize, now: DateTime<Utc>) -> Reading {
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
        Reading {
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
        let meter = Meter::new(3, TimeDelta::milliseconds(50), 100);
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
            let reading = meter.take(1, units, at(millis));
            let told = (reading.wait, reading.left);
            assert_eq!(told, (TimeDelta::milliseconds(wait), left), "{millis}");
        }
        assert!(meter.take(2, 3, at(1_000)).is_granted(), "another key");
        assert!(!meter.take(3, 4, at(0)).is_granted(), "more than a burst");
    }

    #[test]
    fn a_clock_that_is_set_back_makes_nobody_wait_for_long() {
        let meter = Meter::new(3, TimeDelta::seconds(1), 100);
        assert!(meter.take(1, 3, start()).is_granted());
        let back = start() - TimeDelta::hours(1);
        let wait = meter.take(1, 1, back).wait;
        assert!(wait <= TimeDelta::seconds(1), "{wait}");
    }
}

//! The rate limit of a private feed, or of something else that has a name: whoever asks without a pause has to
//! wait.
//!
//! It is counted in memory, by each machine for itself: what is limited is work, and not access.

use std::hash::{BuildHasher as _, RandomState};

use chrono::{DateTime, TimeDelta, Utc};
use entity_core::{Error, Result};

use crate::guard::admission::{Meter, seconds};

/// The number of feeds that are counted at a time.
const COUNTED: usize = 20_000;

/// What was read of late.
#[derive(Debug)]
pub(crate) struct Pace {
    meter: Meter,
    hasher: RandomState,
}

impl Pace {
    /// `burst` readings at once, and one more in each `interval` from then on.
    pub(crate) fn new(burst: usize, interval: TimeDelta) -> Self {
        Self {
            meter: Meter::new(burst, interval, COUNTED),
            hasher: RandomState::new(),
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
        let reading = self.meter.take(self.hasher.hash_one(name), 1, now);
        match reading.is_granted() {
            true => None,
            false => Some(seconds(reading.wait)),
        }
    }
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

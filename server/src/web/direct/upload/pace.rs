//! The minimum speed of a client that sends: no pause is too long, and on average no less comes than a slow line carries.
//! The longer it lasts, the faster a slow line must be, so that nobody holds a place for hours.

use std::time::Duration;

use entity_core::{Error, Result};
use tokio::time::{Instant, timeout};

/// The pace of one body. Only the time counts during which the service waits for the client.
#[derive(Debug)]
pub(super) struct Pace {
    /// The longest pause, and the time after which the average counts.
    patience: Duration,
    /// The fewest bytes in a second.
    rate: u64,
    waited: Duration,
    /// All that was waited.
    lasted: Duration,
    bytes: u64,
}

/// The time in which the rate doubles that is demanded.
const DOUBLED: Duration = Duration::from_mins(15);

impl Pace {
    pub(super) fn new(patience: Duration, rate: u64) -> Self {
        Self {
            patience,
            rate,
            waited: Duration::ZERO,
            lasted: Duration::ZERO,
            bytes: 0,
        }
    }

    /// Waits for the next bytes of the client.
    pub(super) async fn during<T>(&mut self, next: impl Future<Output = T>) -> Result<T> {
        let since = Instant::now();
        let done = timeout(self.patience, next).await;
        self.waited += since.elapsed();
        self.lasted += since.elapsed();
        done.map_err(|elapsed| too_slow().with_source(elapsed))
    }

    /// Counts bytes that came.
    ///
    /// # Errors
    /// Returns an error if they are too few for the time that they took.
    pub(super) fn note(&mut self, bytes: usize) -> Result<()> {
        self.bytes = self
            .bytes
            .saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
        if self.waited <= self.patience {
            return Ok(());
        }
        let millis = u64::try_from(self.waited.as_millis()).unwrap_or(u64::MAX);
        let times = u32::try_from(self.lasted.as_secs() / DOUBLED.as_secs()).unwrap_or(u32::MAX);
        let rate = self.rate.saturating_mul(2_u64.saturating_pow(times));
        let enough = rate.saturating_mul(millis) / 1_000;
        // What came counts for this stretch only, so that nobody sends fast at first and then holds a place for ever.
        match self.bytes >= enough {
            true => {
                (self.waited, self.bytes) = (Duration::ZERO, 0);
                Ok(())
            }
            false => Err(too_slow()),
        }
    }
}

fn too_slow() -> Error {
    Error::bad_request("the file came too slowly: send it over a faster line")
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    #[tokio::test]
    async fn dos_3_a_client_keeps_a_pace_and_makes_no_long_pause() {
        let step = Duration::from_millis(20);
        // Somebody else may have the processor meanwhile: what is enough is many times as much.
        let mut pace = Pace::new(10 * step, 100);
        for _ in 0..20 {
            pace.during(tokio::time::sleep(step)).await.unwrap();
            pace.note(1_000).unwrap();
        }
        let mut slow = Pace::new(10 * step, 10_000);
        let mut sent = 0;
        while slow.during(tokio::time::sleep(step)).await.is_ok() && slow.note(10).is_ok() {
            sent += 1;
        }
        assert!(sent <= 10, "{sent}");
        let mut silent = Pace::new(step, 1);
        assert!(silent.during(pending::<()>()).await.is_err());
    }

    #[test]
    fn y65_the_rate_that_is_demanded_doubles_each_quarter_of_an_hour() {
        let second = Duration::from_secs(1);
        // Minutes since the beginning, and the fewest bytes that a second must bring then.
        for (minutes, enough) in [
            (0, 100),
            (14, 100),
            (15, 200),
            (29, 200),
            (30, 400),
            (600, 100 << 40),
        ] {
            for (bytes, is_enough) in [(enough, true), (enough - 1, false)] {
                let mut pace = Pace::new(Duration::ZERO, 100);
                (pace.waited, pace.lasted) = (second, Duration::from_mins(minutes));
                assert_eq!(pace.note(bytes).is_ok(), is_enough, "{minutes} {bytes}");
            }
        }
    }
}

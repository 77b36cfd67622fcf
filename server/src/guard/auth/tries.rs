//! Counts the tries of one account that would tell it something if it could go on without end.
//!
//! It is counted in memory, by each machine for itself, so that what is given up counts as well.

use chrono::{DateTime, TimeDelta, Utc};
use entity_core::{Error, Result};
use entity_providers::people::user::{Guess, Tries};

use crate::guard::rate_limiter::RateLimiter;

/// Tries at once.
const BURST: usize = 10;
/// The time that it takes until there is one more.
const INTERVAL: TimeDelta = TimeDelta::minutes(5);

/// Counts tries by account.
#[derive(Debug)]
pub(crate) struct AttemptLimiter(RateLimiter);

impl Default for AttemptLimiter {
    fn default() -> Self {
        Self(RateLimiter::new(BURST, INTERVAL))
    }
}

impl Tries for AttemptLimiter {
    fn ask(&self, guess: Guess, account: &str, now: DateTime<Utc>) -> Result<()> {
        let (name, what) = match guess {
            Guess::Password => ("password", "the present password was sent"),
            Guess::Address => ("address", "the e-mail address was changed"),
        };
        self.0.ask((name, account), now).map_err(|seconds| {
            let message = format!("{what} too often: wait {seconds} seconds");
            Error::too_many_requests(message, seconds)
        })
    }
}

//! The rate limit of an account or a network, in requests a second, and the header fields that tell it.
//!
//! The fields are those of the draft `draft-ietf-httpapi-ratelimit-headers` as it is since its eighth version:
//! `RateLimit-Policy: "writes";q=200;w=10` and `RateLimit: "writes";r=12;t=1`.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use entity_core::Error;
use http::{HeaderMap, HeaderName, HeaderValue};

use super::meter::{Meter, Reading, seconds};
use crate::base::config::Config;
use crate::base::metrics::Cause;

/// Most requests in one batch.
pub(crate) const MAX_PARTS: usize = 50;

const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const STATE: HeaderName = HeaderName::from_static("ratelimit");
/// How many accounts or networks are counted at a time, for each policy.
const COUNTED: usize = 50_000;

/// What is counted, and how much of it is free.
#[derive(Debug)]
pub(super) struct Policy {
    name: &'static str,
    header: HeaderValue,
    meter: Meter,
    quota: usize,
    cause: Cause,
}

/// The limits that are switched on.
#[derive(Debug)]
pub(super) struct Rates {
    pub(super) reads: Option<Policy>,
    pub(super) writes: Option<Policy>,
    pub(super) strangers: Option<Policy>,
}

/// What is told of a limit that comes near.
#[derive(Debug)]
pub(crate) struct Quota {
    policy: HeaderValue,
    state: HeaderValue,
}

impl Rates {
    pub(super) fn of(config: &Config) -> Self {
        let policy = |name, rate, cause| Policy::new(name, rate, config.rate.burst, cause);
        Self {
            reads: policy("reads", config.rate.reads, Cause::AccountRate),
            writes: policy("writes", config.rate.writes, Cause::AccountRate),
            strangers: policy("strangers", config.rate.strangers, Cause::NetworkRate),
        }
    }
}

impl Policy {
    /// `rate` units in each second, and those of `burst` at once; nothing without a rate.
    fn new(name: &'static str, rate: u32, burst: Duration, cause: Cause) -> Option<Self> {
        let interval = TimeDelta::microseconds(1_000_000_i64.checked_div(rate.into())?);
        // What is allowed at once must be sent somehow: a batch counts as all of its parts.
        let quota = usize::try_from(u64::from(rate).saturating_mul(burst.as_secs()))
            .unwrap_or(usize::MAX)
            .max(MAX_PARTS);
        let window = quota.div_ceil(usize::try_from(rate).unwrap_or(1));
        let header = HeaderValue::try_from(format!("\"{name}\";q={quota};w={window}")).ok()?;
        Some(Self {
            name,
            header,
            meter: Meter::new(quota, interval, COUNTED),
            quota,
            cause,
        })
    }

    /// Takes `units` for `key`.
    ///
    /// # Errors
    /// There are not enough; the error says for how many seconds.
    pub(super) fn take(
        &self,
        key: u64,
        units: usize,
        now: DateTime<Utc>,
    ) -> Result<Option<Quota>, (Error, Quota, Cause)> {
        let reading = self.meter.take(key, units, now);
        let is_near = usize::try_from(reading.left).is_ok_and(|it| it < self.quota / 2);
        if reading.is_granted() {
            return Ok(is_near.then(|| self.quota(reading)));
        }
        let error = Error::too_many_requests(
            match self.cause {
                Cause::NetworkRate => {
                    "your network sends too many requests: log in, or wait and try again"
                }
                _ => "you send too many requests: wait and try again",
            },
            seconds(reading.wait).max(1),
        );
        Err((error, self.quota(reading), self.cause))
    }

    fn quota(&self, reading: Reading) -> Quota {
        let reset = match reading.is_granted() {
            true => reading.until_full,
            false => reading.wait,
        };
        let state = format!(
            "\"{}\";r={};t={}",
            self.name,
            reading.left.max(0),
            seconds(reset)
        );
        Quota {
            policy: self.header.clone(),
            state: HeaderValue::try_from(state)
                .unwrap_or_else(|_| HeaderValue::from_static("\"unknown\";r=0")),
        }
    }
}

impl Quota {
    /// Adds the fields to an answer, unless it tells of a limit already that refused it.
    pub(crate) fn tell(self, headers: &mut HeaderMap) {
        if !headers.contains_key(&POLICY) {
            headers.insert(POLICY, self.policy);
            headers.insert(STATE, self.state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(quota: Quota) -> [String; 2] {
        let mut headers = HeaderMap::new();
        quota.tell(&mut headers);
        [POLICY, STATE].map(|it| headers[it].to_str().unwrap().to_owned())
    }

    #[test]
    fn what_is_left_is_told_when_it_is_little() {
        let burst = Duration::from_secs(10);
        let policy = Policy::new("writes", 20, burst, Cause::AccountRate).unwrap();
        let now = DateTime::UNIX_EPOCH;
        assert!(policy.take(1, 100, now).unwrap().is_none(), "half is left");
        let quota = policy.take(1, 50, now).unwrap().unwrap();
        assert_eq!(
            told(quota),
            ["\"writes\";q=200;w=10", "\"writes\";r=50;t=8"]
        );
        assert!(policy.take(1, 50, now).is_ok());
        let (error, quota, _) = policy.take(1, 1, now).unwrap_err();
        assert_eq!(error.retry_after(), Some(1));
        assert_eq!(told(quota)[1], "\"writes\";r=0;t=1");
    }

    #[test]
    fn a_limit_of_nothing_is_none_and_each_leaves_room_for_a_batch() {
        let burst = Duration::from_secs(10);
        assert!(Policy::new("reads", 0, burst, Cause::AccountRate).is_none());
        let slow = Policy::new("reads", 1, burst, Cause::AccountRate).unwrap();
        assert_eq!(slow.quota, MAX_PARTS);
        assert_eq!(slow.header, "\"reads\";q=50;w=50");
    }
}

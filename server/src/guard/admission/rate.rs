//! The rate limit of an account or a network, in requests a second, and the header fields that tell it.
//!
//! The fields are those of the draft `draft-ietf-httpapi-ratelimit-headers` as it is since its eighth version:
//! `RateLimit-Policy: "writes";q=200;w=10` and `RateLimit: "writes";r=12;t=1`.

use chrono::{DateTime, TimeDelta, Utc};
use entity_core::Error;
use http::{HeaderMap, HeaderName, HeaderValue};

use super::RateLimited;
use crate::base::class::Class;
use crate::base::config::{RATE_LIMITS, RateLimit, RateSettings, RateSubject};
use crate::guard::rate_limiter::{RateLimiter, Taken, seconds};

/// Most requests in one batch.
pub(crate) const MAX_PARTS: usize = 50;

const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const STATE: HeaderName = HeaderName::from_static("ratelimit");

/// The limits that are switched on.
#[derive(Debug)]
pub(super) struct RateLimits(Vec<ActiveLimit>);

/// One of them.
#[derive(Debug)]
struct ActiveLimit {
    limit: &'static RateLimit,
    header: HeaderValue,
    limiter: RateLimiter,
    quota: usize,
}

/// The state of a limit that comes near.
#[derive(Debug)]
pub(crate) struct RateLimitState {
    policy: HeaderValue,
    state: HeaderValue,
}

impl RateLimits {
    pub(super) fn of(settings: &RateSettings) -> Self {
        // Writes are counted before reads: of what is refused for want of them, no reads are taken.
        let limits = RATE_LIMITS.iter().rev();
        Self(
            limits
                .filter_map(|it| ActiveLimit::new(it, settings))
                .collect(),
        )
    }

    /// Takes so many requests of each class for `key`, which is that of a `subject`; answers the state of the limit
    /// that comes near.
    ///
    /// # Errors
    /// There are not enough; the error says for how many seconds.
    pub(super) fn take(
        &self,
        (subject, key): (RateSubject, u64),
        requests: &[(Class, usize)],
        now: DateTime<Utc>,
    ) -> Result<Option<RateLimitState>, RateLimited> {
        let mut near = None;
        for active in self.0.iter().filter(|it| it.limit.subject == subject) {
            let counted = requests.iter().filter(|it| (active.limit.counts)(it.0));
            let units = counted.fold(0_usize, |sum, it| sum.saturating_add(it.1));
            if units > 0 {
                near = near.or(active.take(key, units, now)?);
            }
        }
        Ok(near)
    }
}

impl ActiveLimit {
    /// As many units in each second as the rate says, and those of some seconds at once; nothing without a rate.
    fn new(limit: &'static RateLimit, settings: &RateSettings) -> Option<Self> {
        let rate = (limit.rate)(settings);
        let interval = TimeDelta::microseconds(1_000_000_i64.checked_div(rate.into())?);
        // What is allowed at once must be sent somehow: a batch counts as all of its parts.
        let quota = usize::try_from(u64::from(rate).saturating_mul(settings.burst.as_secs()))
            .unwrap_or(usize::MAX)
            .max(MAX_PARTS);
        let window = quota.div_ceil(usize::try_from(rate).unwrap_or(1));
        let header = format!("\"{}\";q={quota};w={window}", limit.name);
        Some(Self {
            limit,
            header: HeaderValue::try_from(header).ok()?,
            limiter: RateLimiter::new(quota, interval),
            quota,
        })
    }

    fn take(
        &self,
        key: u64,
        units: usize,
        now: DateTime<Utc>,
    ) -> Result<Option<RateLimitState>, RateLimited> {
        let taken = self.limiter.take(key, units, now);
        let is_near = usize::try_from(taken.left).is_ok_and(|it| it < self.quota / 2);
        if taken.is_granted() {
            return Ok(is_near.then(|| self.state(taken)));
        }
        let message = self.limit.subject.message();
        Err(RateLimited {
            error: Error::too_many_requests(message, seconds(taken.wait).max(1)),
            state: self.state(taken),
        })
    }

    fn state(&self, taken: Taken) -> RateLimitState {
        let reset = match taken.is_granted() {
            true => taken.until_full,
            false => taken.wait,
        };
        let state = format!(
            "\"{}\";r={};t={}",
            self.limit.name,
            taken.left.max(0),
            seconds(reset)
        );
        RateLimitState {
            policy: self.header.clone(),
            state: HeaderValue::try_from(state)
                .unwrap_or_else(|_| HeaderValue::from_static("\"unknown\";r=0")),
        }
    }
}

impl RateLimitState {
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
    use crate::base::config::Config;

    fn told(state: RateLimitState) -> [String; 2] {
        let mut headers = HeaderMap::new();
        state.tell(&mut headers);
        [POLICY, STATE].map(|it| headers[it].to_str().unwrap().to_owned())
    }

    #[test]
    fn what_is_left_is_told_when_it_is_little() {
        let limits = RateLimits::of(&Config::with(&[]).rate);
        let now = DateTime::UNIX_EPOCH;
        let take = |units| limits.take((RateSubject::Account, 1), &[(Class::Write, units)], now);
        let Ok(None) = take(100) else {
            panic!("half is left");
        };
        let Ok(Some(state)) = take(50) else {
            panic!("less than half is left");
        };
        assert_eq!(
            told(state),
            ["\"writes\";q=200;w=10", "\"writes\";r=50;t=8"]
        );
        assert!(take(50).is_ok());
        let Err(limited) = take(1) else {
            panic!("nothing is left");
        };
        assert_eq!(limited.error.retry_after(), Some(1));
        assert_eq!(told(limited.state)[1], "\"writes\";r=0;t=1");
        let reads = limits.take((RateSubject::Account, 1), &[(Class::Scan, 1)], now);
        assert!(reads.is_ok(), "they are counted beside writes");
    }

    #[test]
    fn a_limit_of_nothing_is_none_and_each_leaves_room_for_a_batch() {
        let settings = Config::with(&[("rate.reads", "1"), ("rate.writes", "0")]).rate;
        let active = |at: usize| ActiveLimit::new(&RATE_LIMITS[at], &settings);
        assert!(active(1).is_none());
        let slow = active(0).unwrap();
        assert_eq!(slow.quota, MAX_PARTS);
        assert_eq!(slow.header, "\"reads\";q=50;w=50");
    }
}

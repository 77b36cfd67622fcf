//! The real clock and the real ids: the only place that asks the machine for the time.

use chrono::{DateTime, Utc};
use entity_core::{Clock, Ids};
use uuid::{NoContext, Timestamp, Uuid};

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock that everything else is given"
    )]
    fn now(&self) -> DateTime<Utc> {
        let now = Utc::now();
        DateTime::from_timestamp_millis(now.timestamp_millis()).unwrap_or(now)
    }
}

/// Random ids that sort by the time they were made at (`UUIDv7`).
#[derive(Clone, Copy, Debug, Default)]
pub struct UuidIds;

impl Ids for UuidIds {
    fn new_id(&self, now: DateTime<Utc>) -> String {
        let seconds = u64::try_from(now.timestamp()).unwrap_or_default();
        let stamp = Timestamp::from_unix(NoContext, seconds, now.timestamp_subsec_nanos());
        Uuid::new_v7(stamp).to_string()
    }
}

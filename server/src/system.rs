//! The real clock and the real ids: the only place that asks the machine for the time.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use entity_core::{Clock, Ids, Timer};
use futures::future::BoxFuture;
use uuid::{ContextV7, Timestamp, Uuid};

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

/// The timer of the runtime, which does not follow the machine's clock when that is set.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioTimer;

impl Timer for TokioTimer {
    fn after(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Ids that sort in the order they were made in (`UUIDv7`), also within a millisecond.
#[derive(Debug, Default)]
pub struct UuidIds(Mutex<ContextV7>);

impl Ids for UuidIds {
    fn new_id(&self, now: DateTime<Utc>) -> String {
        let seconds = u64::try_from(now.timestamp()).unwrap_or_default();
        let context = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = Timestamp::from_unix(&*context, seconds, now.timestamp_subsec_nanos());
        Uuid::new_v7(stamp).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_tells_whole_milliseconds() {
        assert_eq!(SystemClock.now().timestamp_subsec_nanos() % 1_000_000, 0);
    }

    #[test]
    fn ids_made_later_sort_behind() {
        let ids = UuidIds::default();
        let now = DateTime::from_timestamp_millis(1_795_000_000_000).unwrap();
        let mut made: Vec<_> = (0..1_000).map(|_| ids.new_id(now)).collect();
        made.push(ids.new_id(now + chrono::TimeDelta::milliseconds(1)));
        assert!(made.is_sorted_by(|one, next| one < next));
        let id: Uuid = made[0].parse().unwrap();
        assert_eq!(id.get_timestamp().unwrap().to_unix(), (1_795_000_000, 0));
    }
}

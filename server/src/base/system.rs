//! The real clock and the real ids: the only place that asks the machine for the time.

use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use entity_core::context::{Clock, Ids};
use entity_core::engine::Timer;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use uuid::{ContextV7, Timestamp, Uuid};

/// The largest step of the machine's clock that is believed at once.
pub(crate) const STEP: TimeDelta = TimeDelta::minutes(1);
/// The time after which a larger step is believed.
pub(crate) const DOUBT: TimeDelta = TimeDelta::days(1);

/// The machine's clock.
#[derive(Debug, Default)]
pub struct SystemClock(Mutex<Option<Steady>>);

/// An instant that follows the machine's clock, but not when that is set.
#[derive(Clone, Copy, Debug)]
struct Steady {
    /// A pair of what both clocks told, from which it is reckoned.
    wall: DateTime<Utc>,
    at: Instant,
    /// The time since which the machine's clock tells something else.
    doubted: Option<Instant>,
}

impl Steady {
    fn new(wall: DateTime<Utc>, at: Instant) -> Self {
        Self {
            wall,
            at,
            doubted: None,
        }
    }

    /// The instant, when the machine's clock tells `wall` and the one that nobody sets tells `at`.
    fn follow(&mut self, wall: DateTime<Utc>, at: Instant) -> DateTime<Utc> {
        let passed = since(self.at, at);
        let expected = self.wall.checked_add_signed(passed).unwrap_or(wall);
        if wall.signed_duration_since(expected).abs() > STEP {
            let doubted = *self.doubted.get_or_insert(at);
            if since(doubted, at) < DOUBT {
                return expected;
            }
        }
        *self = Self::new(wall, at);
        wall
    }
}

/// The same length of time as clocks count it.
pub(crate) fn delta(time: Duration) -> TimeDelta {
    TimeDelta::from_std(time).unwrap_or(TimeDelta::MAX)
}

/// The time from one instant to another, in whole milliseconds.
pub(crate) fn since(one: Instant, other: Instant) -> TimeDelta {
    let passed = other.saturating_duration_since(one).as_millis();
    i64::try_from(passed).map_or(TimeDelta::MAX, TimeDelta::milliseconds)
}

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock that everything else is given"
    )]
    fn now(&self) -> DateTime<Utc> {
        let now = Utc::now();
        DateTime::from_timestamp_millis(now.timestamp_millis()).unwrap_or(now)
    }

    fn steady(&self) -> DateTime<Utc> {
        let mut steady = self.0.lock();
        let (wall, at) = (self.now(), Instant::now());
        steady
            .get_or_insert_with(|| Steady::new(wall, at))
            .follow(wall, at)
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
        let context = self.0.lock();
        let stamp = Timestamp::from_unix(&*context, seconds, now.timestamp_subsec_nanos());
        Uuid::new_v7(stamp).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_tells_whole_milliseconds() {
        assert_eq!(
            SystemClock::default().now().timestamp_subsec_nanos() % 1_000_000,
            0
        );
    }

    #[test]
    fn rel_16_a_clock_that_is_set_far_is_believed_after_a_day() {
        let (wall, at) = (
            DateTime::from_timestamp(1_795_000_000, 0).unwrap(),
            Instant::now(),
        );
        let years = TimeDelta::days(3_650);
        // Seconds that passed, what the clock was set by until then, and how much of that is believed.
        for (steps, name) in [
            (
                vec![
                    (1, TimeDelta::zero(), TimeDelta::zero()),
                    (2, years, TimeDelta::zero()),
                    (86_401, years, TimeDelta::zero()),
                    (86_402, years, years),
                    (86_403, years, years),
                ],
                "ahead",
            ),
            (
                vec![
                    (1, -years, TimeDelta::zero()),
                    (86_400, -years, TimeDelta::zero()),
                    (86_401, -years, -years),
                ],
                "back",
            ),
            (
                vec![
                    (1, years, TimeDelta::zero()),
                    (9, TimeDelta::zero(), TimeDelta::zero()),
                    (86_403, years, TimeDelta::zero()),
                ],
                "there and back",
            ),
            (
                vec![(1, STEP, STEP), (2, STEP * 2, STEP * 2), (3, STEP, STEP)],
                "by little",
            ),
        ] {
            let mut steady = Steady::new(wall, at);
            for (seconds, set, believed) in steps {
                let passed = TimeDelta::seconds(seconds);
                let told = steady.follow(wall + passed + set, at + passed.to_std().unwrap());
                assert_eq!(told, wall + passed + believed, "{name} {seconds}");
            }
        }
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

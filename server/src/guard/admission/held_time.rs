//! The time for which clients held places lately, where that decides who is next: for the one place of those who write to a
//! SQLite file.
//!
//! The next place goes to the client that held places for the shortest time lately. A client that holds the place for as
//! long as one may keeps others waiting once; they come before it from then on, however many requests it sends. A
//! request that is expected to take long, such as a batch, comes after the short ones of clients that held places as
//! briefly.
//!
//! After a client held the place for very long, for as long again only short requests get it, of clients that are not
//! known to take long: many that take long, each for the first time, would otherwise keep the others waiting one after
//! the other. Beside accounts that hold the right to write for a second at a time, others wrote in 80 ms (median) with
//! this pause and in 670 ms without it (`bench attacks`, two cores).

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// After how long a time counts half for which a client held a place.
const HALF: Duration = Duration::from_secs(10);
/// The number of clients whose time is remembered. Those with next to none are forgotten then.
const REMEMBERED: usize = 10_000;
const NEXT_TO_NONE: Duration = Duration::from_millis(1);
/// The longest time at a time, on average lately, of a client that is brief; with what the disk takes for a COMMIT.
const BRIEF: Duration = Duration::from_millis(50);
/// The longest time after which short requests need not go first.
const LONG: Duration = Duration::from_millis(250);

/// The time for which clients held places, by group.
#[derive(Debug, Default)]
pub(super) struct HeldTime {
    by_group: HashMap<u64, Held>,
    /// Until when only short requests get a place, of clients that are brief.
    pause: Option<Instant>,
}

/// The time for which a client held places, as it counted at an instant.
#[derive(Clone, Copy, Debug)]
struct Held {
    time: Duration,
    /// The number of times.
    times: f64,
    at: Instant,
}

impl HeldTime {
    /// Notes that the group held a place for so long.
    pub(super) fn note(&mut self, group: u64, held: Duration, now: Instant) {
        let before = self.by_group.get(&group).map(|it| it.at(now));
        let held_before = before.map_or(Duration::ZERO, |it| it.time);
        let noted = Held {
            time: held_before.saturating_add(held),
            times: before.map_or(0.0, |it| it.times) + 1.0,
            at: now,
        };
        self.by_group.insert(group, noted);
        if held > LONG && self.has_brief_beside(group, now) {
            self.pause = Some(now + held);
        }
        if self.by_group.len() > REMEMBERED {
            self.by_group.retain(|_, it| it.at(now).time > NEXT_TO_NONE);
        }
    }

    /// Returns the time for which the group held places lately.
    pub(super) fn of(&self, group: u64, now: Instant) -> Duration {
        let held = self.by_group.get(&group);
        held.map_or(Duration::ZERO, |it| it.at(now).time)
    }

    /// Returns whether the group may have a place now for a request that is expected to take so much longer than others.
    pub(super) fn may_start(&self, group: u64, expected: Duration, now: Instant) -> bool {
        self.pause(now).is_none() || (expected.is_zero() && self.is_brief(group, now))
    }

    /// Returns the time for which only short requests get a place; `None` if all do.
    pub(super) fn pause(&self, now: Instant) -> Option<Duration> {
        let left = self.pause?.saturating_duration_since(now);
        (!left.is_zero()).then_some(left)
    }

    /// Returns whether others than `group` held places lately, who are brief.
    fn has_brief_beside(&self, group: u64, now: Instant) -> bool {
        let mut others = self.by_group.iter().filter(|(it, _)| **it != group);
        others.any(|(it, held)| held.at + HALF > now && self.is_brief(*it, now))
    }

    fn is_brief(&self, group: u64, now: Instant) -> bool {
        let held = self.by_group.get(&group).map(|it| it.at(now));
        held.is_none_or(|it| it.time <= BRIEF.mul_f64(it.times.max(1.0)))
    }
}

impl Held {
    /// The same as it counts `now`.
    fn at(self, now: Instant) -> Self {
        let past = now.saturating_duration_since(self.at);
        let factor = 0.5_f64.powf(past.as_secs_f64() / HALF.as_secs_f64());
        Self {
            time: self.time.mul_f64(factor),
            times: self.times * factor,
            at: now,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_forgotten_by_and_by() {
        let (mut held, begin) = (HeldTime::default(), Instant::now());
        held.note(0, Duration::from_secs(1), begin);
        let half = held.of(0, begin + HALF);
        assert!((Duration::from_millis(499)..=Duration::from_millis(501)).contains(&half));
        let most = u64::try_from(REMEMBERED).unwrap();
        (1..most).for_each(|it| held.note(it, Duration::ZERO, begin + HALF));
        assert_eq!(held.by_group.len(), REMEMBERED);
        held.note(most, Duration::ZERO, begin + HALF);
        assert_eq!(held.by_group.len(), 1);
    }

    #[test]
    fn dos_7_after_a_long_time_only_short_requests_of_brief_clients_start_for_as_long_again() {
        let (mut held, begin) = (HeldTime::default(), Instant::now());
        let (second, none) = (Duration::from_secs(1), Duration::ZERO);
        held.note(1, second, begin);
        assert_eq!(held.pause(begin), None, "nobody else writes");
        held.note(2, BRIEF, begin);
        held.note(1, second, begin);
        assert_eq!(held.pause(begin), Some(second));
        assert!(!held.may_start(1, none, begin));
        assert!(!held.may_start(3, LONG, begin), "a batch of a newcomer");
        assert!(held.may_start(2, none, begin) && held.may_start(3, none, begin));
        let over = begin + second;
        assert_eq!(held.pause(over), None);
        assert!(held.may_start(1, none, over) && held.may_start(3, LONG, over));
        assert!(held.is_brief(1, begin + 6 * HALF));
    }
}

//! The clock by which pages tell instants: that of the reader.

use chrono::{DateTime, Datelike as _, NaiveDate, TimeDelta, Utc};
use entity_core::format::View;
use entity_core::recurrence::Tz;

/// The most hours before an instant is due in which it is soon.
const SOON: i64 = 48;

/// The reader's zone, and the present instant.
#[derive(Clone, Copy)]
pub(super) struct Clock {
    /// The zone, if the reader has one.
    zone: Option<Tz>,
    now: DateTime<Utc>,
}

impl Clock {
    #[cfg(test)]
    pub(super) const UTC: Self = Self {
        zone: None,
        now: DateTime::UNIX_EPOCH,
    };

    pub(super) fn of(view: &View<'_>) -> Self {
        Self {
            zone: view.allowed_actions.zone,
            now: view.now,
        }
    }

    /// The name of the zone in which pages tell times.
    pub(super) fn zone_name(self) -> &'static str {
        self.zone.unwrap_or(Tz::UTC).name()
    }

    /// Returns the day on which `instant` is, for something that has the zone `own`.
    pub(super) fn day(self, instant: DateTime<Utc>, own: Tz) -> NaiveDate {
        instant
            .with_timezone(&self.zone.unwrap_or(own))
            .date_naive()
    }

    /// Returns the day that it is.
    pub(super) fn today(self) -> NaiveDate {
        self.day(self.now, Tz::UTC)
    }

    /// Returns a day in words, with the year if it is another one.
    pub(super) fn told_day(self, day: NaiveDate) -> String {
        let today = self.today();
        let words = [
            (Some(today), "Today"),
            (today.succ_opt(), "Tomorrow"),
            (today.pred_opt(), "Yesterday"),
        ];
        match words.iter().find(|it| it.0 == Some(day)) {
            Some((_, word)) => (*word).to_owned(),
            None if day.year() == today.year() => day.format("%a %-d %b").to_string(),
            None => day.format("%a %-d %b %Y").to_string(),
        }
    }

    /// Returns the time of day at `instant`.
    pub(super) fn time(self, instant: DateTime<Utc>, own: Tz) -> String {
        let local = instant.with_timezone(&self.zone.unwrap_or(own));
        local.format("%H:%M").to_string()
    }

    /// Returns the name of the zone `own`, by which something is told to a reader who has none, unless it goes without saying.
    pub(super) fn beside(self, own: Tz) -> String {
        match self.zone.is_none() && own != Tz::UTC {
            true => format!(" {}", own.name()),
            false => String::new(),
        }
    }

    /// Returns `instant` in words: the day and the time.
    pub(super) fn told(self, instant: DateTime<Utc>, own: Tz) -> String {
        let day = self.told_day(self.day(instant, own));
        format!("{day}, {}{}", self.time(instant, own), self.beside(own))
    }

    /// Returns how long it is until `instant`, if that is to come: `in 4 days`.
    pub(super) fn until(self, instant: DateTime<Utc>) -> Option<String> {
        let left = instant - self.now;
        let (count, unit) = match left {
            it if it <= TimeDelta::zero() => return None,
            it if it.num_hours() < 1 => (it.num_minutes().max(1), "minute"),
            it if it.num_hours() < SOON => (it.num_hours(), "hour"),
            it => (it.num_days(), "day"),
        };
        let plural = if count == 1 { "" } else { "s" };
        Some(format!("in {count} {unit}{plural}"))
    }

    /// Returns whether `instant` is to come soon.
    pub(super) fn is_soon(self, instant: DateTime<Utc>) -> bool {
        let left = instant - self.now;
        left > TimeDelta::zero() && left.num_hours() < SOON
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().expect("an instant")
    }

    #[test]
    fn an_instant_is_told_by_the_readers_clock_with_what_does_not_go_without_saying() {
        let now = at("2026-11-27T12:25:00Z");
        let clock = |zone| Clock { zone, now };
        let berlin = clock(Some(Tz::Europe__Berlin));
        for (instant, told) in [
            ("2026-12-01T12:00:00Z", "Tue 1 Dec, 13:00"),
            ("2027-01-06T08:00:00Z", "Wed 6 Jan 2027, 09:00"),
            ("2026-11-27T23:30:00Z", "Tomorrow, 00:30"),
            ("2026-11-27T22:30:00Z", "Today, 23:30"),
            ("2026-11-26T12:00:00Z", "Yesterday, 13:00"),
        ] {
            assert_eq!(berlin.told(at(instant), Tz::UTC), told);
        }
        let unknown = clock(None);
        let instant = at("2026-12-01T12:00:00Z");
        assert_eq!(unknown.told(instant, Tz::UTC), "Tue 1 Dec, 12:00");
        let own = unknown.told(instant, Tz::Europe__Berlin);
        assert_eq!(own, "Tue 1 Dec, 13:00 Europe/Berlin");
    }

    #[test]
    fn what_is_to_come_is_so_many_days_away() {
        let now = at("2026-11-27T12:00:00Z");
        let clock = Clock { zone: None, now };
        for (instant, until, is_soon) in [
            ("2026-11-27T12:00:00Z", None, false),
            ("2026-11-27T12:00:10Z", Some("in 1 minute"), true),
            ("2026-11-27T13:00:00Z", Some("in 1 hour"), true),
            ("2026-11-29T11:00:00Z", Some("in 47 hours"), true),
            ("2026-11-29T12:00:00Z", Some("in 2 days"), false),
            ("2026-11-20T12:00:00Z", None, false),
        ] {
            assert_eq!(clock.until(at(instant)).as_deref(), until);
            assert_eq!(clock.is_soon(at(instant)), is_soon, "{instant}");
        }
    }
}

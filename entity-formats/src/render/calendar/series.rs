//! Events that recur by the clock of a time zone, and the exceptions that replace single occurrences.
//!
//! A local time that occurs twice is the first of the two (RFC 5545, section 3.3.5), and many programs take the length of
//! an event for that by the clocks, whatever these do meanwhile. Each occurrence that would be read wrongly is therefore
//! written once more by itself, in UTC.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use entity_core::EventEntry;
use entity_core::format::View;
use entity_core::recurrence::{self, Tz};
use entity_core::reply::Item;
use icalendar::{Component as _, Event, EventLike as _, Property};

use super::zone::{Definition, offset_at};
use super::{add_time, event, is_rule};

/// The years of an event in which each occurrence is exact to every reader.
const YEARS: i64 = 10;
/// The most events of one calendar whose occurrences are looked at for that.
const MOST_LOOKED_AT: u32 = 200;

/// The events of one calendar that recur, and the occurrences that are events of their own in it.
pub(super) struct Series {
    /// The clock and the beginning of each event that recurs, by its reference.
    recurring: BTreeMap<String, WallClock>,
    /// The occurrences that are replaced, by the reference of the event and the instant.
    replaced: BTreeSet<(String, DateTime<Utc>)>,
    /// The definitions of the zones in which anything is told, by their names.
    zones: BTreeMap<&'static str, Definition>,
    /// The number of events whose occurrences may still be looked at.
    left: Cell<u32>,
}

/// The clock of an event that recurs, and when that first begins.
#[derive(Clone, Copy)]
struct WallClock {
    zone: Tz,
    first: DateTime<Utc>,
}

impl WallClock {
    fn of(entry: &EventEntry) -> Self {
        Self {
            zone: entry.zone.unwrap_or(Tz::UTC),
            first: entry.start,
        }
    }

    fn local(self, instant: DateTime<Utc>) -> NaiveDateTime {
        instant.with_timezone(&self.zone).naive_local()
    }

    /// Returns the instant that readers take a local time for.
    fn read(self, local: NaiveDateTime) -> Option<DateTime<Utc>> {
        recurrence::place(local, self.zone)
    }

    /// Returns the local time that the rule has for the occurrence at `instant`: another one than the clocks show, where
    /// these skip it.
    fn ruled(self, instant: DateTime<Utc>) -> NaiveDateTime {
        let (shown, time) = (self.local(instant), self.local(self.first).time());
        let days = [0, -1, 1].into_iter();
        let mut ruled = days.map(|it| (shown.date() + TimeDelta::days(it)).and_time(time));
        let found = ruled.find(|it| self.read(*it) == Some(instant));
        found.unwrap_or(shown)
    }

    /// Returns a property that is a time by this clock.
    fn property(self, name: &str, local: NaiveDateTime) -> Property {
        let text = local.format("%Y%m%dT%H%M%S");
        match self.zone {
            Tz::UTC => Property::new(name, format!("{text}Z")),
            zone => Property::new(name, text.to_string())
                .add_parameter("TZID", zone.name())
                .done(),
        }
    }
}

impl Series {
    /// Finds those among `items`, whose `entries` these are.
    pub(super) fn of(items: &[Item], entries: &[Option<EventEntry>]) -> Self {
        let (mut recurring, mut replaced) = (BTreeMap::new(), BTreeSet::new());
        for (item, entry) in items.iter().zip(entries) {
            let Some(entry) = entry else { continue };
            if is_recurring(entry) {
                recurring.insert(item.reference().to_string(), WallClock::of(entry));
            }
            if let Some(it) = &entry.occurrence {
                replaced.insert((it.series.to_string(), it.at));
            }
        }
        let mut series = Self {
            recurring,
            replaced,
            zones: BTreeMap::new(),
            left: Cell::new(MOST_LOOKED_AT),
        };
        let firsts = series.firsts(entries).into_iter();
        let zones = firsts.map(|(name, (zone, first))| (name, Definition::of(zone, first)));
        series.zones = zones.collect();
        series
    }

    /// Returns the definitions of the time zones in which anything is told.
    pub(super) fn zones(&self) -> impl Iterator<Item = &Definition> {
        self.zones.values()
    }

    /// Returns the time zones in which anything is told, each with the first instant in it.
    fn firsts(
        &self,
        entries: &[Option<EventEntry>],
    ) -> BTreeMap<&'static str, (Tz, DateTime<Utc>)> {
        let mut zones: BTreeMap<&'static str, (Tz, DateTime<Utc>)> = BTreeMap::new();
        let recurring = self.recurring.values().map(|it| (it.zone, it.first));
        let replaced = entries.iter().flatten().filter_map(|it| {
            let occurrence = it.occurrence.as_ref()?;
            let clock = self.clock_of(&occurrence.series.to_string(), it);
            Some((clock.zone, occurrence.at))
        });
        for (zone, first) in recurring.chain(replaced).filter(|it| it.0 != Tz::UTC) {
            let known = zones.entry(zone.name()).or_insert((zone, first));
            known.1 = known.1.min(first);
        }
        zones
    }

    /// Returns the clock of the event `series`, of which `entry` is an occurrence.
    fn clock_of(&self, series: &str, entry: &EventEntry) -> WallClock {
        let known = self.recurring.get(series).copied();
        known.unwrap_or_else(|| WallClock {
            first: entry.occurrence.as_ref().map_or(entry.start, |it| it.at),
            ..WallClock::of(entry)
        })
    }

    /// Returns what is written of `item`: one event, and others for the occurrences that would be read wrongly.
    pub(super) fn events(&self, item: &Item, entry: &EventEntry, view: &View<'_>) -> Vec<Event> {
        let own = item.reference().to_string();
        if let Some(occurrence) = &entry.occurrence {
            let series = occurrence.series.to_string();
            let clock = self.clock_of(&series, entry);
            let mut one = event(&series, item, entry, view);
            one.append_property(clock.property("RECURRENCE-ID", clock.ruled(occurrence.at)));
            add_time(&mut one, entry);
            return vec![one];
        }
        let mut whole = event(&own, item, entry, view);
        let rule = entry.recurrence.as_deref().filter(|it| is_rule(it));
        if let Some(rule) = rule {
            whole.add_property("RRULE", rule);
        }
        if !is_recurring(entry) {
            add_time(&mut whole, entry);
            return vec![whole];
        }
        let clock = WallClock::of(entry);
        let first = self.add_times(&mut whole, &own, entry);
        let mut wrong = self.crossing(entry);
        if first != entry.start {
            wrong.insert(entry.start);
        }
        let wrong = wrong.into_iter();
        let exact = wrong
            .filter(|it| !entry.excluded.contains(it))
            .map(|start| {
                let mut exact = event(&own, item, entry, view);
                exact.append_property(clock.property("RECURRENCE-ID", clock.ruled(start)));
                let mut single = entry.clone();
                (single.start, single.end) = (start, start + (entry.end - entry.start));
                add_time(&mut exact, &single);
                exact
            });
        std::iter::once(whole).chain(exact).collect()
    }

    /// Returns when the occurrences begin during which the clocks are changed.
    fn crossing(&self, entry: &EventEntry) -> BTreeSet<DateTime<Utc>> {
        let (clock, length) = (WallClock::of(entry), entry.end - entry.start);
        let horizon = entry.start + TimeDelta::days(YEARS * 366);
        let time = clock.local(entry.start).time();
        // Most events take place in the daytime, when no clock is changed.
        let is_near = |change: &DateTime<Utc>| {
            let before = clock.local(*change - TimeDelta::seconds(1)).time();
            let passed = (before - time).num_seconds().rem_euclid(24 * 3600);
            passed < length.num_seconds()
        };
        let zone = self.zones.get(clock.zone.name());
        let changes = zone.into_iter().flat_map(Definition::changes);
        let changes = changes.filter(|it| *it > entry.start && *it < horizon);
        let near: Vec<_> = changes.filter(is_near).collect();
        let left = self.left.get().checked_sub(1).filter(|_| !near.is_empty());
        let rule = entry.recurrence.as_deref().zip(left);
        let Some((rule, left)) = rule else {
            return BTreeSet::new();
        };
        self.left.set(left);
        let Ok(series) = recurrence::Series::parse(rule, entry.start, clock.zone) else {
            return BTreeSet::new();
        };
        let Ok(last) = series.check() else {
            return BTreeSet::new();
        };
        let is_one = |start: &DateTime<Utc>| last.is_none_or(|last| *start <= last);
        let is_crossed = |start: &DateTime<Utc>| {
            offset_at(clock.zone, *start) != offset_at(clock.zone, *start + length)
        };
        let around = near.into_iter().flat_map(|change| {
            let starts = series.starts((change - length).max(entry.start));
            starts.take_while(move |it| *it < change)
        });
        around.filter(is_one).filter(is_crossed).collect()
    }

    /// Adds the times of an event that recurs, and returns the instant that readers take for its beginning.
    fn add_times(&self, event: &mut Event, own: &str, entry: &EventEntry) -> DateTime<Utc> {
        let clock = WallClock::of(entry);
        let start = clock.local(entry.start);
        let first = clock.read(start).unwrap_or(entry.start);
        event.append_property(clock.property("DTSTART", start));
        let length = entry.end - entry.start;
        let end = first + length;
        let local = clock.local(end);
        if length > TimeDelta::zero() {
            match local - start == length && clock.read(local) == Some(end) {
                true => event.append_property(clock.property("DTEND", local)),
                // Exact, whatever the clocks do meanwhile.
                false => event.ends(end),
            };
        }
        for excluded in &entry.excluded {
            if !self.replaced.contains(&(own.to_owned(), *excluded)) {
                event.append_multi_property(clock.property("EXDATE", clock.ruled(*excluded)));
            }
        }
        first
    }
}

/// Returns whether the entry recurs by a clock. Whole days have none.
fn is_recurring(entry: &EventEntry) -> bool {
    let has_rule = entry.recurrence.as_deref().is_some_and(is_rule);
    has_rule && !entry.is_all_day && entry.zone.is_some()
}

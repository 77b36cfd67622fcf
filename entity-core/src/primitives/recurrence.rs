//! Recurrence rules (RFC 5545) of events, in the time zone of the event.
//!
//! The rule is expanded in local time without a zone, and each result is then placed in the zone. So an event keeps its
//! time of day across the change to daylight saving time, however the clocks are set: a time that the clocks skip is
//! counted from before the skip, and of a time that occurs twice the first is meant.
//!
//! An expansion begins near the range that is asked for, not at the beginning of the series, and a rule that seldom
//! matches is refused, so that the effort depends on the number of results. Its steps are counted, so that it can be
//! bounded whatever is stored.
//!
//! ```
//! use entity_core::recurrence::{self, Series};
//!
//! let first = "2026-10-18T07:00:00Z".parse().unwrap();
//! let berlin = recurrence::zone("Europe/Berlin").unwrap();
//! let series = Series::parse("FREQ=WEEKLY;COUNT=3", first, berlin).unwrap();
//! let hours = series.starts(first).take(2).map(|it| it.format("%R").to_string());
//! assert_eq!(hours.collect::<Vec<_>>(), ["07:00", "08:00"]);
//! ```

#[cfg(test)]
mod oracle;
mod plain;
mod range;
#[cfg(test)]
mod tests;

use chrono::{
    DateTime, Datelike, LocalResult, Months, NaiveDate, NaiveDateTime, TimeDelta, TimeZone as _,
    Timelike as _, Utc,
};
pub use chrono_tz::Tz;
use rrule::{Frequency, RRule, RRuleSet, Unvalidated};

use crate::DateTimeUtc;

pub use plain::{PERIODS, Plain, words};
pub use range::{FIRST_DAY, LAST_DAY, Range, YEAR, in_order};

/// The parts of a rule that are understood. Parts of a day are left out: an event recurs once a day at most.
const PARTS: [&str; 11] = [
    // Some readers of calendars want it first.
    "FREQ",
    "INTERVAL",
    "COUNT",
    "UNTIL",
    "BYMONTH",
    "BYWEEKNO",
    "BYYEARDAY",
    "BYMONTHDAY",
    "BYDAY",
    "BYSETPOS",
    "WKST",
];
/// The message for a text that is no rule.
const NO_RULE: &str = "must be a recurrence rule such as FREQ=WEEKLY;COUNT=10";
/// The most occurrences that a rule can count, and the largest interval.
const MOST: u32 = 1000;
/// The number of years of a series that are looked at before it is accepted.
const YEARS_CHECKED: i64 = 50;
/// The most steps of rules that one request may look at to find occurrences. What is stored decides how many it takes to
/// find one, so that the number of occurrences alone bounds nothing.
pub const MOST_STEPS: u64 = 20_000;
/// The most steps from one occurrence to the next: the days of a year.
const MOST_STEPS_TO_NEXT: u64 = 367;
/// The most days between two occurrences of a rule that looks at each day or week, and of one that looks at months.
const LONGEST_GAP: (i64, i64) = (366 * 8, 366 * 100);

/// The times of an event that recurs.
#[derive(Clone, Debug)]
pub struct Series {
    rule: RRule,
    first: DateTimeUtc,
    /// The first local time, without fractions of a second.
    local: NaiveDateTime,
    zone: Tz,
    count: Option<u32>,
    until: Option<DateTimeUtc>,
}

/// A summary of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Brief {
    /// The unit of the interval: `day`, `week`, `month` or `year`.
    pub frequency: &'static str,
    /// The number of these units from one occurrence to the next.
    pub interval: u32,
    /// The number of occurrences, if it is limited.
    pub count: Option<u32>,
    /// The instant after which the event does not take place, if that is said.
    pub until: Option<DateTimeUtc>,
}

/// The areas of the IANA database that are no older names of others.
const AREAS: [&str; 10] = [
    "Africa/",
    "America/",
    "Antarctica/",
    "Arctic/",
    "Asia/",
    "Atlantic/",
    "Australia/",
    "Europe/",
    "Indian/",
    "Pacific/",
];

/// Returns the names of time zones that people are offered.
pub fn zones() -> impl Iterator<Item = &'static str> {
    let names = chrono_tz::TZ_VARIANTS.iter().map(|it| it.name());
    names.filter(|it| *it == "UTC" || AREAS.iter().any(|area| it.starts_with(area)))
}

/// Returns the time zone with this name of the IANA database.
pub fn zone(name: &str) -> Option<Tz> {
    name.parse().ok()
}

/// Returns the rule `text` of an event in `zone` as it is stored and told, by RFC 5545, section 3.3.10: in capitals, `FREQ`
/// first, without an empty part, and `UNTIL` as an instant in UTC, as it must be beside a beginning with a zone. What is no
/// rule stays as it is, for [`Series::parse`] to refuse.
pub fn canonical(text: &str, zone: Tz) -> String {
    let text = text.trim().to_ascii_uppercase();
    let text = text.strip_prefix("RRULE:").unwrap_or(&text);
    let written = |parts: Vec<(&str, &str)>| {
        let value_of = |name: &str| parts.iter().find(|it| it.0 == name).map(|it| it.1);
        let ordered = PARTS.into_iter().filter_map(|name| {
            let value = value_of(name)?;
            let end = (name == "UNTIL").then(|| until(value, zone).ok()).flatten();
            Some(match end {
                Some(end) => end.format("UNTIL=%Y%m%dT%H%M%SZ").to_string(),
                None => format!("{name}={value}"),
            })
        });
        ordered.collect::<Vec<_>>().join(";")
    };
    parts(text).map_or_else(|_| text.to_owned(), written)
}

impl Brief {
    /// Returns what the rule `text` of an event in `zone` says. The rule was accepted before.
    pub fn of(text: &str, zone: Tz) -> Option<Self> {
        let parts = parts(text).ok()?;
        let find = |name: &str| parts.iter().find(|it| it.0 == name).map(|it| it.1);
        Some(Self {
            frequency: match find("FREQ")? {
                "DAILY" => "day",
                "WEEKLY" => "week",
                "MONTHLY" => "month",
                _ => "year",
            },
            interval: find("INTERVAL").and_then(|it| it.parse().ok()).unwrap_or(1),
            count: find("COUNT").and_then(|it| it.parse().ok()),
            until: find("UNTIL").and_then(|it| until(it, zone).ok()),
        })
    }
}

impl Series {
    /// Parses the rule of an event that first takes place at `first`. The rule is [canonical].
    ///
    /// # Errors
    /// Returns a message that continues the name of the field if the text is no rule that is understood: as in
    /// `must be a recurrence rule`.
    pub fn parse(text: &str, first: DateTimeUtc, zone: Tz) -> Result<Self, String> {
        let parts = parts(text)?;
        let find = |name: &str| parts.iter().find(|it| it.0 == name).map(|it| it.1);
        let count = find("COUNT").map(|it| number("COUNT", it)).transpose()?;
        find("INTERVAL")
            .map(|it| number("INTERVAL", it))
            .transpose()?;
        let until = find("UNTIL").map(|it| until(it, zone)).transpose()?;
        if count.is_some() && until.is_some() {
            return Err("must not have both `COUNT` and `UNTIL`".to_owned());
        }
        let endless = parts.iter().filter(|it| !matches!(it.0, "COUNT" | "UNTIL"));
        let endless: Vec<String> = endless.map(|it| format!("{}={}", it.0, it.1)).collect();
        let is_set = |it: &(&str, &str)| it.0.starts_with("BY") && it.0 != "BYSETPOS";
        if find("BYSETPOS").is_some() && !parts.iter().any(is_set) {
            return Err("must have `BYSETPOS` with another `BY…` only".to_owned());
        }
        let is_counted = find("BYDAY").is_some_and(|it| it.contains(|c: char| c.is_ascii_digit()));
        if is_counted && !matches!(find("FREQ"), Some("MONTHLY" | "YEARLY")) {
            return Err("must count days of months or years only".to_owned());
        }
        let rule: RRule<Unvalidated> = endless.join(";").parse().map_err(wrong)?;
        if !matches!(
            rule.get_freq(),
            Frequency::Yearly | Frequency::Monthly | Frequency::Weekly | Frequency::Daily
        ) {
            return Err("must be `DAILY`, `WEEKLY`, `MONTHLY` or `YEARLY`".to_owned());
        }
        let local = first.with_timezone(&zone).naive_local();
        let local = local.with_nanosecond(0).unwrap_or(local);
        Ok(Self {
            rule: rule.validate(as_utc(local)).map_err(wrong)?,
            first,
            local,
            zone,
            count,
            until,
        })
    }

    /// Checks that the event first takes place when it begins and recurs often enough, and returns the instant of its
    /// last occurrence, or one after it. Returns `None` if the rule never ends.
    ///
    /// # Errors
    /// Returns a message that continues the name of the field if it does not.
    pub fn check(&self) -> Result<Option<DateTimeUtc>, String> {
        if self.until.is_some_and(|it| it < self.first) {
            return Err("must not end before the event begins".to_owned());
        }
        let longest = match self.rule.get_freq() {
            Frequency::Daily | Frequency::Weekly => LONGEST_GAP.0,
            _ => LONGEST_GAP.1,
        };
        let horizon = self.first + TimeDelta::days(YEARS_CHECKED * 366);
        let (days, mut passed) = (self.days_of_step(), 0_u64);
        let mut starts = self.starts_while(self.first, |steps| {
            passed = passed.saturating_add(steps);
            passed <= MOST_STEPS
        });
        if starts.next() != Some(self.first) {
            return Err("must first recur when the event begins".to_owned());
        }
        let (mut last, mut counted) = (self.first, 1);
        for start in starts.take(usize::try_from(MOST).unwrap_or_default()) {
            let gap = start - last;
            if gap > TimeDelta::days(longest) || steps_in(gap, days) > MOST_STEPS_TO_NEXT {
                return Err("must recur more often".to_owned());
            }
            if self.count.is_some_and(|it| counted >= it)
                || (self.count.is_none() && start > horizon)
            {
                break;
            }
            (last, counted) = (start, counted + 1);
        }
        match self.count {
            Some(count) if counted < count => Err("must recur more often".to_owned()),
            None if counted == 1 => Err("must recur more often".to_owned()),
            Some(_) => Ok(Some(last)),
            None => Ok(self.until),
        }
    }

    /// Returns the instants at which the event takes place from `from` on, in order, as if the rule had no end.
    pub fn starts(&self, from: DateTimeUtc) -> impl Iterator<Item = DateTimeUtc> + Send + use<> {
        self.starts_while(from, |_steps| true)
    }

    /// Returns the same instants as long as `may_go_on` allows. It is asked with 0 before each, and told after each how
    /// many steps that took: how many days, weeks, months or years of the rule were looked at.
    pub fn starts_while<F>(
        &self,
        from: DateTimeUtc,
        mut may_go_on: F,
    ) -> impl Iterator<Item = DateTimeUtc> + Send + use<F>
    where
        F: FnMut(u64) -> bool + Send,
    {
        let near = self.begin_near(from.with_timezone(&self.zone).naive_local());
        let set = RRuleSet::new(as_utc(near)).rrule(self.rule.clone()).limit();
        let (first, local, zone) = (self.first, self.local, self.zone);
        let (days, mut at) = (self.days_of_step(), near);
        let mut dates = set.into_iter();
        let dates = std::iter::from_fn(move || {
            if !may_go_on(0) {
                return None;
            }
            let date = dates.next()?.naive_utc();
            // The occurrences found so far are kept, whatever they took.
            let _stops_then = may_go_on(steps_in(date - at, days));
            at = date;
            Some(date)
        });
        dates
            .filter_map(move |it| match it == local {
                true => Some(first),
                false => place(it, zone).map(|it| it + fraction(first)),
            })
            .skip_while(move |it| *it < from)
    }

    /// Returns the days from one step of the rule to the next, roughly.
    fn days_of_step(&self) -> i64 {
        let days = match self.rule.get_freq() {
            Frequency::Yearly => 365,
            Frequency::Monthly => 30,
            Frequency::Weekly => 7,
            _ => 1,
        };
        days * i64::from(self.rule.get_interval()).max(1)
    }

    /// Returns a local time at which an expansion can begin to find everything from `from` on: a whole number of
    /// intervals after the first one, and at least one before `from`.
    fn begin_near(&self, from: NaiveDateTime) -> NaiveDateTime {
        let interval = i64::from(self.rule.get_interval());
        let days = (from - self.local).num_days();
        let months = i64::from(from.year() - self.local.year()) * 12 + i64::from(from.month0())
            - i64::from(self.local.month0());
        let passed = |amount: i64, period: i64| (amount / period - 2).max(0) * period;
        let by_days = |days: i64| self.local.checked_add_signed(TimeDelta::days(days));
        let by_months = |months: i64| {
            let months = u32::try_from(months).ok()?;
            self.local.checked_add_months(Months::new(months))
        };
        let near = match self.rule.get_freq() {
            Frequency::Yearly => by_months(passed(months, interval * 12)),
            Frequency::Monthly => by_months(passed(months, interval)),
            Frequency::Weekly => by_days(passed(days, interval * 7)),
            _ => by_days(passed(days, interval)),
        };
        near.unwrap_or(self.local)
    }
}

/// Returns how many steps of `days` days are looked at to come so far.
fn steps_in(passed: TimeDelta, days: i64) -> u64 {
    let steps = passed.num_days().checked_div_euclid(days);
    let steps = steps.and_then(|it| u64::try_from(it).ok());
    steps.unwrap_or_default().saturating_add(1)
}

/// Returns the parts of a rule, each with its value.
fn parts(text: &str) -> Result<Vec<(&str, &str)>, String> {
    let mut parts: Vec<(&str, &str)> = Vec::new();
    for part in text.split(';').filter(|it| !it.is_empty()) {
        let Some((name, value)) = part.split_once('=') else {
            return Err(NO_RULE.to_owned());
        };
        if !PARTS.contains(&name) {
            return Err(format!("must have no parts but {}", PARTS.join(", ")));
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ',' | '-' | '+');
        if value.is_empty() || !value.chars().all(is_plain) {
            return Err(format!("must have a valid `{name}`"));
        }
        if parts.iter().any(|it| it.0 == name) {
            return Err(format!("must have no second `{name}`"));
        }
        parts.push((name, value));
    }
    match parts.iter().any(|it| it.0 == "FREQ") {
        true => Ok(parts),
        false => Err(NO_RULE.to_owned()),
    }
}

fn number(name: &str, text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|it| (1..=MOST).contains(it));
    number.ok_or_else(|| format!("must have a `{name}` from 1 to {MOST}"))
}

/// Parses the end of a rule: an instant, a local time, or a day, which counts as a whole.
fn until(text: &str, zone: Tz) -> Result<DateTimeUtc, String> {
    let wrong = || "must have an `UNTIL` such as 20270131T235959Z".to_owned();
    let time = |text: &str| NaiveDateTime::parse_from_str(text, "%Y%m%dT%H%M%S").ok();
    let instant = match text.strip_suffix('Z') {
        Some(text) => time(text).map(|it| it.and_utc()),
        None if text.contains('T') => time(text).and_then(|it| place(it, zone)),
        None => NaiveDate::parse_from_str(text, "%Y%m%d")
            .ok()
            .and_then(|it| it.and_hms_opt(23, 59, 59))
            .and_then(|it| place(it, zone)),
    };
    instant.ok_or_else(wrong)
}

/// Returns the instant at which the clocks of `zone` show `local`, as RFC 5545, section 3.3.5, says: a time that the clocks
/// skip is counted from before the skip, and of a time that occurs twice the first is meant. Returns `None` if that is
/// beyond all dates.
pub fn place(local: NaiveDateTime, zone: Tz) -> Option<DateTimeUtc> {
    let place = |local: NaiveDateTime| match zone.from_local_datetime(&local) {
        LocalResult::Single(it) | LocalResult::Ambiguous(it, _) => Some(it.to_utc()),
        LocalResult::None => None,
    };
    // No clock has ever skipped more than a day.
    (0..=25).map(TimeDelta::hours).find_map(|skipped| {
        let before = place(local.checked_sub_signed(skipped)?)?;
        before.checked_add_signed(skipped)
    })
}

/// The crate expands rules in zones that it brings itself. UTC stands for local time, whatever the zone.
fn as_utc(local: NaiveDateTime) -> DateTime<rrule::Tz> {
    rrule::Tz::UTC.from_utc_datetime(&local)
}

fn fraction(instant: DateTimeUtc) -> TimeDelta {
    TimeDelta::nanoseconds(i64::from(instant.timestamp_subsec_nanos()))
}

/// Returns the message for a rule that the crate refuses, whose own message quotes what it was given.
fn wrong(_error: impl std::fmt::Display) -> String {
    NO_RULE.to_owned()
}

/// The instant that stands for the end of a series that never ends: beyond every range.
pub fn never() -> DateTimeUtc {
    let last = NaiveDate::from_ymd_opt(9999, 12, 31).unwrap_or(NaiveDate::MAX);
    Utc.from_utc_datetime(&last.and_time(chrono::NaiveTime::MIN))
}

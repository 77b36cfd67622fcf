//! Time zones as calendars define them (RFC 5545, section 3.6.5): from when on the clocks of a zone are how far ahead.
//!
//! Where the clocks change by the same rule each year, the rule is written, since some programs know nothing else. What
//! follows no rule is listed.

use std::fmt::Write as _;

use chrono::{DateTime, Datelike as _, Days, NaiveDate, NaiveDateTime, Offset as _, TimeDelta};
use chrono::{TimeZone as _, Timelike as _, Utc, Weekday};
use entity_core::recurrence::Tz;

/// The year to which changes are looked for at least: what holds until then is taken to hold for ever.
const HORIZON: i32 = 2090;
/// The days from one look at the clocks to the next. No change was ever taken back within so few.
const STEP: i64 = 7;
/// The least number of years in a row that are written as a rule.
const LEAST: usize = 3;

/// A change of the clocks.
#[derive(Clone, Debug)]
struct Onset {
    at: DateTime<Utc>,
    /// The offsets before and after, in seconds.
    from: i32,
    to: i32,
    /// The abbreviation of the time after it.
    name: String,
}

/// The common properties of changes by one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Kind {
    from: i32,
    to: i32,
    name: String,
    month: u32,
    weekday: Weekday,
    /// The time of day at which the clocks are changed, in seconds.
    time: u32,
}

/// The definition of a zone from an instant on.
#[derive(Debug)]
pub(super) struct Definition {
    zone: Tz,
    first: DateTime<Utc>,
    begin: DateTime<Utc>,
    end: DateTime<Utc>,
    onsets: Vec<Onset>,
}

impl Definition {
    /// Returns the definition of `zone` from the instant `first` on.
    pub(super) fn of(zone: Tz, first: DateTime<Utc>) -> Self {
        let begin = january(first.year().saturating_sub(1));
        let end = january(HORIZON.max(first.year().saturating_add(10)));
        Self {
            zone,
            first,
            begin,
            end,
            onsets: onsets(zone, begin, end),
        }
    }

    /// Returns the instants at which the clocks are changed, in order.
    pub(super) fn changes(&self) -> impl Iterator<Item = DateTime<Utc>> {
        self.onsets.iter().map(|it| it.at)
    }

    /// Returns the definition as it is written.
    pub(super) fn to_text(&self) -> String {
        let mut text = format!("BEGIN:VTIMEZONE\r\nTZID:{}\r\n", self.zone.name());
        if self.onsets.first().is_none_or(|it| it.at > self.first) {
            let (offset, name) = state(self.zone, self.begin);
            let start = self.begin.naive_utc() + TimeDelta::seconds(i64::from(offset));
            component(&mut text, (offset, offset), &name, start, &[]);
        }
        let last = self.end.year().saturating_sub(1);
        for group in grouped(self.onsets.clone(), last) {
            group.write(&mut text);
        }
        text.push_str("END:VTIMEZONE\r\n");
        text
    }
}

/// Changes that are written together.
struct Group {
    onsets: Vec<Onset>,
    /// The rule that they follow, if they follow one.
    rule: Option<String>,
}

impl Group {
    fn write(&self, text: &mut String) {
        let Some(first) = self.onsets.first() else {
            return;
        };
        let others = self.onsets.iter().skip(1);
        let listed = || others.map(|it| format!("RDATE:{}", it.local().format("%Y%m%dT%H%M%S")));
        let more: Vec<String> = match &self.rule {
            Some(rule) => vec![format!("RRULE:{rule}")],
            None => listed().collect(),
        };
        let offsets = (first.from, first.to);
        component(text, offsets, &first.name, first.local(), &more);
    }
}

impl Onset {
    /// The time at which it takes place by the clocks that are to be changed.
    fn local(&self) -> NaiveDateTime {
        self.at.naive_utc() + TimeDelta::seconds(i64::from(self.from))
    }

    fn kind(&self) -> Kind {
        let local = self.local();
        Kind {
            from: self.from,
            to: self.to,
            name: self.name.clone(),
            month: local.month(),
            weekday: local.weekday(),
            time: local.num_seconds_from_midnight(),
        }
    }
}

fn component(
    text: &mut String,
    (from, to): (i32, i32),
    name: &str,
    start: NaiveDateTime,
    more: &[String],
) {
    let kind = if to > from { "DAYLIGHT" } else { "STANDARD" };
    let start = start.format("%Y%m%dT%H%M%S");
    let (from, to) = (offset(from), offset(to));
    let mut lines = vec![
        format!("BEGIN:{kind}"),
        format!("TZOFFSETFROM:{from}"),
        format!("TZOFFSETTO:{to}"),
        format!("TZNAME:{name}"),
        format!("DTSTART:{start}"),
    ];
    lines.extend_from_slice(more);
    lines.push(format!("END:{kind}"));
    for line in lines {
        // Nothing fails that writes to memory.
        let _done = write!(text, "{line}\r\n");
    }
}

/// An offset as `+0130` or, with seconds, `-001530`.
fn offset(seconds: i32) -> String {
    let sign = if seconds < 0 { '-' } else { '+' };
    let all = seconds.unsigned_abs();
    let (hours, minutes) = (all / 3600, all / 60 % 60);
    match all % 60 {
        0 => format!("{sign}{hours:02}{minutes:02}"),
        rest => format!("{sign}{hours:02}{minutes:02}{rest:02}"),
    }
}

fn january(year: i32) -> DateTime<Utc> {
    let day = NaiveDate::from_ymd_opt(year, 1, 1).unwrap_or_default();
    day.and_time(chrono::NaiveTime::MIN).and_utc()
}

/// Returns how far ahead the clocks of the zone are, in seconds.
pub(super) fn offset_at(zone: Tz, at: DateTime<Utc>) -> i32 {
    let offset = zone.offset_from_utc_datetime(&at.naive_utc());
    offset.fix().local_minus_utc()
}

fn state(zone: Tz, at: DateTime<Utc>) -> (i32, String) {
    let name = at.with_timezone(&zone).format("%Z").to_string();
    (offset_at(zone, at), name)
}

/// Returns the changes between two instants, in order.
fn onsets(zone: Tz, begin: DateTime<Utc>, end: DateTime<Utc>) -> Vec<Onset> {
    let mut found = Vec::new();
    let mut at = begin;
    while at < end {
        let next = at + TimeDelta::days(STEP);
        let from = offset_at(zone, at);
        if offset_at(zone, next) == from {
            at = next;
            continue;
        }
        let (mut before, mut after) = (at, next);
        while after - before > TimeDelta::seconds(1) {
            let middle = before + TimeDelta::seconds((after - before).num_seconds() / 2);
            match offset_at(zone, middle) == from {
                true => before = middle,
                false => after = middle,
            }
        }
        let (to, name) = state(zone, after);
        found.push(Onset {
            at: after,
            from,
            to,
            name,
        });
        at = after;
    }
    found
}

/// Returns these changes in groups: those that follow a rule in years in a row, and those that follow none. A rule that
/// still holds in the `last` year has no end.
fn grouped(onsets: Vec<Onset>, last: i32) -> Vec<Group> {
    let mut kinds: Vec<(Kind, Vec<Onset>)> = Vec::new();
    for onset in onsets {
        let kind = onset.kind();
        match kinds.iter_mut().find(|it| it.0 == kind) {
            Some((_, same)) => same.push(onset),
            None => kinds.push((kind, vec![onset])),
        }
    }
    let (mut groups, mut singles) = (Vec::new(), Vec::new());
    for (kind, same) in kinds {
        for run in runs(same) {
            match rule_of(&kind, &run, last).filter(|_| run.len() >= LEAST) {
                rule @ Some(_) => groups.push(Group { onsets: run, rule }),
                None => singles.extend(run),
            }
        }
    }
    singles.sort_by_key(|it| it.at);
    for single in singles {
        let is_same =
            |it: &Onset| (it.from, it.to, &it.name) == (single.from, single.to, &single.name);
        let mut listed = groups.iter_mut().filter(|it| it.rule.is_none());
        match listed.find(|it| it.onsets.first().is_some_and(is_same)) {
            Some(group) => group.onsets.push(single),
            None => groups.push(Group {
                onsets: vec![single],
                rule: None,
            }),
        }
    }
    groups
}

/// Splits changes of one kind into runs of years in a row that one rule can tell.
fn runs(onsets: Vec<Onset>) -> Vec<Vec<Onset>> {
    let mut runs: Vec<Vec<Onset>> = Vec::new();
    for onset in onsets {
        let continues = |run: &Vec<Onset>| {
            let previous = run.last().map(|it| it.local().year());
            let mut days: Vec<NaiveDate> = run.iter().map(|it| it.local().date()).collect();
            days.push(onset.local().date());
            previous == Some(onset.local().year() - 1) && days_of(&days).is_some()
        };
        match runs.last_mut().filter(|it| continues(it)) {
            Some(run) => run.push(onset),
            None => runs.push(vec![onset]),
        }
    }
    runs
}

fn rule_of(kind: &Kind, run: &[Onset], last: i32) -> Option<String> {
    let days: Vec<NaiveDate> = run.iter().map(|it| it.local().date()).collect();
    let weekday: String = kind.weekday.to_string().chars().take(2).collect();
    let weekday = weekday.to_ascii_uppercase();
    let day = match days_of(&days)? {
        Within::Last => format!("BYDAY=-1{weekday}"),
        Within::Nth(nth) => format!("BYDAY={nth}{weekday}"),
        Within::Days(first) => {
            let days = (first..first + 7).map(|it| it.to_string());
            let days: Vec<String> = days.collect();
            format!("BYDAY={weekday};BYMONTHDAY={}", days.join(","))
        }
    };
    let end = run.last().filter(|it| it.local().year() < last);
    let end = end.map(|it| it.at.format(";UNTIL=%Y%m%dT%H%M%SZ").to_string());
    let month = kind.month;
    Some(format!(
        "FREQ=YEARLY;BYMONTH={month};{day}{}",
        end.unwrap_or_default()
    ))
}

/// The week of a month in which one weekday is.
enum Within {
    /// The last seven days.
    Last,
    /// The first, second, third or fourth seven days.
    Nth(u32),
    /// The seven days from this one on.
    Days(u32),
}

/// Returns the week in which these days, all of one month, are.
fn days_of(days: &[NaiveDate]) -> Option<Within> {
    let is_last = |it: &NaiveDate| {
        let next = it.checked_add_days(Days::new(7));
        next.is_some_and(|next| next.month() != it.month())
    };
    if days.iter().all(is_last) {
        return Some(Within::Last);
    }
    let numbers = || days.iter().map(chrono::Datelike::day);
    let (least, most) = (numbers().min()?, numbers().max()?);
    let nth = least.div_ceil(7);
    if nth == most.div_ceil(7) && nth <= 4 {
        return Some(Within::Nth(nth));
    }
    let first = most.saturating_sub(6).max(1);
    (first <= least && first <= 22).then_some(Within::Days(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defined(zone: Tz, year: i32) -> String {
        Definition::of(zone, january(year) + TimeDelta::days(100)).to_text()
    }

    #[test]
    fn a_zone_is_told_by_the_rules_of_its_clocks() {
        let berlin = defined(Tz::Europe__Berlin, 2027);
        assert_eq!(
            berlin.replace("\r\n", " "),
            "BEGIN:VTIMEZONE TZID:Europe/Berlin \
             BEGIN:DAYLIGHT TZOFFSETFROM:+0100 TZOFFSETTO:+0200 TZNAME:CEST DTSTART:20260329T020000 \
             RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU END:DAYLIGHT \
             BEGIN:STANDARD TZOFFSETFROM:+0200 TZOFFSETTO:+0100 TZNAME:CET DTSTART:20261025T030000 \
             RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU END:STANDARD END:VTIMEZONE "
        );
        for (zone, rule) in [
            (
                Tz::America__New_York,
                "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU",
            ),
            (
                Tz::Australia__Sydney,
                "RRULE:FREQ=YEARLY;BYMONTH=4;BYDAY=1SU",
            ),
            (
                Tz::America__Santiago,
                "RRULE:FREQ=YEARLY;BYMONTH=9;BYDAY=SU;BYMONTHDAY=2,3,4,5,6,7,8",
            ),
            (
                Tz::Asia__Tokyo,
                "TZOFFSETFROM:+0900\r\nTZOFFSETTO:+0900\r\nTZNAME:JST",
            ),
            (Tz::Asia__Kathmandu, "TZOFFSETTO:+0545"),
            (Tz::Africa__Casablanca, "RDATE:"),
        ] {
            let text = defined(zone, 2027);
            assert!(text.contains(rule), "{text}");
        }
    }

    /// Returns the defined offset in seconds at an instant: that of the last change before it.
    fn offset_by(text: &str, at: DateTime<Utc>) -> Option<i32> {
        let mut last: Option<(DateTime<Utc>, i32)> = None;
        let (mut from, mut to) = (0, 0);
        let mut start = NaiveDateTime::default();
        let seconds = |it: &str| {
            let number: i32 = it.get(1..5).and_then(|it| it.parse().ok()).unwrap();
            let all = number / 100 * 3600 + number % 100 * 60;
            if it.starts_with('-') { -all } else { all }
        };
        let time = |it: &str| NaiveDateTime::parse_from_str(it, "%Y%m%dT%H%M%S").unwrap();
        for line in text.lines() {
            let (name, value) = line.split_once(':').unwrap();
            let starts = match name {
                "TZOFFSETFROM" => {
                    from = seconds(value);
                    continue;
                }
                "TZOFFSETTO" => {
                    to = seconds(value);
                    continue;
                }
                "DTSTART" => {
                    start = time(value);
                    vec![start]
                }
                "RDATE" => vec![time(value)],
                "RRULE" => {
                    let years = start.year()..=at.year();
                    years
                        .map(|it| by_rule(value, it).and_time(start.time()))
                        .collect()
                }
                _ => continue,
            };
            let until = value
                .split_once(";UNTIL=")
                .map(|it| time(it.1.trim_end_matches('Z')));
            for start in starts {
                let change = start.and_utc() - TimeDelta::seconds(from.into());
                let is_over = until.is_some_and(|it| change.naive_utc() > it);
                if !is_over && change <= at && last.is_none_or(|it| it.0 <= change) {
                    last = Some((change, to));
                }
            }
        }
        last.map(|it| it.1)
    }

    fn by_rule(rule: &str, year: i32) -> NaiveDate {
        let part = |name: &str| {
            let mut parts = rule.split(';').filter_map(|it| it.split_once('='));
            parts.find(|it| it.0 == name).map(|it| it.1.to_owned())
        };
        let month = part("BYMONTH").unwrap().parse().unwrap();
        let day = part("BYDAY").unwrap();
        let (number, name) = day.split_at(day.len() - 2);
        let is_day = |it: &NaiveDate| it.weekday().to_string().to_uppercase().starts_with(name);
        let all = (1..=31).filter_map(|it| NaiveDate::from_ymd_opt(year, month, it));
        let days: Vec<NaiveDate> = all.filter(is_day).collect();
        match (number, part("BYMONTHDAY")) {
            ("-1", _) => *days.last().unwrap(),
            ("", Some(some)) => {
                let some: Vec<u32> = some.split(',').map(|it| it.parse().unwrap()).collect();
                *days.iter().find(|it| some.contains(&it.day())).unwrap()
            }
            (nth, _) => days[nth.parse::<usize>().unwrap() - 1],
        }
    }

    #[test]
    fn every_zone_is_defined_as_its_clocks_are_set() {
        for zone in zones() {
            for year in [1975, 2024, 2027] {
                let text = defined(zone, year);
                let mut at = january(year) + TimeDelta::days(100);
                while at.year() < year + 8 {
                    let offset = offset_at(zone, at);
                    // What is not told in whole minutes is long over.
                    if offset % 60 == 0 {
                        assert_eq!(offset_by(&text, at), Some(offset), "{zone} {at} {text}");
                    }
                    at += TimeDelta::hours(211);
                }
            }
        }
    }

    fn zones() -> Vec<Tz> {
        [
            "Europe/Berlin",
            "Europe/Dublin",
            "Europe/London",
            "Europe/Moscow",
            "America/New_York",
            "America/Sao_Paulo",
            "America/Santiago",
            "America/St_Johns",
            "America/Caracas",
            "Africa/Casablanca",
            "Africa/Cairo",
            "Asia/Jerusalem",
            "Asia/Gaza",
            "Asia/Tehran",
            "Asia/Kolkata",
            "Asia/Pyongyang",
            "Australia/Lord_Howe",
            "Australia/Sydney",
            "Pacific/Apia",
            "Pacific/Chatham",
            "Antarctica/Troll",
            "Etc/GMT+5",
            "GMT",
        ]
        .iter()
        .map(|it| it.parse().unwrap())
        .collect()
    }
}

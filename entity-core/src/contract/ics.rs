//! Events out of iCalendar files (RFC 5545), as programs and services for calendars write them.
//!
//! ```
//! let file = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:1\r\nSUMMARY:Lecture\r\nDTSTART:20261121T100000Z\r\nDURATION:PT90M\r\n\
//!     END:VEVENT\r\nEND:VCALENDAR\r\n";
//! let events = entity_core::ics::read(file, 10).unwrap();
//! let (line, event) = &events[0];
//! let event = event.as_ref().unwrap();
//! assert_eq!((*line, event.summary.as_str(), event.length.num_minutes()), (2, "Lecture", 90));
//! ```

use chrono::{NaiveDate, NaiveDateTime, TimeDelta};
use icalendar::parser::{Component, Property, read_calendar_simple, unfold};

use crate::DateTimeUtc;
use crate::primitives::error::{Error, Result};
use crate::primitives::recurrence::{self, Tz};

/// The maximum number of components that are one within another.
const MOST_DEPTH: usize = 4;
/// The maximum number of bytes of a UID.
const MOST_UID: usize = 500;
/// The message about a text that is no time.
const TIMES: &str = "must be a day or a time, such as 20261121 or 20261121T100000Z";
/// The message about a text that is no file of events.
const NO_FILE: &str = "must be an iCalendar file";

/// An event of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IcsEvent {
    /// The UID, by which programs know the event again.
    pub uid: String,
    /// The headline, plain text; empty if there is none.
    pub summary: String,
    /// The description, plain text; empty if there is none.
    pub description: String,
    /// The place; empty if there is none.
    pub location: String,
    /// When it begins; for an event that recurs, when it first begins.
    pub start: DateTimeUtc,
    /// The time zone of the beginning, in which it recurs.
    pub zone: Tz,
    /// The time that it takes. A file may say that it ends before it begins.
    pub length: TimeDelta,
    /// The recurrence rule; empty for an event that takes place once.
    pub rule: String,
    /// The instants of the occurrences that do not take place.
    pub excluded: Vec<DateTimeUtc>,
    /// The instant of the occurrence that this event replaces, if it is one of the event with the same UID that recurs.
    pub replaces: Option<DateTimeUtc>,
}

/// Reads the events of a file, of which there are at most so many. Each comes with the number of the line with which it
/// begins, and is an error that names the property if it can't be understood.
///
/// # Errors
/// Returns a message that continues the name of the file if it is none of events, or has too many of them.
pub fn read(file: &str, most: usize) -> Result<Vec<(u64, Result<IcsEvent>)>, String> {
    let file = unfold(file);
    let lines = lines_of_events(&file, most)?;
    if file.contains('\0') {
        return Err(NO_FILE.to_owned());
    }
    let roots = read_calendar_simple(&file).map_err(|_reason| NO_FILE.to_owned())?;
    if roots.iter().any(|it| it.name != "VCALENDAR") || roots.is_empty() {
        return Err(NO_FILE.to_owned());
    }
    let events = roots.iter().flat_map(|root| {
        let usual = usual_zone(root);
        let events = root.components.iter().filter(|it| it.name == "VEVENT");
        events.map(move |it| IcsEvent::of(it, usual))
    });
    Ok(lines.into_iter().zip(events).collect())
}

/// Returns the numbers of the lines with which events begin.
fn lines_of_events(file: &str, most: usize) -> Result<Vec<u64>, String> {
    let (mut lines, mut depth) = (Vec::new(), 0_usize);
    for (number, line) in (1_u64..).zip(file.lines()) {
        if line.starts_with("BEGIN:") {
            depth = depth.saturating_add(1);
        } else if line.starts_with("END:") {
            depth = depth.saturating_sub(1);
        }
        if line.trim_end() == "BEGIN:VEVENT" {
            lines.push(number);
        }
        if depth > MOST_DEPTH || lines.len() > most {
            return Err(format!(
                "must not have more than {most} events, nor parts of their parts"
            ));
        }
    }
    Ok(lines)
}

/// Returns the time zone of local times for which none is named: that of the calendar, if it says one, else UTC.
fn usual_zone(calendar: &Component<'_>) -> Tz {
    recurrence::zone(text(calendar, "X-WR-TIMEZONE")).unwrap_or(Tz::UTC)
}

/// Returns the value of a property; empty if there is none.
fn text<'a>(event: &'a Component<'_>, name: &str) -> &'a str {
    event
        .find_prop(name)
        .map_or("", |it| it.val.as_str().trim())
}

impl IcsEvent {
    fn of(event: &Component<'_>, usual: Tz) -> Result<Self> {
        let uid = text(event, "UID");
        if uid.is_empty() || uid.len() > MOST_UID {
            return Err(Error::field("UID", "is required, and must not be too long"));
        }
        let replaces = event.find_prop("RECURRENCE-ID");
        let replaces = replaces.map(|it| Time::of(it, usual)).transpose()?;
        let start = event.find_prop("DTSTART");
        let start = start.ok_or_else(|| Error::field("DTSTART", "is required"))?;
        let start = Time::of(start, usual)?;
        let text = |name: &str| text(event, name).to_owned();
        Ok(Self {
            uid: text("UID"),
            summary: text("SUMMARY"),
            description: text("DESCRIPTION"),
            location: text("LOCATION"),
            start: start.at,
            zone: start.zone,
            length: start.length(event, usual)?,
            rule: text("RRULE"),
            excluded: excluded(event, usual)?,
            replaces: replaces.map(|it| it.at),
        })
    }
}

/// Returns the instants of the occurrences that do not take place.
fn excluded(event: &Component<'_>, usual: Tz) -> Result<Vec<DateTimeUtc>> {
    let mut instants = Vec::new();
    for property in event.properties.iter().filter(|it| it.name == "EXDATE") {
        for text in property.val.as_str().split(',') {
            instants.push(Time::parse(property, text, usual)?.at);
        }
    }
    Ok(instants)
}

/// A time of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Time {
    at: DateTimeUtc,
    zone: Tz,
    /// True if it is a whole day.
    is_day: bool,
}

impl Time {
    fn of(property: &Property<'_>, usual: Tz) -> Result<Self> {
        Self::parse(property, property.val.as_str(), usual)
    }

    /// Parses one of the values of a property: a day, a time in UTC, or one by the clock of a zone, which is `usual`
    /// if none is named. A time that the clocks skip is counted from before the skip.
    fn parse(property: &Property<'_>, text: &str, usual: Tz) -> Result<Self> {
        let wrong = |message: &str| Error::field(property.name.as_str(), message);
        let text = text.trim();
        if text.len() > "20261121T100000Z".len() || !text.starts_with(|c: char| c.is_ascii_digit())
        {
            return Err(wrong(TIMES));
        }
        let zone = property.params.iter().find(|it| it.key == "TZID");
        let zone = zone
            .and_then(|it| it.val.as_ref())
            .map(|it| it.as_str().trim_matches('"'));
        let zone = match zone {
            Some(name) => recurrence::zone(name).ok_or_else(|| {
                wrong("must have a time zone of the IANA database, such as Europe/Berlin")
            })?,
            None => usual,
        };
        let day = NaiveDate::parse_from_str(text, "%Y%m%d").ok();
        let day = day.and_then(|it| it.and_hms_opt(0, 0, 0));
        let (zone, local) = match text.strip_suffix('Z') {
            Some(utc) => (Tz::UTC, utc),
            None => (zone, text),
        };
        let time = || NaiveDateTime::parse_from_str(local, "%Y%m%dT%H%M%S").ok();
        let local = day.or_else(time).ok_or_else(|| wrong(TIMES))?;
        let at = recurrence::place(local, zone);
        Ok(Self {
            at: at.ok_or_else(|| wrong("must be a time that there is"))?,
            zone,
            is_day: day.is_some(),
        })
    }

    /// Returns how long an event takes that begins now.
    fn length(&self, event: &Component<'_>, usual: Tz) -> Result<TimeDelta> {
        if let Some(end) = event.find_prop("DTEND") {
            return Ok(Time::of(end, usual)?.at - self.at);
        }
        match text(event, "DURATION") {
            "" if self.is_day => Ok(TimeDelta::days(1)),
            "" => Ok(TimeDelta::zero()),
            text => duration(text).ok_or_else(|| {
                Error::field("DURATION", "must be a length of time, such as PT1H30M")
            }),
        }
    }
}

/// Parses a length of time such as `PT1H30M`, `P2D` or `P1W`.
fn duration(text: &str) -> Option<TimeDelta> {
    let text = text.strip_prefix('+').unwrap_or(text).strip_prefix('P')?;
    let (mut sum, mut digits) = (0_i64, String::new());
    for c in text.chars() {
        let unit = match c {
            '0'..='9' => {
                digits.push(c);
                continue;
            }
            'T' if digits.is_empty() => continue,
            'W' => 7 * 24 * 3600,
            'D' => 24 * 3600,
            'H' => 3600,
            'M' => 60,
            'S' => 1,
            _ => return None,
        };
        let number: i64 = digits.parse().ok()?;
        sum = sum.checked_add(number.checked_mul(unit)?)?;
        digits.clear();
    }
    let is_whole = digits.is_empty() && text.ends_with(|c: char| c.is_ascii_alphabetic());
    TimeDelta::try_seconds(sum).filter(|_| is_whole && !text.ends_with('T'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 500;

    #[test]
    fn lengths_of_time_are_read() {
        for (text, seconds) in [
            ("PT1H30M", Some(5400)),
            ("P2D", Some(172_800)),
            ("P1W", Some(604_800)),
            ("P1DT12H", Some(129_600)),
            ("+PT5S", Some(5)),
            ("PT", None),
            ("P", None),
            ("-PT1H", None),
            ("PT1", None),
            ("PTH", None),
            ("P99999999999999999999W", None),
            ("P9223372036854775807W", None),
        ] {
            assert_eq!(duration(text), seconds.map(TimeDelta::seconds), "{text}");
        }
    }

    #[test]
    fn times_are_read_by_the_clock_of_their_zone() {
        let time = |text: &str, zone: Option<&'static str>| {
            let mut property = Property::new_ref("DTSTART", "");
            let zone = zone.map(|it| icalendar::parser::Parameter::new_ref("TZID", Some(it)));
            property.params = zone.into_iter().collect();
            Time::parse(&property, text, Tz::UTC)
                .map(|it| it.at.to_rfc3339())
                .ok()
        };
        for (text, zone, expected) in [
            ("20261121T100000Z", None, Some("2026-11-21T10:00:00+00:00")),
            ("20261121T100000", None, Some("2026-11-21T10:00:00+00:00")),
            (
                "20261121T100000",
                Some("Europe/Berlin"),
                Some("2026-11-21T09:00:00+00:00"),
            ),
            (
                "20261121",
                Some("Europe/Berlin"),
                Some("2026-11-20T23:00:00+00:00"),
            ),
            // The hour that the clock leaves out in spring, and the one that comes twice in autumn.
            (
                "20260329T023000",
                Some("Europe/Berlin"),
                Some("2026-03-29T01:30:00+00:00"),
            ),
            (
                "20261025T023000",
                Some("Europe/Berlin"),
                Some("2026-10-25T00:30:00+00:00"),
            ),
            ("20261121T100000", Some("Mars/Phobos"), None),
            ("tomorrow", None, None),
            ("", None, None),
        ] {
            assert_eq!(time(text, zone).as_deref(), expected, "{text} {zone:?}");
        }
    }

    #[test]
    fn a_calendar_names_the_zone_of_what_names_none() {
        let file = "BEGIN:VCALENDAR\r\nX-WR-TIMEZONE:Europe/Berlin\r\nBEGIN:VEVENT\r\nUID:a\r\n\
            DTSTART:20270329T090000\r\nDTEND:20270329T080000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
        let events = read(file, MOST).unwrap();
        let event = events[0].1.as_ref().unwrap();
        assert_eq!(event.start.to_rfc3339(), "2027-03-29T07:00:00+00:00");
        assert_eq!(
            (event.zone.name(), event.length.num_minutes()),
            ("Europe/Berlin", 60)
        );
    }

    #[test]
    fn files_are_bounded() {
        let deep = "BEGIN:X\r\n".repeat(100_000);
        assert!(read(&deep, MOST).is_err());
        let many = "BEGIN:VEVENT\r\nEND:VEVENT\r\n".repeat(MOST + 1);
        assert!(read(&format!("BEGIN:VCALENDAR\r\n{many}END:VCALENDAR\r\n"), MOST).is_err());
        for wrong in [
            "",
            "x",
            "BEGIN:VEVENT\r\nEND:VEVENT\r\n",
            "BEGIN:VCALENDAR\r\n",
        ] {
            assert!(read(wrong, MOST).is_err(), "{wrong}");
        }
    }
}

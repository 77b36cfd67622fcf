//! Instants as clients write them: ISO 8601 in its usual forms, or milliseconds since 1970.

use chrono::{DateTime, Datelike as _, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, Utc};

/// The values that an instant is expected to have, for error messages.
pub(super) const EXPECTED: &str =
    "an instant such as 2026-11-21T10:00:00Z, or milliseconds since 1970";

/// Numbers nearer to zero are refused: read as milliseconds they name an instant of the years 1966 to 1973, and who
/// sends one means seconds, or a date without hyphens.
const LEAST_MILLIS: u64 = 100_000_000_000;

/// The forms of a time of day, extended and basic.
const TIMES: [&str; 4] = ["%H:%M:%S%.f", "%H:%M", "%H%M%S%.f", "%H%M"];

/// Parses an instant: a date, alone or with a time of day, with or without a zone. What has no zone is UTC, unless the
/// entity names one; a date alone is its midnight.
pub(crate) fn parse(text: &str) -> Result<DateTime<Utc>, String> {
    match text.parse::<i64>() {
        Ok(millis) => of_millis(millis),
        Err(_not_a_number) => iso(text)
            .filter(is_writable)
            .ok_or_else(|| format!("must be {EXPECTED}")),
    }
}

/// Converts milliseconds since 1970.
pub(super) fn of_millis(millis: i64) -> Result<DateTime<Utc>, String> {
    if millis.unsigned_abs() < LEAST_MILLIS {
        return Err(format!(
            "must be {EXPECTED}: milliseconds have 12 digits or more, seconds and dates without hyphens are not read"
        ));
    }
    DateTime::from_timestamp_millis(millis)
        .filter(is_writable)
        .ok_or_else(|| format!("must be {EXPECTED}"))
}

/// Returns whether the year has four digits or fewer: others have no ISO 8601 text that every client can read.
pub(super) fn is_writable(instant: &DateTime<Utc>) -> bool {
    (1..=9999).contains(&instant.year())
}

/// Returns the local time that `text` is, if it is a date, alone or with a time of day, without a zone: the time that
/// `<input type="datetime-local">` sends.
pub(crate) fn local(text: &str) -> Option<NaiveDateTime> {
    let (local, zone) = split(text.trim())?;
    // Digits alone are milliseconds.
    let is_local = zone.is_empty() && text.trim().parse::<i64>().is_err();
    is_local.then_some(local)
}

fn iso(text: &str) -> Option<DateTime<Utc>> {
    let (local, zone) = split(text)?;
    Some(local.and_local_timezone(zone_of(zone)?).single()?.to_utc())
}

/// Splits an instant into the local time and the zone, which is empty if there is none.
fn split(text: &str) -> Option<(NaiveDateTime, &str)> {
    let (date, rest) = match text.find(['T', 't', ' ']) {
        Some(at) => (text.get(..at)?, text.get(at.checked_add(1)?..)?),
        None => (text, ""),
    };
    let date = day(date)?;
    if rest.is_empty() {
        // A separator with nothing behind it is no time.
        let is_alone = !text.ends_with(['T', 't', ' ']);
        return is_alone.then(|| (date.and_time(NaiveTime::MIN), ""));
    }
    let (time, zone) = split_zone(rest);
    Some((date.and_time(time_of_day(time)?), zone))
}

fn day(text: &str) -> Option<NaiveDate> {
    let form = match text.len() {
        10 => "%Y-%m-%d",
        8 => "%Y%m%d",
        _ => return None,
    };
    let is_plain = text.bytes().all(|it| it.is_ascii_digit() || it == b'-');
    NaiveDate::parse_from_str(text, form)
        .ok()
        .filter(|_| is_plain)
}

/// Splits off the zone. A plus that was not encoded arrives as a space.
fn split_zone(text: &str) -> (&str, &str) {
    let at = text.find(['Z', 'z', '+', '-', ' ']).unwrap_or(text.len());
    text.split_at_checked(at).unwrap_or((text, ""))
}

fn time_of_day(text: &str) -> Option<NaiveTime> {
    let text = text.replace(',', ".");
    let mut digits = text.bytes();
    let is_plain = digits.all(|it| it.is_ascii_digit() || matches!(it, b':' | b'.'));
    let whole = text.split('.').next().unwrap_or_default();
    let is_whole = match whole.find(':') {
        Some(at) => at == 2 && matches!(whole.len(), 5 | 8),
        None => matches!(whole.len(), 4 | 6),
    };
    TIMES
        .iter()
        .find_map(|form| NaiveTime::parse_from_str(&text, form).ok())
        .filter(|_| is_plain && is_whole)
}

fn zone_of(text: &str) -> Option<FixedOffset> {
    if matches!(text, "" | "Z" | "z") {
        return FixedOffset::east_opt(0);
    }
    let (sign, digits) = text.split_at_checked(1)?;
    let digits = match digits.len() {
        5 if digits.get(2..3) == Some(":") => digits.replace(':', ""),
        2 => format!("{digits}00"),
        _ => digits.to_owned(),
    };
    let is_plain = digits.len() == 4 && digits.bytes().all(|it| it.is_ascii_digit());
    let number = digits.parse::<i32>().ok().filter(|_| is_plain)?;
    let (hours, minutes) = (number / 100, number % 100);
    let seconds = (hours <= 23 && minutes <= 59).then_some((hours * 60 + minutes) * 60)?;
    match sign {
        "-" => FixedOffset::west_opt(seconds),
        _ => FixedOffset::east_opt(seconds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_offsets_are_read_in_the_forms_that_people_write() {
        for (text, expected) in [
            ("2027-01-15", "2027-01-15T00:00:00Z"),
            ("2027-01-15T08:00Z", "2027-01-15T08:00:00Z"),
            ("2027-01-15T08:00", "2027-01-15T08:00:00Z"),
            ("2027-01-15 08:00:00", "2027-01-15T08:00:00Z"),
            ("2027-01-15T08:00:00.25z", "2027-01-15T08:00:00.250Z"),
            ("2027-01-15T08:00:00,5Z", "2027-01-15T08:00:00.500Z"),
            ("2027-01-15T08:00:00+0100", "2027-01-15T07:00:00Z"),
            ("2027-01-15T08:00:00+01:30", "2027-01-15T06:30:00Z"),
            ("2027-01-15T08:00-05", "2027-01-15T13:00:00Z"),
            ("2027-01-15T08:00:00 01:00", "2027-01-15T07:00:00Z"),
            ("20270115T080000Z", "2027-01-15T08:00:00Z"),
            ("1800000000000", "2027-01-15T08:00:00Z"),
            ("-1800000000000", "1912-12-17T16:00:00Z"),
        ] {
            let read =
                parse(text).map(|it| it.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true));
            assert_eq!(read.as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_instant_is_refused() {
        for text in [
            "",
            "T",
            "2027-01-15T",
            "2027-01-15 ",
            "2027-1-15",
            "2027-02-30",
            "27-01-15",
            "+027-01-15",
            "2027-01-15T25:00",
            "2027-01-15T8:00",
            "2027-01-15T08",
            "2027-01-15T08:00+24:00",
            "2027-01-15T08:00+1",
            "2027-01-15T08:00Zx",
            "2027-01-15T08:00+01:00Z",
            "2027-W03-4",
            "tomorrow",
            "9223372036854775807",
            "0000-01-01",
            "2027-01-15T08:00:00\u{e9}",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_number_that_is_too_small_for_milliseconds_is_refused_with_words() {
        for text in ["20270115", "1800000000", "0", "-5", "99999999999"] {
            let message = parse(text).unwrap_err();
            assert!(message.contains("12 digits"), "{text}: {message}");
        }
        assert!(parse("100000000000").is_ok());
    }
}

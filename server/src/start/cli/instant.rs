//! Instants as an operator writes them: `2026-11-26`, `2026-11-26T08:00:00Z`, or how long ago it was: `2d`.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Utc};

/// The refusal of a text that is no instant.
const EXPECTED: &str = "write an instant such as 2026-11-26T08:00:00Z or 2026-11-26 (UTC), or how long ago it was, \
                        such as 30m, 12h or 2d";

/// An instant, or how long before the present one it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Instant {
    At(DateTime<Utc>),
    Ago(TimeDelta),
}

impl Instant {
    /// Reads `text`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let found = ago(text).map(Self::Ago).or_else(|| at(text).map(Self::At));
        found.ok_or_else(|| EXPECTED.to_owned())
    }

    /// The instant, if it is `now`; the first one there is if that was too long ago.
    pub(super) fn before(self, now: DateTime<Utc>) -> DateTime<Utc> {
        match self {
            Self::At(instant) => instant,
            Self::Ago(time) => now
                .checked_sub_signed(time)
                .unwrap_or(DateTime::<Utc>::MIN_UTC),
        }
    }
}

fn ago(text: &str) -> Option<TimeDelta> {
    let digits = text.trim_end_matches(|it: char| it.is_ascii_alphabetic());
    let seconds = match text.strip_prefix(digits)? {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 604_800,
        _ => return None,
    };
    let is_number = digits.bytes().all(|it| it.is_ascii_digit());
    let number: i64 = digits.parse().ok().filter(|_| is_number)?;
    TimeDelta::try_seconds(number.checked_mul(seconds)?)
}

fn at(text: &str) -> Option<DateTime<Utc>> {
    if let Ok(instant) = DateTime::parse_from_rfc3339(text) {
        return Some(instant.to_utc());
    }
    if let Ok(day) = text.parse::<NaiveDate>() {
        return Some(day.and_time(NaiveTime::MIN).and_utc());
    }
    let forms = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%MZ"];
    let mut found = forms
        .iter()
        .filter_map(|form| NaiveDateTime::parse_from_str(text, form).ok());
    found.next().map(|it| it.and_utc())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_and_durations_are_told_apart() {
        let now = at("2026-11-26T08:00:00Z").unwrap();
        for (text, expected) in [
            ("2026-11-26", "2026-11-26T00:00:00Z"),
            ("2026-11-26T07:30", "2026-11-26T07:30:00Z"),
            ("2026-11-26T07:30Z", "2026-11-26T07:30:00Z"),
            ("2026-11-26T07:30:05", "2026-11-26T07:30:05Z"),
            ("2026-11-26T09:30:00+02:00", "2026-11-26T07:30:00Z"),
            ("2d", "2026-11-24T08:00:00Z"),
            ("90m", "2026-11-26T06:30:00Z"),
            ("1w", "2026-11-19T08:00:00Z"),
            ("0s", "2026-11-26T08:00:00Z"),
        ] {
            let found = Instant::parse(text).map(|it| it.before(now));
            assert_eq!(found, Ok(at(expected).unwrap()), "{text}");
        }
    }

    #[test]
    fn what_is_no_instant_is_refused_and_none_is_too_far() {
        for text in [
            "",
            "d",
            "2",
            "-2d",
            "+2d",
            "2 d",
            "2y",
            "yesterday",
            "2026-13-01",
            "١d",
            "99999999999999999999d",
            "9223372036854775807w",
        ] {
            assert!(Instant::parse(text).is_err(), "{text}");
        }
        let long = Instant::parse("9000000000000s").unwrap();
        assert_eq!(
            long.before(at("2026-11-26").unwrap()),
            DateTime::<Utc>::MIN_UTC
        );
    }
}

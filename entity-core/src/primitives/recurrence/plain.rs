//! Recurrence rules as people say them: how often, and until when or how many times.

use chrono::{NaiveDate, NaiveTime};

use super::{Brief, Tz, canonical, parts};

/// The periods that people choose from: each with its name in forms, its words, and its rule.
pub const PERIODS: [(&str, &str, &str); 5] = [
    ("day", "every day", "FREQ=DAILY"),
    ("week", "every week", "FREQ=WEEKLY"),
    ("fortnight", "every two weeks", "FREQ=WEEKLY;INTERVAL=2"),
    ("month", "every month", "FREQ=MONTHLY"),
    ("year", "every year", "FREQ=YEARLY"),
];

/// The names of the days of a week, with those that rules have for them.
const DAYS: [(&str, &str); 7] = [
    ("MO", "Monday"),
    ("TU", "Tuesday"),
    ("WE", "Wednesday"),
    ("TH", "Thursday"),
    ("FR", "Friday"),
    ("SA", "Saturday"),
    ("SU", "Sunday"),
];

/// A rule that a form can say: a period of [`PERIODS`], and an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plain {
    /// The name of the period.
    pub period: &'static str,
    /// The last day, by the clock of the event, if there is one.
    pub until: Option<NaiveDate>,
    /// The number of times, if that ends it.
    pub times: Option<u32>,
}

impl Plain {
    /// Returns what the rule `text` of an event in `zone` says, if a form can say exactly that.
    pub fn of(text: &str, zone: Tz) -> Option<Self> {
        let brief = Brief::of(text, zone)?;
        let until = brief.until.map(|it| it.with_timezone(&zone).date_naive());
        let mut plain = PERIODS.iter().map(|(period, ..)| Self {
            period,
            until,
            times: brief.count,
        });
        let text = canonical(text, zone);
        plain.find(|it| it.to_rule().is_some_and(|it| canonical(&it, zone) == text))
    }

    /// Returns the rule, if the period is one of those that there are.
    pub fn to_rule(&self) -> Option<String> {
        let (_, _, rule) = PERIODS.iter().find(|it| it.0 == self.period)?;
        let until = self.until.map(|it| it.format(";UNTIL=%Y%m%d").to_string());
        let times = self.times.map(|it| format!(";COUNT={it}"));
        Some(
            [
                (*rule).to_owned(),
                until.unwrap_or_default(),
                times.unwrap_or_default(),
            ]
            .concat(),
        )
    }
}

/// Returns the rule `text` of an event in `zone` in words, such as `every week on Tuesday, 10 times`, as far as there are
/// words for it.
pub fn words(text: &str, zone: Tz) -> Option<String> {
    let brief = Brief::of(text, zone)?;
    let unit = brief.frequency;
    let mut words = match brief.interval {
        1 => format!("every {unit}"),
        2 => format!("every two {unit}s"),
        more => format!("every {more} {unit}s"),
    };
    let mut is_whole = true;
    for (name, value) in parts(text).ok()? {
        let day = |it: &str| Some(DAYS.iter().find(|day| day.0 == it)?.1);
        let days: Option<Vec<_>> = value.split(',').map(day).collect();
        match (name, days) {
            ("FREQ" | "INTERVAL" | "COUNT" | "UNTIL" | "WKST", _) => {}
            ("BYDAY", Some(days)) if matches!(unit, "day" | "week") => {
                words = format!("{words} on {}", days.join(", "));
            }
            ("BYMONTHDAY", _) if unit == "month" && value.parse::<u8>().is_ok() => {
                words = format!("{words} on day {value}");
            }
            _ => is_whole = false,
        }
    }
    if !is_whole {
        words.push_str(" on certain days");
    }
    if let Some(times) = brief.count {
        words = format!("{words}, {times} times");
    }
    if let Some(until) = brief.until {
        let local = until.with_timezone(&zone).naive_local();
        let is_day = NaiveTime::from_hms_opt(23, 59, 59) == Some(local.time());
        let form = if is_day {
            "%-d %b %Y"
        } else {
            "%-d %b %Y, %H:%M"
        };
        words = format!("{words}, until {}", local.format(form));
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::recurrence::zone;

    #[test]
    fn a_form_says_what_it_can_say_exactly() {
        let berlin = zone("Europe/Berlin").expect("a zone");
        let day = NaiveDate::from_ymd_opt(2027, 1, 31);
        for (rule, expected) in [
            ("FREQ=WEEKLY", Some(("week", None, None))),
            (
                "FREQ=WEEKLY;INTERVAL=2;COUNT=10",
                Some(("fortnight", None, Some(10))),
            ),
            (
                "FREQ=DAILY;UNTIL=20270131T225959Z",
                Some(("day", day, None)),
            ),
            ("FREQ=DAILY;UNTIL=20270131", Some(("day", day, None))),
            ("FREQ=DAILY;UNTIL=20270131T120000Z", None),
            ("FREQ=WEEKLY;BYDAY=TU,TH", None),
            ("FREQ=MONTHLY;INTERVAL=3", None),
            ("nonsense", None),
        ] {
            let plain = Plain::of(rule, berlin);
            let told = plain.as_ref().map(|it| (it.period, it.until, it.times));
            assert_eq!(told, expected, "{rule}");
            let written = plain.and_then(|it| it.to_rule());
            let again = written.map(|it| canonical(&it, berlin));
            assert!(
                again.is_none_or(|it| it == canonical(rule, berlin)),
                "{rule}"
            );
        }
    }

    #[test]
    fn a_rule_is_told_in_words_as_far_as_there_are_some() {
        for (rule, expected) in [
            (
                "FREQ=WEEKLY;INTERVAL=2;COUNT=10",
                "every two weeks, 10 times",
            ),
            (
                "FREQ=WEEKLY;BYDAY=TU,TH;UNTIL=20270131T235959Z",
                "every week on Tuesday, Thursday, until 31 Jan 2027",
            ),
            ("FREQ=MONTHLY;BYMONTHDAY=15", "every month on day 15"),
            ("FREQ=MONTHLY;BYDAY=2TU", "every month on certain days"),
            (
                "FREQ=YEARLY;INTERVAL=4;UNTIL=20400101T120000Z",
                "every 4 years, until 1 Jan 2040, 12:00",
            ),
        ] {
            assert_eq!(words(rule, Tz::UTC).as_deref(), Some(expected));
        }
    }
}

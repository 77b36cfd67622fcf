//! Measures: fields that people fill in as minutes, a time or words, and programs as a number or a rule.
//!
//! A type declares them by the [`Meaning`] of a field. Forms send them under a name of their own, so that what programs
//! send means the same as ever: `duration[minutes]` beside `duration`. A rule of recurrence is sent in parts: `rule[every]`
//! is one of [`PERIODS`], nothing or [`RULE`], which stands for the rule beside it, `rule`; `rule[until]` and `rule[times]`
//! say when the event ends.

use std::borrow::Cow;

use chrono::NaiveDate;
use serde_json::{Map, Value};

use crate::model::schema::{Field, Meaning, Schema};
use crate::model::value::instant;
use crate::primitives::error::FieldError;
use crate::primitives::recurrence::{self, PERIODS, Plain, Tz};

const MINUTES: &str = "[minutes]";
const TIME: &str = "[time]";
const EVERY: &str = "[every]";
/// The name of the part that says the last day of an event that recurs, behind the name of the field.
pub const UNTIL: &str = "[until]";
/// The name of the part that says how many times an event recurs, behind the name of the field.
pub const TIMES: &str = "[times]";
/// The value of a form that stands for the rule that is sent beside it.
pub const RULE: &str = "rule";
/// The milliseconds of a minute.
const MINUTE: i64 = 60_000;

/// Returns the name under which forms send what people enter for `field`.
pub fn form_name(field: &Field) -> String {
    match field.meaning {
        Some(Meaning::Length(_)) => format!("{}{MINUTES}", field.name),
        Some(Meaning::Seconds) => format!("{}{TIME}", field.name),
        Some(Meaning::Recurrence) => format!("{}{EVERY}", field.name),
        _ => field.name.to_owned(),
    }
}

/// Returns a length as a number of minutes: `90`, or `1.5` where it is no whole one. `length` is in units of so many
/// milliseconds.
pub fn minutes(length: i64, unit: i64) -> String {
    let millis = length.saturating_mul(unit);
    let (whole, rest) = (millis / MINUTE, millis % MINUTE);
    let part = format!(
        "{:06}",
        rest.abs().saturating_mul(100).saturating_add(3) / 6
    );
    match part.trim_end_matches('0') {
        "" => whole.to_string(),
        part => format!("{whole}.{part}"),
    }
}

/// Returns the fields of a form, those that were entered as people do as programs send them.
pub(crate) fn read<'a>(
    fields: &'a Map<String, Value>,
    schema: &Schema,
    zone: Option<Tz>,
) -> Result<Cow<'a, Map<String, Value>>, Vec<FieldError>> {
    let is_entered = |field: &&Field| fields.contains_key(&form_name(field));
    let is_measure = |it: &&Field| form_name(it) != it.name;
    let entered = schema.fields.iter().filter(is_measure).filter(is_entered);
    let (mut read, mut errors) = (Cow::Borrowed(fields), Vec::new());
    for field in entered {
        let mut take = |name: &str| match read.to_mut().remove(name) {
            Some(Value::String(text)) => text.trim().to_owned(),
            _ => String::new(),
        };
        let text = take(&form_name(field));
        let value = match field.meaning {
            Some(Meaning::Recurrence) => {
                let [until, times] = [UNTIL, TIMES].map(|it| take(&format!("{}{it}", field.name)));
                match text == RULE {
                    true => continue,
                    false => rule(&text, &until, &times).map(Value::from),
                }
            }
            _ => value(field, &text, zone),
        };
        match value {
            Ok(value) => drop(read.to_mut().insert(field.name.to_owned(), value)),
            Err(message) => errors.push(FieldError {
                name: field.name.to_owned(),
                message,
            }),
        }
    }
    match errors.is_empty() {
        true => Ok(read),
        false => Err(errors),
    }
}

/// Returns what programs send for `text`, as text. What is empty stays so.
fn value(field: &Field, text: &str, zone: Option<Tz>) -> Result<Value, String> {
    let number = match field.meaning {
        _ if text.is_empty() => return Ok(Value::from("")),
        Some(Meaning::Length(unit)) => {
            let millis = millis(text).ok_or("must be a number of minutes")?;
            millis.checked_div(unit).unwrap_or(millis)
        }
        _ => {
            let local = instant::local(text).zip(zone);
            let placed = local.and_then(|(local, zone)| recurrence::place(local, zone));
            match placed {
                Some(instant) => instant.timestamp(),
                None => instant::parse(text)?.timestamp(),
            }
        }
    };
    Ok(Value::from(number.to_string()))
}

/// Returns the rule that a form says; empty for an event that does not recur.
fn rule(every: &str, until: &str, times: &str) -> Result<String, String> {
    if every.is_empty() {
        return Ok(String::new());
    }
    let mut periods = PERIODS.iter().map(|it| it.0);
    let period = periods.find(|it| *it == every);
    let period = period.ok_or("must be one of the choices")?;
    let until = match until {
        "" => None,
        day => {
            let day = NaiveDate::parse_from_str(day, "%Y-%m-%d");
            Some(day.map_err(|_strange| "must end on a day such as 2027-01-31")?)
        }
    };
    let times = match times {
        "" => None,
        number => {
            let number = number.parse();
            Some(number.map_err(|_strange| "must take place a whole number of times")?)
        }
    };
    if until.is_some() && times.is_some() {
        return Err("must end on a day or after some times, not both".to_owned());
    }
    let plain = Plain {
        period,
        until,
        times,
    };
    Ok(plain.to_rule().unwrap_or_default())
}

/// Returns the milliseconds of a number of minutes, which may have six digits behind a point.
fn millis(minutes: &str) -> Option<i64> {
    let (whole, part) = minutes.split_once('.').unwrap_or((minutes, ""));
    let is_part = part.len() <= 6 && part.bytes().all(|it| it.is_ascii_digit());
    let millionths: i64 = format!("{part:0<6}").parse().ok().filter(|_| is_part)?;
    let whole: i64 = whole.parse().ok().filter(|it| *it >= 0)?;
    let rest = millionths.checked_mul(6)?.checked_add(50)? / 100;
    whole.checked_mul(MINUTE)?.checked_add(rest)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::schema::Kind;

    const SCHEMA: Schema = Schema {
        doc: "",
        fields: &[
            Field::new("length", Kind::Integer, "").meaning(Meaning::Length(1)),
            Field::new("limit", Kind::Integer, "").meaning(Meaning::Length(1000)),
            Field::new("opens", Kind::Integer, "").meaning(Meaning::Seconds),
            Field::new("rule", Kind::Text(300), "").meaning(Meaning::Recurrence),
        ],
        has_feed: false,
        has_events: false,
        has_site: false,
        look: crate::model::look::Look::PLAIN,
    };

    fn read_all(fields: &Value) -> Result<Value, Vec<FieldError>> {
        let fields = fields.as_object().expect("fields");
        read(fields, &SCHEMA, None).map(|it| Value::Object(it.into_owned()))
    }

    #[test]
    fn what_people_enter_is_read_as_what_programs_send() {
        for (entered, expected) in [
            (
                json!({"length[minutes]": "90"}),
                json!({"length": "5400000"}),
            ),
            (
                json!({"length[minutes]": "1.5"}),
                json!({"length": "90000"}),
            ),
            (json!({"limit[minutes]": "20"}), json!({"limit": "1200"})),
            (json!({"limit[minutes]": ""}), json!({"limit": ""})),
            (
                json!({"opens[time]": "1970-01-02T00:00"}),
                json!({"opens": "86400"}),
            ),
            (
                json!({"length": "7", "limit": "8"}),
                json!({"length": "7", "limit": "8"}),
            ),
        ] {
            assert_eq!(read_all(&entered), Ok(expected), "{entered}");
        }
    }

    #[test]
    fn how_often_and_until_when_is_read_as_a_rule() {
        for (entered, expected) in [
            (
                json!({"rule[every]": "", "rule": "FREQ=DAILY"}),
                json!({"rule": ""}),
            ),
            (
                json!({"rule[every]": "week"}),
                json!({"rule": "FREQ=WEEKLY"}),
            ),
            (
                json!({"rule[every]": "fortnight", "rule[until]": "2027-01-31", "rule[times]": "", "rule": ""}),
                json!({"rule": "FREQ=WEEKLY;INTERVAL=2;UNTIL=20270131"}),
            ),
            (
                json!({"rule[every]": "day", "rule[until]": "", "rule[times]": "5"}),
                json!({"rule": "FREQ=DAILY;COUNT=5"}),
            ),
            (
                json!({"rule[every]": "rule", "rule[until]": "", "rule[times]": "", "rule": "FREQ=WEEKLY;BYDAY=TU"}),
                json!({"rule": "FREQ=WEEKLY;BYDAY=TU"}),
            ),
            (json!({"rule": "FREQ=DAILY"}), json!({"rule": "FREQ=DAILY"})),
        ] {
            assert_eq!(read_all(&entered), Ok(expected), "{entered}");
        }
        for wrong in [
            json!({"rule[every]": "hour"}),
            json!({"rule[every]": "day", "rule[times]": "often"}),
            json!({"rule[every]": "day", "rule[until]": "soon"}),
            json!({"rule[every]": "day", "rule[until]": "2027-01-31", "rule[times]": "5"}),
        ] {
            assert_eq!(
                read_all(&wrong).expect_err("an error")[0].name,
                "rule",
                "{wrong}"
            );
        }
    }

    #[test]
    fn what_is_no_number_of_minutes_is_refused_by_the_name_of_the_field() {
        for text in ["an hour", "-5", "1.2.3", "1.0000001", "99999999999999999"] {
            let errors = read_all(&json!({"length[minutes]": text})).expect_err(text);
            assert_eq!(errors[0].name, "length", "{text}");
        }
    }

    #[test]
    fn a_length_that_was_shown_is_read_as_it_was() {
        for millis in [0, 1, 999, 1000, 59_999, 60_000, 5_400_000, 7_261_001] {
            let shown = minutes(millis, 1);
            assert_eq!(super::millis(&shown), Some(millis), "{shown}");
        }
        assert_eq!(minutes(1200, 1000), "20");
    }
}

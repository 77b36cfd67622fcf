//! Measures: what people are asked for in minutes or as a time, and programs send as a number.
//!
//! A type declares them by the [`Meaning`] of a field. Forms send them under a name of their own, so that what programs
//! send means the same as ever: `duration[minutes]` beside `duration`.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::model::schema::{Field, Meaning, Schema};
use crate::model::value::instant;
use crate::words::error::FieldError;

const MINUTES: &str = "[minutes]";
const TIME: &str = "[time]";
/// The milliseconds of a minute.
const MINUTE: i64 = 60_000;

/// Returns the name under which forms send what people enter for `field`.
pub fn form_name(field: &Field) -> String {
    match field.meaning {
        Some(Meaning::Length(_)) => format!("{}{MINUTES}", field.name),
        Some(Meaning::Seconds) => format!("{}{TIME}", field.name),
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
///
/// # Errors
/// Returns an error for each text that is no number or no time.
pub(crate) fn read<'a>(
    fields: &'a Map<String, Value>,
    schema: &Schema,
) -> Result<Cow<'a, Map<String, Value>>, Vec<FieldError>> {
    let is_entered = |field: &&Field| fields.contains_key(&form_name(field));
    let is_measure =
        |it: &&Field| matches!(it.meaning, Some(Meaning::Length(_) | Meaning::Seconds));
    let entered = schema.fields.iter().filter(is_measure).filter(is_entered);
    let (mut read, mut errors) = (Cow::Borrowed(fields), Vec::new());
    for field in entered {
        let text = read.to_mut().remove(&form_name(field));
        let text = text.as_ref().and_then(Value::as_str).unwrap_or_default();
        match value(field, text.trim()) {
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
fn value(field: &Field, text: &str) -> Result<Value, String> {
    let number = match field.meaning {
        _ if text.is_empty() => return Ok(Value::from("")),
        Some(Meaning::Length(unit)) => {
            let millis = millis(text).ok_or("must be a number of minutes")?;
            millis.checked_div(unit).unwrap_or(millis)
        }
        _ => instant::parse(text)?.timestamp(),
    };
    Ok(Value::from(number.to_string()))
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
        ],
        has_feed: false,
        has_events: false,
        has_site: false,
        listed: &[],
    };

    fn read_all(fields: &Value) -> Result<Value, Vec<FieldError>> {
        let fields = fields.as_object().expect("fields");
        read(fields, &SCHEMA).map(|it| Value::Object(it.into_owned()))
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

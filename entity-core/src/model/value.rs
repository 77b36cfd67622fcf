//! The values of fields: parsing them from text, and checking them against a field's kind.

pub(crate) mod instant;

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::Value;

use crate::model::confusables;
use crate::model::schema::{Field, Kind};
use crate::primitives::error::{Error, Result};

/// Parses `text`, from a query, a form or XML, as a value of `field`.
pub(crate) fn parse(field: &Field, text: &str) -> Result<Value> {
    match field.kind {
        Kind::Text(_) | Kind::Html(_) => check(field, Value::from(text)),
        kind => read(kind, text).map_err(|it| Error::field(field.name, it)),
    }
}

/// Checks that `value` is of `field`'s kind and within its limits. Instants are returned in the kind's own form.
pub(crate) fn check(field: &Field, value: Value) -> Result<Value> {
    let wrong = |message: String| Err(Error::field(field.name, message));
    match value {
        Value::Null if field.is_required => wrong(REQUIRED.to_owned()),
        Value::Null => Ok(Value::Null),
        value => match fit(field.kind, value) {
            Ok(Value::String(text)) if field.is_required && text.trim().is_empty() => {
                wrong(REQUIRED.to_owned())
            }
            fitting => fitting.or_else(wrong),
        },
    }
}

/// Parses `text` as a value of `kind`.
pub(crate) fn read(kind: Kind, text: &str) -> Result<Value, String> {
    match kind {
        Kind::Text(_) | Kind::Html(_) => fit(kind, Value::from(text)),
        Kind::Integer => text
            .trim()
            .parse::<i64>()
            .map(Value::from)
            .map_err(|_ignored| must_be(kind)),
        Kind::Number => text
            .trim()
            .parse::<f64>()
            .ok()
            .filter(|it| it.is_finite())
            .map(Value::from)
            .ok_or_else(|| must_be(kind)),
        Kind::Boolean => truth(text).map(Value::Bool).ok_or_else(|| must_be(kind)),
        Kind::Instant | Kind::Millis | Kind::Moment => {
            instant::parse(text.trim()).map(|it| write_instant(kind, it))
        }
        Kind::List => Ok(Value::Array(vec![Value::from(text)])),
        Kind::Object => Err(must_be(kind)),
    }
}

/// Parses the truth value of the parameter `name` of a query or a form. Programs write `true`, `True`, `on` (a check box)
/// or `1`, and the opposites of these.
///
/// # Errors
/// Returns an error that names the parameter if `text` is none of these.
pub fn flag(name: &str, text: &str) -> Result<bool> {
    truth(text).ok_or_else(|| Error::field(name, must_be(Kind::Boolean)))
}

fn truth(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "on" | "1" => Some(true),
        "false" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// Checks that `value`, which must not be null, is of `kind` and within its limits. Instants are returned in the kind's
/// own form.
pub(crate) fn fit(kind: Kind, value: Value) -> Result<Value, String> {
    match (kind, value) {
        (Kind::Text(max) | Kind::Html(max), Value::String(text)) => fit_text(text, max),
        (Kind::Integer, Value::Number(it)) if it.is_i64() => Ok(Value::Number(it)),
        (Kind::Number, Value::Number(it)) => Ok(Value::Number(it)),
        (Kind::Boolean, Value::Bool(it)) => Ok(Value::Bool(it)),
        (Kind::Instant | Kind::Millis | Kind::Moment, Value::String(text)) => {
            instant::parse(&text).map(|it| write_instant(kind, it))
        }
        (Kind::Instant | Kind::Millis | Kind::Moment, Value::Number(it)) => {
            let millis = it.as_i64().ok_or_else(|| must_be(kind))?;
            instant::of_millis(millis).map(|it| write_instant(kind, it))
        }
        (Kind::Instant | Kind::Millis | Kind::Moment, value) => read_instant(&value)
            .map(|it| write_instant(kind, it))
            .ok_or_else(|| must_be(kind)),
        (Kind::List, Value::Array(items)) => Ok(Value::Array(items)),
        (Kind::Object, Value::Object(it)) => Ok(Value::Object(it)),
        _ => Err(must_be(kind)),
    }
}

/// Returns the error message that says what values of `kind` must be.
pub(crate) fn must_be(kind: Kind) -> String {
    let what = match kind {
        Kind::Text(_) | Kind::Html(_) => "text",
        Kind::Integer => "a whole number",
        Kind::Number => "a number",
        Kind::Boolean => "true or false",
        Kind::Instant | Kind::Millis | Kind::Moment => instant::EXPECTED,
        Kind::List => "a list",
        Kind::Object => "an object",
    };
    format!("must be {what}")
}

/// Returns whether clients may choose `value`. Null, empty text and values other than text are always allowed here;
/// whether a value is required is checked elsewhere.
pub(crate) fn is_chosen(field: &Field, value: &Value) -> bool {
    match value.as_str() {
        None | Some("") => true,
        Some(text) => field.choices.is_empty() || field.choices.contains(&text),
    }
}

/// The error message for a required value that is missing.
pub(crate) const REQUIRED: &str = "is required";

fn fit_text(text: String, max: usize) -> Result<Value, String> {
    if text.chars().count() > max {
        return Err(format!("must not have more than {max} characters"));
    }
    let is_dirty = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r');
    if text.chars().any(is_dirty) {
        return Err("must not have control characters".to_owned());
    }
    confusables::check(&text, max).map(|()| Value::String(text))
}

/// Parses an instant in any of its forms: text, milliseconds since 1970, or an object with `time`.
pub(crate) fn read_instant(value: &Value) -> Option<DateTime<Utc>> {
    match value {
        Value::String(text) => instant::parse(text).ok(),
        Value::Number(_) => read_time(value),
        Value::Object(moment) => moment.get("time").and_then(read_time),
        _ => None,
    }
}

fn read_time(value: &Value) -> Option<DateTime<Utc>> {
    value
        .as_i64()
        .and_then(DateTime::from_timestamp_millis)
        .filter(instant::is_writable)
}

fn write_instant(kind: Kind, instant: DateTime<Utc>) -> Value {
    match kind {
        Kind::Instant => Value::from(instant.to_rfc3339_opts(SecondsFormat::AutoSi, true)),
        _ => Value::from(instant.timestamp_millis()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn field(kind: Kind) -> Field {
        Field::new("f", kind, "")
    }

    #[test]
    fn text_is_read_as_the_kind_says() {
        for (kind, text, expected) in [
            (Kind::Integer, " 5 ", Some(json!(5))),
            (Kind::Integer, "5.5", None),
            (Kind::Number, "5.5", Some(json!(5.5))),
            (Kind::Number, "NaN", None),
            (Kind::Boolean, "on", Some(json!(true))),
            (Kind::Boolean, "yes", None),
            (
                Kind::Instant,
                "2026-11-21T10:00",
                Some(json!("2026-11-21T10:00:00Z")),
            ),
            (
                Kind::Instant,
                "1796436929000",
                Some(json!("2026-12-05T02:15:29Z")),
            ),
            (
                Kind::Millis,
                "2026-12-05T02:15:29Z",
                Some(json!(1_796_436_929_000_i64)),
            ),
            (Kind::Instant, "tomorrow", None),
            (Kind::Instant, "9223372036854775807", None),
        ] {
            assert_eq!(parse(&field(kind), text).ok(), expected, "{kind:?} {text}");
        }
    }

    #[test]
    fn a_value_must_be_of_its_kind() {
        assert!(check(&field(Kind::Text(3)), json!("äöü")).is_ok());
        assert!(check(&field(Kind::Text(3)), json!("abcd")).is_err());
        assert!(check(&field(Kind::Text(9)), json!("a\u{0}b")).is_err());
        assert!(check(&field(Kind::Text(9)), json!(5)).is_err());
        assert!(check(&field(Kind::Text(9)).required(), json!("  ")).is_err());
        assert!(check(&field(Kind::Integer), json!(1e300)).is_err());
        assert_eq!(
            check(&field(Kind::Millis), json!({"time": 5})).unwrap(),
            json!(5)
        );
    }
}

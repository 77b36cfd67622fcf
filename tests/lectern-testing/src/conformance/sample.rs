//! The values that the checks write into fields, generated from the schema.

use chrono::{DateTime, TimeDelta, Utc};
use entity_core::schema::{Field, Kind, Meaning, Role, Schema};
use entity_core::wire::iso;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

/// The word that each generated text contains.
pub(super) const WORD: &str = "Conformance";

/// The context of samples besides the field.
#[derive(Clone, Debug)]
pub(super) struct Surroundings {
    pub(super) site: String,
    /// The internal ids of users that a field may refer to.
    pub(super) users: Vec<String>,
    /// The ids of the groups of the site.
    pub(super) groups: Vec<String>,
    /// The field that holds the ids of groups, if there is one.
    pub(super) groups_field: Option<&'static str>,
    /// The ids of entities of the type itself.
    pub(super) own: Vec<String>,
    pub(super) prefix: &'static str,
    /// The schema of the type.
    pub(super) schema: &'static Schema,
    pub(super) now: DateTime<Utc>,
    pub(super) number: usize,
}

/// Returns the value of `field` in a plain entity: the first that a rule of the type is likely to accept.
pub(super) fn plain(field: &Field, around: &Surroundings) -> Option<Value> {
    if field.role == Some(Role::Site) {
        return Some(around.site.clone().into());
    }
    match field.kind {
        Kind::Boolean => Some(false.into()),
        Kind::List => Some(json!([])),
        _ => variants(field, around).into_iter().next(),
    }
}

/// Returns values of `field` that entities may differ in. There is none for a field of which only the author knows
/// what it takes.
pub(super) fn variants(field: &Field, around: &Surroundings) -> Vec<Value> {
    if let Some(prefix) = field.references {
        return references(prefix, around);
    }
    if !field.choices.is_empty() {
        return field.choices.iter().map(|it| (*it).into()).collect();
    }
    if Some(field.name) == around.groups_field {
        return around.groups.iter().map(|it| json!([it])).collect();
    }
    let at = |days| json!(iso(instant(field, around, days)));
    if let Some(children) = field.children {
        let one = child(children.0(), around);
        return vec![json!([one]), json!([one, one])];
    }
    match field.kind {
        Kind::Text(max) => vec![text(field, max, around.number)],
        Kind::Html(max) => {
            let text = distinctive(field, max.saturating_sub("<p></p>".len()), around.number);
            vec![json!(format!("<p>{text}</p>"))]
        }
        Kind::Integer => vec![json!(1), json!(2)],
        Kind::Number => vec![json!(1.5), json!(2)],
        Kind::Boolean => vec![json!(true), json!(false)],
        Kind::Instant | Kind::Millis | Kind::Moment => vec![at(2), at(-2)],
        Kind::List | Kind::Object => Vec::new(),
    }
}

/// Returns a plain entry of a list of children.
fn child(schema: &Schema, around: &Surroundings) -> Value {
    let fields = schema.writable(true);
    let fields = fields.filter_map(|it| Some((it.name.to_owned(), plain(it, around)?)));
    Value::Object(fields.collect())
}

fn references(prefix: &str, around: &Surroundings) -> Vec<Value> {
    match prefix {
        "user" => around.users.iter().map(|it| it.clone().into()).collect(),
        "site" => vec![around.site.clone().into()],
        own if own == around.prefix => around.own.iter().map(|it| it.clone().into()).collect(),
        _ => Vec::new(),
    }
}

/// Returns an instant so many days from now. A later field is a later instant, so that what begins ends thereafter; how much
/// later differs from entity to entity.
fn instant(field: &Field, around: &Surroundings, days: i64) -> DateTime<Utc> {
    let is_instant = |it: &&Field| matches!(it.kind, Kind::Instant | Kind::Millis | Kind::Moment);
    let mut instants = around.schema.writable(true).filter(is_instant);
    let place = instants.position(|it| it.name == field.name).unwrap_or(0);
    let minutes = place * 60 + (place + 1) * (around.number % 60);
    around.now + TimeDelta::days(days) + TimeDelta::minutes(i64::try_from(minutes).unwrap_or(0))
}

fn text(field: &Field, max: usize, number: usize) -> Value {
    let text = match field.meaning {
        Some(Meaning::Email) => format!("row{number:04}@example.edu"),
        Some(Meaning::Address) => format!("https://example.edu/row{number:04}"),
        Some(Meaning::UserName) => format!("row{number:04}"),
        Some(Meaning::Password | Meaning::NewPassword) => format!("{WORD}-row{number:04}"),
        Some(Meaning::Zone) => "Europe/Berlin".to_owned(),
        Some(Meaning::Recurrence) => "FREQ=WEEKLY".to_owned(),
        Some(Meaning::Length(_) | Meaning::Seconds) | None => distinctive(field, max, number),
    };
    text.chars().take(max).collect::<String>().into()
}

/// Returns a text that no other field and no other entity has, as far as so many characters allow.
fn distinctive(field: &Field, max: usize, number: usize) -> String {
    let texts = [
        format!("{WORD} {} row{number:04}", field.name),
        format!("{WORD} {number:04}"),
        format!("row{number:04}"),
    ];
    let fitting = texts.into_iter().find(|it| it.chars().count() <= max);
    let digits = format!("{number:04}");
    fitting.unwrap_or_else(|| digits.chars().skip(4_usize.saturating_sub(max)).collect())
}

/// Returns `value` as no other entity than number `number` has it, if it is a text, a number or an instant that may be any.
pub(super) fn varied(field: &Field, value: &Value, number: usize) -> Value {
    let max = match field.kind {
        Kind::Text(max) => max,
        _ => usize::MAX,
    };
    let (text, end) = match (value, field.meaning) {
        (Value::String(text), Some(Meaning::Email)) => {
            return text.replacen('@', &format!("-{number}@"), 1).into();
        }
        (Value::String(text), Some(Meaning::UserName | Meaning::Address)) => {
            (text, number.to_string())
        }
        (Value::String(text), None) if matches!(field.kind, Kind::Text(_)) => {
            (text, format!(" {number}"))
        }
        (Value::Number(old), _) if field.kind == Kind::Integer => {
            let by = i64::try_from(number).unwrap_or_default();
            return old.as_i64().unwrap_or_default().saturating_add(by).into();
        }
        (Value::String(text), _) => match DateTime::parse_from_rfc3339(text) {
            Ok(at) => {
                let by = TimeDelta::minutes(i64::try_from(number).unwrap_or_default());
                return iso(at.to_utc() + by).into();
            }
            Err(_) => return value.clone(),
        },
        _ => return value.clone(),
    };
    let kept = max.saturating_sub(end.chars().count());
    let kept: String = text.chars().take(kept).collect();
    (kept + &end).into()
}

/// Returns whether clients may write any text into `field`.
pub(super) fn is_free(field: &Field) -> bool {
    field.meaning.is_none() && field.choices.is_empty() && field.references.is_none()
}

/// Returns a text of `field` that formats have to escape, if the field takes any text.
pub(super) fn awkward(field: &Field) -> Option<Value> {
    const TEXT: &str = "a <b> & \"c\" 'd' = é;+%20";
    match field.kind {
        Kind::Text(max) if is_free(field) && max > TEXT.len() && field.role != Some(Role::Site) => {
            Some(TEXT.into())
        }
        _ => None,
    }
}

/// Returns `text` as queries and forms have it.
pub(super) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// Returns values that are not of the kind of `field`.
pub(super) fn wrong(field: &Field) -> Vec<Value> {
    let mut wrong = match field.kind {
        Kind::Text(max) => vec![json!("x".repeat(max.saturating_add(1))), json!({"a": 1})],
        Kind::Html(_) | Kind::Boolean => vec![json!({"a": 1}), json!(5)],
        Kind::Integer => vec![json!("much"), json!(1.5)],
        Kind::Number => vec![json!("much")],
        Kind::Instant | Kind::Millis | Kind::Moment => vec![json!("yesterday")],
        Kind::List => vec![json!(5)],
        Kind::Object => vec![json!(5), json!([])],
    };
    if !field.choices.is_empty() {
        wrong.push(json!("no such choice"));
    }
    wrong
}

/// Returns values at the limits of the kind of `field`: the type may refuse them, but must not fail over them.
pub(super) fn extreme(field: &Field) -> Vec<Value> {
    match field.kind {
        Kind::Text(max) => vec![json!(""), json!("x".repeat(max))],
        Kind::Html(_) => vec![json!(""), json!("<p")],
        Kind::Integer => vec![json!(i64::MIN), json!(i64::MAX)],
        Kind::Number => vec![json!(f64::MIN), json!(f64::MAX), json!(-0.0)],
        Kind::Instant | Kind::Millis | Kind::Moment => {
            vec![json!("0001-01-01T00:00:00Z"), json!("9999-12-31T23:59:59Z")]
        }
        Kind::Boolean | Kind::List | Kind::Object => Vec::new(),
    }
}

/// Returns whether an entity that shows `shown` has the value that was `sent` for `field`.
pub(super) fn is_same(field: &Field, sent: &Value, shown: &Value) -> bool {
    let millis = || {
        let instant = DateTime::parse_from_rfc3339(sent.as_str()?).ok()?;
        Some(json!(instant.timestamp_millis()))
    };
    match field.kind {
        Kind::Millis => millis().unwrap_or_else(|| sent.clone()) == *shown,
        Kind::Moment => millis().as_ref() == shown.get("time"),
        Kind::Number => sent.as_f64() == shown.as_f64(),
        Kind::List | Kind::Object => contains(shown, sent),
        _ => sent == shown,
    }
}

/// Returns whether `shown` has everything that was `sent`. A type may add what it derives from that to objects.
fn contains(shown: &Value, sent: &Value) -> bool {
    match (shown, sent) {
        (Value::Array(shown), Value::Array(sent)) => {
            let mut pairs = shown.iter().zip(sent);
            shown.len() == sent.len() && pairs.all(|(shown, sent)| contains(shown, sent))
        }
        (Value::Object(shown), Value::Object(sent)) => sent
            .iter()
            .all(|(name, sent)| shown.get(name).is_some_and(|it| contains(it, sent))),
        _ => shown == sent,
    }
}

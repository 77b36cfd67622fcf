//! Data as a reader sees it: lists, records, tables, dates, links and text.

use std::fmt;

use askama::Template;
use askama::filters::HtmlSafe;
use chrono::{DateTime, Utc};
use entity_core::format::View;
use entity_core::schema::{Field, Kind, Meaning};
use entity_core::{encode_segment, wire};
use serde_json::{Map, Value};

use super::label;
use super::reference;
use crate::feed::is_web_address;

/// A value, ready to be shown.
#[derive(Template)]
#[template(path = "shown.html")]
pub(super) enum Shown<'a> {
    Nothing,
    Text(String),
    Address(&'a str),
    Mail {
        href: String,
        address: &'a str,
    },
    /// Another entity.
    Link {
        href: String,
        name: &'a str,
    },
    Time {
        iso: String,
        text: String,
    },
    List(Vec<Shown<'a>>),
    Record(Vec<(String, Shown<'a>)>),
    Table {
        columns: Vec<String>,
        rows: Vec<Vec<Shown<'a>>>,
    },
}

/// A template escapes what it shows, so what it wrote is not escaped again.
impl HtmlSafe for Shown<'_> {}

/// HTML that was sanitised before it was stored. The only text of others that is written as it is.
pub(super) struct SanitizedHtml<'a>(pub(super) &'a str);

impl fmt::Display for SanitizedHtml<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl HtmlSafe for SanitizedHtml<'_> {}

impl<'a> Shown<'a> {
    /// Data of which nothing is declared.
    pub(super) fn of(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Nothing,
            Value::Bool(true) => Self::Text("yes".to_owned()),
            Value::Bool(false) => Self::Text("no".to_owned()),
            Value::Number(it) => Self::Text(it.to_string()),
            Value::String(it) if it.is_empty() => Self::Nothing,
            Value::String(it) if is_web_address(it) && !it.contains(char::is_whitespace) => {
                Self::Address(it)
            }
            Value::String(it) => Self::Text(it.clone()),
            Value::Array(items) => Self::of_list(items),
            Value::Object(fields) => Self::of_object(fields),
        }
    }

    /// The value of `field` in `entity`.
    pub(super) fn of_field(field: &Field, entity: &'a Map<String, Value>, view: &View<'_>) -> Self {
        if let Some(target) = reference::target(field, entity, view.registry) {
            return match target.href(view) {
                Some(href) => Self::Link {
                    href,
                    name: target.name,
                },
                None => Self::Text(target.name.to_owned()),
            };
        }
        let Some(value) = entity.get(field.name) else {
            return Self::Nothing;
        };
        if let (true, Some(word)) = (value.is_null(), field.absent) {
            return Self::Text(word.to_owned());
        }
        if let (true, Some(address)) = (is_mail(field), value.as_str().and_then(mail_address)) {
            let href = format!("mailto:{}", encode_segment(address));
            return Self::Mail { href, address };
        }
        instant(field.kind, value).map_or_else(|| Self::of(value), Self::of_instant)
    }

    /// An instant, for people in any time zone.
    pub(super) fn of_instant(instant: DateTime<Utc>) -> Self {
        Self::Time {
            iso: wire::iso(instant),
            text: instant.format("%-d %b %Y, %H:%M UTC").to_string(),
        }
    }

    fn of_list(items: &'a [Value]) -> Self {
        match columns(items) {
            _ if items.is_empty() => Self::Nothing,
            Some(names) => Self::Table {
                columns: names.iter().map(|it| label(it)).collect(),
                rows: items.iter().map(|item| row(&names, item)).collect(),
            },
            None => Self::List(items.iter().map(Self::of).collect()),
        }
    }

    fn of_object(fields: &'a Map<String, Value>) -> Self {
        if fields.is_empty() {
            return Self::Nothing;
        }
        match moment(fields) {
            Some(instant) => Self::of_instant(instant),
            None => Self::Record(
                fields
                    .iter()
                    .map(|(name, value)| (label(name), Self::of(value)))
                    .collect(),
            ),
        }
    }
}

fn is_mail(field: &Field) -> bool {
    field.meaning == Some(Meaning::Email)
}

/// `text` if it is plainly an address that a mail can be sent to.
fn mail_address(text: &str) -> Option<&str> {
    let (local, domain) = text.split_once('@')?;
    let is_plain = |part: &str, others: &str| {
        let is_fine = |c: char| c.is_ascii_alphanumeric() || others.contains(c);
        !part.is_empty() && part.chars().all(is_fine)
    };
    (is_plain(local, ".-_+'") && is_plain(domain, ".-")).then_some(text)
}

/// The instant that a field's value stands for.
pub(super) fn instant(kind: Kind, value: &Value) -> Option<DateTime<Utc>> {
    match (kind, value) {
        (Kind::Millis | Kind::Moment, Value::Number(it)) => {
            DateTime::from_timestamp_millis(it.as_i64()?)
        }
        (Kind::Instant, Value::String(it)) => {
            DateTime::parse_from_rfc3339(it).ok().map(|it| it.to_utc())
        }
        (_, Value::Object(fields)) => moment(fields),
        _ => None,
    }
}

/// The instant that an object is one of the forms of.
fn moment(fields: &Map<String, Value>) -> Option<DateTime<Utc>> {
    fields.get("epochSecond")?;
    DateTime::from_timestamp_millis(fields.get("time")?.as_i64()?)
}

/// The columns of a table of `items`, if they are small and alike enough to make one.
fn columns(items: &[Value]) -> Option<Vec<&str>> {
    let first = items.first()?.as_object()?;
    let names: Vec<_> = first.keys().map(String::as_str).collect();
    let is_row = |item: &Value| {
        item.as_object().is_some_and(|fields| {
            fields.len() == names.len()
                && names
                    .iter()
                    .all(|it| fields.get(*it).is_some_and(is_scalar))
        })
    };
    let fits = !names.is_empty() && names.len() <= 8 && items.iter().all(is_row);
    fits.then_some(names)
}

fn is_scalar(value: &Value) -> bool {
    !matches!(value, Value::Array(_) | Value::Object(_))
}

fn row<'a>(names: &[&str], item: &'a Value) -> Vec<Shown<'a>> {
    names
        .iter()
        .map(|it| item.get(*it).map_or(Shown::Nothing, Shown::of))
        .collect()
}

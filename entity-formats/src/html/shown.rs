//! Data as a reader sees it: lists, records, tables, dates, links and text.

use std::borrow::Cow;
use std::fmt;

use askama::Template;
use askama::filters::HtmlSafe;
use chrono::{DateTime, Utc};
use entity_core::format::View;
use entity_core::primitives::typed::to_typed;
use entity_core::primitives::{is_web_address, label, plain_text};
use entity_core::recurrence::Tz;
use entity_core::schema::{Emphasis, Field, Kind, Meaning, Schema, Tone};
use entity_core::{encode_segment, recurrence, wire};
use serde_json::{Map, Value};

use super::clock::Clock;
use super::wall_clock::WallClock;
use super::words::{choice, has_uuid, is_nameless, label_of, word_of};
use super::{pivot, reference};

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
        name: String,
    },
    Time {
        iso: String,
        text: String,
    },
    /// The instant until which something is to be done.
    Due {
        iso: String,
        text: String,
        /// The time that is left.
        until: Option<String>,
        is_soon: bool,
    },
    /// Something that is not the rule.
    Badge {
        /// The class of its colour.
        tone: &'static str,
        label: String,
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

/// HTML that was sanitised before it was stored. The only text of others that is written as it is. Plain text is shown
/// with its lines and spaces.
pub(super) struct SanitizedHtml<'a>(pub(super) &'a str);

impl fmt::Display for SanitizedHtml<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match to_typed(self.0) {
            Cow::Owned(_) => write!(f, "<div class=\"text\">{}</div>", self.0),
            Cow::Borrowed(html) => f.write_str(html),
        }
    }
}

impl HtmlSafe for SanitizedHtml<'_> {}

impl<'a> Shown<'a> {
    /// Data of which nothing is declared.
    pub(super) fn of(value: &'a Value, clock: Clock) -> Self {
        match value {
            Value::Null => Self::Nothing,
            Value::Bool(true) => Self::Text("yes".to_owned()),
            Value::Bool(false) => Self::Text("no".to_owned()),
            Value::Number(it) => Self::Text(it.to_string()),
            Value::String(it) if has_uuid(it) && !is_web_address(it) => Self::Nothing,
            Value::String(it) => Self::of_text(it),
            Value::Array(items) => Self::of_list(items, clock),
            Value::Object(fields) => Self::of_object(fields, clock),
        }
    }

    /// A text as it is.
    pub(super) fn of_text(text: &'a str) -> Self {
        match text {
            "" => Self::Nothing,
            it if is_web_address(it) => Self::Address(it),
            it if it.starts_with('<') && it.ends_with('>') => Self::Text(plain_text(it)),
            it if it.contains('_') => Self::Text(choice(it)),
            it => Self::Text(it.to_owned()),
        }
    }

    /// The value of `field` in `entity`, which has the fields of `schema`.
    pub(super) fn of_field(
        field: &Field,
        entity: &'a Map<String, Value>,
        schema: &Schema,
        view: &View<'_>,
    ) -> Self {
        let clock = Clock::of(view);
        if let Some(target) = reference::target(field, entity, view.registry) {
            let name = target.title(view);
            let name = name.unwrap_or_else(|| target.value.to_owned());
            return match target.href(view) {
                Some(href) => Self::Link { href, name },
                None => Self::Text(name),
            };
        }
        let Some(value) = entity.get(field.name) else {
            return Self::Nothing;
        };
        if let (true, Some(word)) = (value.is_null(), field.absent) {
            return Self::Text(word.to_owned());
        }
        let number = value.as_i64().map(|it| it.to_string());
        let known = value.as_str().or(number.as_deref());
        if let Some(word) = known.and_then(|it| word_of(field, it)) {
            return Self::Text(word);
        }
        if let (true, Some(address)) = (is_mail(field), value.as_str().and_then(mail_address)) {
            let href = format!("mailto:{}", encode_segment(address));
            return Self::Mail { href, address };
        }
        if let (Some(pivot), Value::Array(items)) = (field.pivot, value) {
            return pivot::table(pivot, items, clock);
        }
        if let Some(shown) = of_measure(field, value, clock) {
            return shown;
        }
        let own = WallClock::of(schema, field, Some(entity), None).zone;
        let rule = value
            .as_str()
            .filter(|_| field.meaning == Some(Meaning::Recurrence));
        if let Some(words) = rule.and_then(|it| recurrence::words(it, own)) {
            return Self::Text(words);
        }
        let is_due = field.emphasis == Some(Emphasis::Due);
        match (field.emphasis, value, instant(field.kind, value)) {
            (Some(Emphasis::Badge(_)), Value::Bool(true), _) => Self::badge(field),
            (_, _, Some(instant)) if is_due => Self::due(instant, own, clock),
            (_, _, Some(instant)) => Self::of_time(instant, own, clock),
            _ => Self::of(value, clock),
        }
    }

    /// An instant until which something is to be done.
    pub(super) fn due(instant: DateTime<Utc>, own: Tz, clock: Clock) -> Self {
        Self::Due {
            iso: wire::iso(instant),
            text: clock.told(instant, own),
            until: clock.until(instant),
            is_soon: clock.is_soon(instant),
        }
    }

    /// A field that is true, and what it is called.
    pub(super) fn badge(field: &Field) -> Self {
        Self::Badge {
            tone: match field.emphasis {
                Some(Emphasis::Badge(tone)) => class_of(tone),
                _ => "",
            },
            label: label_of(field),
        }
    }

    /// A state in words that stand out.
    pub(super) fn in_tone(words: &str, tone: Tone) -> Self {
        Self::Badge {
            tone: class_of(tone),
            label: words.to_owned(),
        }
    }

    /// The text of a value that is one text.
    pub(super) fn text(self) -> Option<String> {
        match self {
            Self::Text(text)
            | Self::Link { name: text, .. }
            | Self::Time { text, .. }
            | Self::Due { text, .. }
            | Self::Badge { label: text, .. } => Some(text),
            Self::Address(text) | Self::Mail { address: text, .. } => Some(text.to_owned()),
            Self::Nothing | Self::List(_) | Self::Record(_) | Self::Table { .. } => None,
        }
    }

    /// An instant, by the clock of the reader.
    pub(super) fn of_instant(instant: DateTime<Utc>, clock: Clock) -> Self {
        Self::of_time(instant, Tz::UTC, clock)
    }

    /// An instant, by the clock of the reader, or of the zone `own`, if that of the reader is not known.
    fn of_time(instant: DateTime<Utc>, own: Tz, clock: Clock) -> Self {
        Self::Time {
            iso: wire::iso(instant),
            text: clock.told(instant, own),
        }
    }

    /// Data of which only the name is known: instants are told by it, as the documented fields of all types are.
    fn of_named(name: &str, value: &'a Value, clock: Clock) -> Self {
        let is_instant = ["Date", "On"].iter().any(|it| name.ends_with(it));
        match instant(Kind::Millis, value).filter(|_| is_instant || is_millis(value)) {
            Some(instant) => Self::of_instant(instant, clock),
            None => Self::of(value, clock),
        }
    }

    fn of_list(items: &'a [Value], clock: Clock) -> Self {
        let link = |item| file(item).map(|(href, name)| Self::Link { href, name });
        let files: Option<Vec<_>> = items.iter().map(link).collect();
        match (files, columns(items)) {
            _ if items.is_empty() => Self::Nothing,
            (Some(files), _) => Self::List(files),
            (None, Some(columns)) => Self::Table {
                rows: items.iter().map(|it| row(&columns, it, clock)).collect(),
                columns: columns.iter().map(Path::label).collect(),
            },
            (None, None) => {
                let items = items.iter().filter(|it| !is_nameless(it));
                Self::List(items.map(|it| Self::of(it, clock)).collect())
            }
        }
    }

    fn of_object(fields: &'a Map<String, Value>, clock: Clock) -> Self {
        if fields.is_empty() {
            return Self::Nothing;
        }
        let told = |(name, value): &(&String, &Value)| {
            !is_for_programs(name) && !value.is_null() && !is_nameless(value)
        };
        match moment(fields) {
            Some(instant) => Self::of_instant(instant, clock),
            None => Self::Record(
                fields
                    .iter()
                    .filter(told)
                    .map(|(name, value)| (label(name), Self::of_named(name, value, clock)))
                    .collect(),
            ),
        }
    }
}

/// The class of the colour of a badge.
fn class_of(tone: Tone) -> &'static str {
    match tone {
        Tone::Neutral => "",
        Tone::Good => " is-good",
        Tone::Warn => " is-warn",
        Tone::Bad => " is-bad",
        Tone::Info => " is-info",
    }
}

/// A number that means a length or an instant.
fn of_measure<'a>(field: &Field, value: &Value, clock: Clock) -> Option<Shown<'a>> {
    match (field.meaning?, value.as_i64()?) {
        (Meaning::Length(unit), length) => Some(Shown::Text(length_of(length, unit))),
        (Meaning::Seconds, 0) => Some(Shown::Nothing),
        (Meaning::Seconds, seconds) => {
            DateTime::from_timestamp(seconds, 0).map(|it| Shown::of_instant(it, clock))
        }
        _ => None,
    }
}

/// A length in words, in units of so many milliseconds: `1 hour 30 minutes`.
fn length_of(length: i64, unit: i64) -> String {
    let seconds = length.saturating_mul(unit) / 1000;
    let parts = [
        (seconds / 3600, "hour"),
        (seconds / 60 % 60, "minute"),
        (seconds % 60, "second"),
    ];
    let told = parts
        .iter()
        .filter(|it| it.0 != 0)
        .map(|(count, name)| match count {
            1 => format!("1 {name}"),
            _ => format!("{count} {name}s"),
        });
    match told.collect::<Vec<_>>() {
        none if none.is_empty() => "none".to_owned(),
        told => told.join(" "),
    }
}

/// The address and the name of a file of an entity, if that is what `item` is.
pub(super) fn file(item: &Value) -> Option<(String, String)> {
    let text = |name: &str| item.get(name)?.as_str();
    let (name, url) = (text("name").or_else(|| text("title"))?, text("url")?);
    is_web_address(url).then(|| (url.to_owned(), name.to_owned()))
}

/// Returns whether a value of this name, of which nothing is declared, is an id or an address that people don't read.
pub(super) fn is_for_programs(name: &str) -> bool {
    let is_address = ["Id", "URL", "Url", "Uuid"]
        .iter()
        .any(|it| name.ends_with(it));
    is_address || matches!(name, "id" | "reference" | "url")
}

/// Returns whether a number of which nothing is declared can only be milliseconds since 1970: it has thirteen digits.
fn is_millis(value: &Value) -> bool {
    let digits = 1_000_000_000_000..10_000_000_000_000;
    value.as_i64().is_some_and(|it| digits.contains(&it))
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

/// Where the values of a column are: in the items themselves, or in a record that each of them has.
struct Path<'a> {
    record: Option<&'a str>,
    name: &'a str,
}

impl<'a> Path<'a> {
    fn label(&self) -> String {
        label(self.name)
    }

    fn value<'b>(&self, item: &'b Value) -> Option<&'b Value> {
        match self.record {
            Some(record) => item.get(record)?.get(self.name),
            None => item.get(self.name),
        }
    }

    /// The columns for the field `name`, which has `value` in the first item.
    fn all(name: &'a str, value: &'a Value) -> Vec<Self> {
        match value {
            Value::Object(fields) => {
                let record = Some(name);
                fields.keys().map(|name| Self { record, name }).collect()
            }
            _ => vec![Self { record: None, name }],
        }
    }
}

/// The most columns of a table.
const MOST_COLUMNS: usize = 8;

/// The columns of a table of `items`, if they are small and alike enough to make one. Ids are left out where there is
/// something else.
fn columns(items: &[Value]) -> Option<Vec<Path<'_>>> {
    let first = items.first()?.as_object()?;
    let has_same = |item: &Value| {
        item.as_object().is_some_and(|fields| {
            fields.len() == first.len() && fields.keys().all(|it| first.contains_key(it))
        })
    };
    let paths = first
        .iter()
        .flat_map(|(name, value)| Path::all(name, value));
    let (ids, paths): (Vec<_>, Vec<_>) = paths.partition(|it| is_for_programs(it.name));
    let paths = if paths.is_empty() { ids } else { paths };
    let is_row = |item: &Value| {
        let mut values = paths.iter().map(|it| it.value(item));
        has_same(item) && values.all(|it| it.is_some_and(is_scalar))
    };
    let fits = !paths.is_empty() && paths.len() <= MOST_COLUMNS && items.iter().all(is_row);
    fits.then_some(paths)
}

fn is_scalar(value: &Value) -> bool {
    !matches!(value, Value::Array(_) | Value::Object(_))
}

fn row<'a>(columns: &[Path<'_>], item: &'a Value, clock: Clock) -> Vec<Shown<'a>> {
    let shown = |column: &Path<'_>| {
        let value = column.value(item);
        value.map_or(Shown::Nothing, |it| Shown::of_named(column.name, it, clock))
    };
    columns.iter().map(shown).collect()
}

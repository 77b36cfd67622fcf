//! Demo data: what is in the database that a newcomer starts with, as requests that people sent in the past.
//!
//! A type [registers](crate::register) a list of entries in JSON, each of which is a request:
//!
//! ```json
//! [
//!   {"as": "instructor1", "ago": "10d", "send": "POST loan", "name": "microscope",
//!    "body": {"siteId": "biology-101", "title": "A microscope", "due": "{now 4d}"}},
//!   {"as": "student1", "ago": "30h", "send": "POST loan/{microscope}/take"}
//! ]
//! ```
//!
//! - `as`: who sends it, by the name to log in with. It needs the permission for that, as everybody.
//! - `ago`: how long ago that was, in days, hours or minutes; without it, the request is sent now.
//! - `send`: the verb and the address below `/direct`.
//! - `body`: the fields.
//! - `file`: a file that comes with it, of which `name` is the name, and `text` or `base64` is what is in it.
//! - `name`: what later entries, also those of other types, call the answer. Types are asked in the order of their prefixes.
//! - `told`: true if members are notified of it.
//!
//! In the address, and in all names and texts of the body, `{…}` stands for something:
//!
//! | placeholder | meaning |
//! |---|---|
//! | `{microscope}` | the id of the entity that an earlier entry made, or the data that it answered |
//! | `{answer.url}`, `{list.0}` | a field of such data, or an id of a list |
//! | `{person student1}`, `{group Lab A}` | the internal id of a person, or the id of a group of the first course |
//! | `{now 4d}`, `{now -30h}` | an instant, counted from now |
//! | `{day -14d 9h}`, `{date 7d}` | an instant, counted from midnight of today in UTC, and the day of it |
//! | `{base}` | the public base URL of the service |

use std::collections::{BTreeMap, HashMap};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{NaiveTime, TimeDelta};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::DateTimeUtc;
use crate::contract::access::Caller;
use crate::contract::blob::Upload;
use crate::contract::context::Context;
use crate::contract::event::Event;
use crate::contract::input::Input;
use crate::contract::origin::Origin;
use crate::contract::preconditions::Preconditions;
use crate::contract::reply::{Body, Effect};
use crate::contract::request::Request;
use crate::db::blobs;
use crate::engine::atomic::Atomic;
use crate::primitives::error::{Error, Result};
use crate::primitives::path::DirectPath;
use crate::primitives::verb::Verb;

/// A request of the demo data.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    r#as: String,
    ago: Option<String>,
    send: String,
    #[serde(default)]
    body: Value,
    file: Option<Sample>,
    name: Option<String>,
    #[serde(default)]
    told: bool,
}

/// A file that comes with it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    name: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    base64: String,
}

/// The demo data that are being made: what is there so far.
#[derive(Debug, Default)]
pub struct Demo {
    now: DateTimeUtc,
    names: HashMap<String, Value>,
    /// The number of entities that were made, by the prefix of their type.
    pub made: BTreeMap<String, usize>,
    /// The events of which members are notified.
    pub told: Vec<Event>,
}

impl Demo {
    /// Begins with the internal ids of these people, by the names that they log in with, and the ids of these groups, by
    /// their titles.
    pub fn of<'a>(
        people: impl IntoIterator<Item = (&'a str, &'a str)>,
        groups: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let people = people.into_iter().map(|it| ("person", it));
        let all = people.chain(groups.into_iter().map(|it| ("group", it)));
        Self {
            names: all
                .map(|(kind, (name, id))| (format!("{kind} {name}"), id.into()))
                .collect(),
            ..Self::default()
        }
    }

    /// Sends the requests of `text`, the demo data of a type, in `unit`. Their events are not stored, and there is no audit
    /// row.
    ///
    /// # Errors
    /// Returns an error if the text is no list of entries, if one of them names something that is not there, or if one of
    /// the requests is refused.
    pub async fn fill(&mut self, unit: &mut Atomic<'_>, origin: &Origin, text: &str) -> Result<()> {
        let base = unit.context().base_url().into();
        self.names.insert("base".to_owned(), base);
        self.now = unit.context().now();
        let entries: Vec<Entry> = serde_json::from_str(text).map_err(Error::internal)?;
        for entry in entries {
            match self.enter(unit, origin, &entry).await {
                Err(error) if !error.is_transient() => {
                    let Entry { r#as, send, .. } = &entry;
                    let message = format!("`{send}` of the demo data, as `{as}`: {error:?}");
                    return Err(Error::internal(message));
                }
                done => done?,
            }
        }
        Ok(())
    }

    async fn enter(&mut self, unit: &mut Atomic<'_>, origin: &Origin, entry: &Entry) -> Result<()> {
        let upload = match &entry.file {
            Some(file) => Some(file.keep(unit.context()).await?),
            None => None,
        };
        let request = self.request(origin, entry, upload)?;
        let ago = entry.ago.as_deref().map_or(Some(TimeDelta::zero()), span);
        let at = ago.and_then(|it| self.now.checked_sub_signed(it));
        let at = at.ok_or_else(|| Error::internal("`ago` is no time"))?;
        let (reply, events) = unit.replay(&request, at).await?;
        if entry.told {
            self.told.extend(events);
        }
        if let Effect::Created(made) = &reply.effect {
            *self.made.entry(made.prefix.clone()).or_default() += 1;
        }
        if let Body::Incomplete(error) = reply.body {
            return Err(error);
        }
        if let Some(name) = &entry.name {
            let answer = match &reply.body {
                Body::Entity(item) => item.id().into(),
                Body::Collection(list) => {
                    list.items.iter().map(|it| Value::from(it.id())).collect()
                }
                Body::Value(value) => json!(&*value.data),
                _ => Value::Null,
            };
            self.names.insert(name.clone(), answer);
        }
        Ok(())
    }

    fn request(&self, origin: &Origin, entry: &Entry, upload: Option<Upload>) -> Result<Request> {
        let person = self.find(&format!("person {}", entry.r#as))?;
        let caller = Caller::user(text(&person), entry.r#as.as_str());
        let (verb, address) = entry.send.split_once(' ').unwrap_or_default();
        let verb = Verb::ALL.into_iter().find(|it| it.name() == verb);
        let address = self.complete(address)?;
        let (path, query) = text(&address)
            .split_once('?')
            .unwrap_or((text(&address), ""));
        let query = query.split('&').filter_map(|it| it.split_once('='));
        Ok(Request {
            path: DirectPath::parse(&format!("/{path}"), |_| false)?,
            verb: verb.ok_or_else(|| Error::internal("`send` begins with no verb"))?,
            query: query.map(|it| (it.0.to_owned(), it.1.to_owned())).collect(),
            input: Input {
                fields: match self.complete_value(&entry.body)? {
                    Value::Object(fields) => fields,
                    _ => Map::new(),
                },
                uploads: upload.into_iter().collect(),
                // An id is text, also where a field is a number.
                is_textual: true,
                ..Input::default()
            },
            preconditions: Preconditions::default(),
            is_dry_run: false,
            wants_allowed_actions: false,
            origin: Origin {
                caller,
                ..origin.clone()
            },
        })
    }

    fn complete_value(&self, value: &Value) -> Result<Value> {
        match value {
            Value::String(sent) => self.complete(sent),
            Value::Array(items) => items.iter().map(|it| self.complete_value(it)).collect(),
            Value::Object(fields) => {
                let fields = fields.iter().map(|(name, it)| {
                    let name = self.complete(name)?;
                    Ok((text(&name).to_owned(), self.complete_value(it)?))
                });
                fields.collect()
            }
            other => Ok(other.clone()),
        }
    }

    /// Puts in what the placeholders of `sent` stand for. A text that is nothing but a placeholder may become something else
    /// than text.
    fn complete(&self, sent: &str) -> Result<Value> {
        let mut parts = sent.split('{');
        let mut whole = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (name, rest) = part.split_once('}').unwrap_or((part, ""));
            let found = self.find(name)?;
            if sent.len() == name.len() + 2 {
                return Ok(found);
            }
            whole.push_str(text(&found));
            whole.push_str(rest);
        }
        Ok(whole.into())
    }

    /// Returns what the placeholder `name` stands for.
    fn find(&self, name: &str) -> Result<Value> {
        let (kind, rest) = name.split_once(' ').unwrap_or_default();
        let midnight = || self.now.date_naive().and_time(NaiveTime::MIN).and_utc();
        let after = |start: DateTimeUtc| start.checked_add_signed(span(rest)?);
        let (first, part) = name.split_once('.').unwrap_or((name, ""));
        let found = match kind {
            "now" => after(self.now).map(|it| it.to_rfc3339().into()),
            "day" => after(midnight()).map(|it| it.to_rfc3339().into()),
            "date" => after(midnight()).map(|it| it.date_naive().to_string().into()),
            _ if part.is_empty() => self.names.get(first).cloned(),
            _ => {
                let whole = self.names.get(first);
                whole.and_then(|it| it.pointer(&format!("/{part}")).cloned())
            }
        };
        found.ok_or_else(|| Error::internal(format!("there is no `{name}`")))
    }
}

/// Returns the text of `value`; nothing if it is no text.
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

impl Sample {
    async fn keep(&self, cx: &Context) -> Result<Upload> {
        let bytes = match self.base64.as_str() {
            "" => self.text.clone().into_bytes(),
            coded => STANDARD.decode(coded).map_err(Error::internal)?,
        };
        Upload::new("file", blobs::keep(cx, bytes).await?, Some(&self.name))
    }
}

/// Returns the sum of such times as `-14d 9h`.
fn span(text: &str) -> Option<TimeDelta> {
    let one = |word: &str| {
        let number = word.trim_end_matches(['d', 'h', 'm']);
        let unit = match word.strip_prefix(number)? {
            "d" => TimeDelta::days(1),
            "h" => TimeDelta::hours(1),
            "m" => TimeDelta::minutes(1),
            _ => return None,
        };
        unit.checked_mul(number.parse().ok()?)
    };
    text.split(' ')
        .try_fold(TimeDelta::zero(), |sum, it| sum.checked_add(&one(it)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_stand_for_what_is_there() {
        let mut demo = Demo::of([("ada", "7")], [("Lab A", "g")]);
        demo.now = DateTimeUtc::from_timestamp_millis(1_795_880_000_500).unwrap();
        demo.names
            .insert("sent".into(), json!({"url": "/u", "size": 5}));
        demo.names.insert("list".into(), json!(["a", "b"]));
        for (text, expected) in [
            ("plain", json!("plain")),
            ("{person ada}", json!("7")),
            ("{group Lab A}/{person ada}!", json!("g/7!")),
            ("{sent}", json!({"url": "/u", "size": 5})),
            ("{sent.size}", json!(5)),
            ("{list.1}", json!("b")),
            ("{now -1d 2h}", json!("2026-11-27T17:33:20.500+00:00")),
            ("{day 1d 90m}", json!("2026-11-29T01:30:00+00:00")),
            ("{date -1d}", json!("2026-11-27")),
        ] {
            assert_eq!(demo.complete(text).unwrap(), expected, "{text}");
        }
        for wrong in [
            "{nobody}",
            "{person eve}",
            "{sent.id}",
            "{now soon}",
            "{day 1w}",
        ] {
            assert!(demo.complete(wrong).is_err(), "{wrong}");
        }
    }
}

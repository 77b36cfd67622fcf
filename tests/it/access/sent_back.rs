//! Sends back answers to reads: whoever may change an entity may send all of it with the changes, also where some of it
//! is not theirs to change. A value that equals the stored one is no change.

use std::collections::BTreeMap;

use entity_core::Registry;
use entity_core::catalog::Catalog;
use http::Method;
use serde_json::{Map, Value};
use tests::{Answer, Backend, Client, TestApp, both, is_full};

use super::matrix::send;
use super::policy::{self, Expected};
use super::requests::{self, JSON, Question};
use super::world::{Caller, World};

const FORM: &str = "application/x-www-form-urlencoded";
const MERGE: &str = "application/merge-patch+json";

/// One in so many cells of each type is asked about, unless `FULL=1`: who may change what is decided above the storage.
fn stride(backend: Backend) -> usize {
    match backend {
        _ if is_full() => 1,
        Backend::Sqlite => 3,
        Backend::Postgres => 12,
    }
}

/// Returns whether it tells when the caller was last here, which each request changes.
fn is_of_now(name: &str) -> bool {
    matches!(name, "lastAccessedTime")
}

/// Returns a form with these fields: a list that is empty is an empty text, and others have no form.
fn to_form(fields: &Map<String, Value>) -> String {
    let text = |value: &Value| match value {
        Value::Null => Some(String::new()),
        Value::Array(items) if items.is_empty() => Some(String::new()),
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Array(_) | Value::Object(_) => None,
    };
    let pairs = fields
        .iter()
        .filter_map(|(name, value)| Some((name, text(value)?)));
    let encode = |text: &str| -> String {
        let bytes = text.bytes().map(|it| match it {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(it).to_string(),
            _ => format!("%{it:02X}"),
        });
        bytes.collect()
    };
    let pairs = pairs.map(|(name, value)| format!("{}={}", encode(name), encode(&value)));
    pairs.collect::<Vec<_>>().join("&")
}

struct Run {
    world: World,
    complaints: Vec<String>,
}

impl Run {
    async fn cell(&mut self, kind: &str, state: &str, caller: &Caller) {
        let name = format!("{kind} {state} {}", caller.name);
        // As it was read, and with a change of what the caller may change.
        for (way, with_change) in [
            ("put", false),
            ("patch", false),
            ("put", true),
            ("form", true),
        ] {
            let subject = self.world.fresh(kind, state, caller).await;
            let client = subject
                .client
                .clone()
                .unwrap_or_else(|| caller.client.clone());
            let path = format!("/direct/{kind}/{}", subject.id);
            let before = match read(&client, &path).await {
                Ok(fields) => fields,
                Err(answer) => {
                    self.complaints
                        .push(format!("{name}: can't be read: {}", answer.status));
                    return;
                }
            };
            let mut fields = before.clone();
            if with_change && let Value::Object(change) = requests::change(kind, &subject) {
                fields.extend(change);
            }
            let text = Value::Object(fields.clone()).to_string();
            let (method, body) = match way {
                "put" => (Method::PUT, (JSON, text)),
                "patch" => (Method::PATCH, (MERGE, text)),
                _ => (Method::POST, (FORM, to_form(&fields))),
            };
            let question = Question::send(method, path.clone(), Some(body));
            let answer = send(&client, &question, &path).await;
            let is_done = answer.status.is_success() || answer.status.is_redirection();
            if !is_done {
                self.complaints.push(format!(
                    "{name}: {way}{}: {} {}",
                    if with_change { " with a change" } else { "" },
                    answer.status,
                    answer.text()
                ));
                continue;
            }
            if with_change {
                continue;
            }
            let Ok(after) = read(&client, &path).await else {
                self.complaints
                    .push(format!("{name}: {way}: can't be read any more"));
                continue;
            };
            for (field, value) in &before {
                if after.get(field) != Some(value) && !is_of_now(field) {
                    let now = after.get(field);
                    self.complaints.push(format!(
                        "{name}: {way}: `{field}` was {value} and is {now:?}"
                    ));
                }
            }
        }
    }
}

async fn read(client: &Client, path: &str) -> Result<Map<String, Value>, Answer> {
    let answer = client.get(&format!("{path}.json")).await;
    if !answer.status.is_success() {
        return Err(answer);
    }
    match answer.json() {
        Value::Object(fields) => Ok(fields),
        _ => Err(answer),
    }
}

async fn check(app: TestApp) {
    let stride = stride(app.database().backend());
    let mut run = Run {
        world: World::new(app).await,
        complaints: Vec::new(),
    };
    let callers = run.world.callers.clone();
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for line in policy::lines() {
        if !line.operations.contains(&"update") {
            continue;
        }
        for state in &line.states {
            for caller in &callers {
                if line.expected[caller.column] != Expected::Success {
                    continue;
                }
                let number = kinds.entry(line.kind).or_default();
                *number += 1;
                // The second cell of most types is that of somebody who may change some of it.
                if *number == 2 || number.is_multiple_of(stride) {
                    run.cell(line.kind, state, caller).await;
                }
            }
        }
    }
    let complaints = run.complaints;
    assert!(
        complaints.is_empty(),
        "{}:\n{}",
        complaints.len(),
        complaints.join("\n")
    );
    let registry = Registry::from_inventory().expect("types that go together");
    let formats = entity_formats::standard().expect("formats that go together");
    let types = Catalog::of(&registry, &formats).types;
    let changed = types
        .iter()
        .filter(|it| it.capabilities.contains(&"update"));
    let left: Vec<_> = changed
        .map(|it| it.prefix)
        .filter(|it| !kinds.contains_key(it))
        .collect();
    assert!(left.is_empty(), "nobody sends these back: {left:?}");
}

both! {
    async fn x40_what_was_read_can_be_sent_back_by_everybody_who_may_change_it(app: TestApp) {
        check(app).await;
    }
}

//! `/direct`, as clients of every kind see it.

mod address;
mod administration;
mod announcement;
mod ask;
mod assignment;
mod attached;
mod attachment;
mod batch;
mod bounded;
mod bytes;
mod calendar;
mod calendar_import;
mod chat;
mod compression;
mod conditional;
mod content;
mod conversations;
mod copy;
mod csv;
mod dated;
mod describe;
mod enrolment;
mod error;
mod events;
mod feed;
mod fields;
pub(crate) mod form;
mod forums;
mod given_back;
mod gradebook;
mod grades;
mod grid;
mod group;
mod human;
mod ics;
mod idempotency;
mod input;
mod invitation;
mod join;
mod large_course;
mod lessons;
mod links;
mod listing;
mod marking;
mod membership;
mod method;
mod own_sites;
mod page;
mod patch;
mod people;
mod poll;
mod preconditions;
mod preference;
mod presence;
mod profile;
mod public;
mod query;
mod quiz;
mod repetition;
mod replay;
mod representation;
mod role;
mod roster;
mod server_config;
mod session;
mod session_event;
mod sheet;
mod site;
mod site_id;
mod syllabus;
mod term;
mod typed;
mod user;
mod webcontent;
mod zip;
mod zone;

use http::StatusCode;
use http::header::ACCEPT;
use serde_json::{Value, json};
use tests::{Answer, Client, TestApp};

const FORM: &str = "application/x-www-form-urlencoded";
const JSON: &str = "application/json";
const XML: &str = "application/xml";

/// The media types that browsers accept.
pub(crate) const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

/// The client of a user with a browser.
pub(crate) async fn browser(app: &TestApp, eid: &str) -> Client {
    app.user(eid).await.with_header(ACCEPT, BROWSER)
}

/// The body of a form with these fields.
fn form(pairs: &[(&str, &str)]) -> String {
    entity_formats::write_pairs(pairs.iter().copied())
}

/// A new announcement of the first course.
pub(crate) fn news(title: &str) -> Value {
    json!({"siteId": "biology-101", "title": title})
}

/// Reads the entity at `path`, which must be there.
pub(crate) async fn read(client: &Client, path: &str) -> Value {
    let answer = client.get(path).await;
    answer.expect(StatusCode::OK);
    answer.json()
}

/// The items of the collection of `prefix` at `path`.
async fn list(client: &Client, path: &str, prefix: &str) -> Vec<Value> {
    let mut answer = read(client, path).await;
    assert_eq!(answer["entityPrefix"], prefix);
    match answer[format!("{prefix}_collection")].take() {
        Value::Array(items) => items,
        other => panic!("{other} is no list"),
    }
}

/// The titles of the collection of `prefix` at `path`.
async fn titles(client: &Client, path: &str, prefix: &str) -> Vec<String> {
    let items = list(client, path, prefix).await;
    items.iter().map(|it| text(it, "title")).collect()
}

/// The address of a file without the server's name.
fn address(file: &Value) -> String {
    let url = text(file, "url");
    let path = url.strip_prefix("http://127.0.0.1:8080");
    path.expect("our address").to_owned()
}

/// The internal id of whoever asks.
async fn id_of(client: &Client) -> String {
    text(&read(client, "/direct/user/current.json").await, "id")
}

/// The address that the `Link` header has for `relation`, without the server's name.
pub(crate) fn link(answer: &Answer, relation: &str) -> Option<String> {
    let links = answer.header("Link")?;
    let wanted = format!("; rel=\"{relation}\"");
    let link = links.split(", ").find_map(|it| it.strip_suffix(&wanted))?;
    let url = link.trim_start_matches('<').trim_end_matches('>');
    url.strip_prefix("http://127.0.0.1:8080")
        .map(ToOwned::to_owned)
}

/// The items of an answer.
fn items(answer: &Answer, prefix: &str) -> Vec<Value> {
    answer.expect(StatusCode::OK);
    let list = answer.json()[format!("{prefix}_collection")].take();
    list.as_array().expect("a list").clone()
}

/// Everything at `path`, by following the `next` links.
async fn follow(client: &Client, path: &str, prefix: &str) -> Vec<Value> {
    let mut all = Vec::new();
    let mut next = Some(path.to_owned());
    while let Some(path) = next {
        let answer = client.get(&path).await;
        all.extend(items(&answer, prefix));
        next = link(&answer, "next");
    }
    all
}

fn text(value: &Value, key: &str) -> String {
    let found = value[key].as_str();
    found
        .unwrap_or_else(|| panic!("`{key}` is no text: {value}"))
        .to_owned()
}

/// The id of what was created, if the headers agree on what that is.
#[track_caller]
fn created(answer: &Answer, prefix: &str) -> String {
    answer.expect(StatusCode::CREATED);
    let id = answer
        .header("EntityId")
        .expect("the id of what was created");
    assert_eq!(
        answer.header("EntityReference"),
        Some(format!("/{prefix}/{id}").as_str())
    );
    let location = format!("http://127.0.0.1:8080/direct/{prefix}/{id}");
    assert_eq!(answer.header("Location"), Some(location.as_str()));
    id.to_owned()
}

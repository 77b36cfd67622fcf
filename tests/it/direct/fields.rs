//! The fields that clients read: a snapshot holds the name and the kind of each that is sent, and XML tells what JSON does.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use entity_core::Verb;
use entity_core::engine::Route;
use http::StatusCode;
use serde_json::{Map, Value, json};
use server::web::api::Endpoints;
use tests::{Client, TestApp, both};

use super::{id_of, text};
use crate::shape::{assert_same, is_instant};

/// The people who ask, and the site that they ask about.
const PEOPLE: [&str; 4] = ["student1", "ta1", "instructor1", "admin"];
const SITE: &str = "biology-101";
/// The most entities of a list that are read one by one. Of more, it would be left to chance which they are.
const READ: usize = 30;

/// Entities that the demo does not have, made by the instructor and the student.
fn made(student: &str) -> [(&'static str, &'static str, Value); 5] {
    let page = "https://example.org/a";
    let grade = json!({"siteId": SITE, "userId": student, "grade": "A"});
    let redirect = json!({"siteId": SITE, "redirectUrl": page});
    let webhook = json!({"siteId": SITE, "url": page, "active": false});
    let task = json!({"description": "Paint", "siteId": SITE});
    [
        ("instructor1", "gradebook-override", grade),
        ("instructor1", "syllabus-redirect", redirect),
        ("instructor1", "webhook", webhook),
        ("student1", "feed", json!({"path": "/announcement/user"})),
        ("student1", "task", task),
    ]
}

/// Types of which there is nothing before somebody works: only their description holds the names of their fields.
const NOT_SHOWN: [&str; 8] = [
    "audit",
    "conversations-agreement",
    "conversations-mark",
    "conversations-settings",
    "gradebook-change",
    "lesson-progress",
    "setting",
    "webhook-delivery",
];

/// Actions that take ids, each with the type of which they are.
const BY_ID: [(&str, &str); 15] = [
    ("assignment", "assignment/item/{id}"),
    ("assignment", "assignment/deepLink/biology-101/{id}"),
    ("assignment", "assignment/gradable?gradableId={id}"),
    ("calendar", "calendar/event/biology-101/{id}"),
    ("forums", "forums/forum/{id}"),
    ("forums-topic", "forums/topic/{id}"),
    ("forums-message", "forums/message/{id}"),
    ("lessons", "lessons/lesson/{id}?fullTree=true"),
    ("membership", "membership/site/biology-101?userId={id}"),
    ("poll", "poll-option/poll/{id}"),
    ("poll", "poll-vote/poll/{id}"),
    ("sam_pub", "quiz-attempt/sam_pub/{id}"),
    ("site", "gradebook/item/biology-101/Essay%201"),
    ("site", "grades/gradeitem/biology-101/Essay%201"),
    ("site", "site/biology-101/perms/annc"),
];

/// The kinds of a value that was sent, and of what is in it.
#[derive(Default)]
struct Shape {
    kinds: BTreeSet<&'static str>,
    /// The number of times that it was an object.
    objects: usize,
    /// The fields of these, each with how often it was there.
    fields: BTreeMap<String, (usize, Shape)>,
    /// The items of lists.
    items: Option<Box<Shape>>,
}

impl Shape {
    fn learn(&mut self, value: &Value) {
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "flag",
            Value::Number(it) if it.is_f64() => "number",
            Value::Number(_) => "whole",
            Value::String(it) if it.starts_with("http://127.0.0.1:8080/") => "url",
            Value::String(it) if is_instant(it) => "instant",
            Value::String(_) => "text",
            Value::Array(items) => {
                let shape = self.items.get_or_insert_default();
                for it in items {
                    shape.learn(it);
                }
                "list"
            }
            Value::Object(fields) => {
                self.learn_fields(fields);
                "object"
            }
        };
        self.kinds.insert(kind);
    }

    fn learn_fields(&mut self, fields: &Map<String, Value>) {
        self.objects += 1;
        for (name, value) in fields {
            // What is named by an id, a day or a code is one of a kind.
            let is_name = name.chars().all(|it| it.is_ascii_alphabetic() || it == '_');
            let name = if is_name && !name.is_empty() {
                name
            } else {
                "*"
            };
            let (count, shape) = self.fields.entry(name.to_owned()).or_default();
            *count += 1;
            shape.learn(value);
        }
    }

    /// Writes a line for this and for each field below it.
    fn write(&self, name: &str, depth: usize, to: &mut String) {
        let kinds: Vec<_> = self.kinds.iter().copied().collect();
        let _ = writeln!(to, "{:depth$}{name} {}", "", kinds.join("|"));
        for (field, (count, shape)) in &self.fields {
            let is_optional = *count < self.objects && field != "*";
            let field = if is_optional {
                format!("{field}?")
            } else {
                field.clone()
            };
            shape.write(&field, depth + 2, to);
        }
        if let Some(items) = self.items.as_ref().filter(|it| !it.kinds.is_empty()) {
            items.write("[]", depth + 2, to);
        }
    }
}

/// The shapes of the answers, by the address without ids.
type Shapes = BTreeMap<String, Shape>;

/// Asks for `path`, learns what it answers, and returns it. XML has to tell the same where it is offered.
async fn ask(client: &Client, name: &str, path: &str, shapes: &mut Shapes) -> Value {
    let (address, query) = path.split_once('?').unwrap_or((path, ""));
    let in_format = |format: &str| format!("{address}.{format}?{query}");
    let path = if path.starts_with("/direct/") {
        in_format("json")
    } else {
        path.to_owned()
    };
    // Rows of the audit log are stored a little after the request.
    if address.starts_with("/direct/audit") {
        return Value::Null;
    }
    let answer = client.get(&path).await;
    if answer.status != StatusCode::OK || answer.header("content-type") != Some("application/json")
    {
        return Value::Null;
    }
    let json = answer.json();
    let items = json["entityPrefix"]
        .as_str()
        .map(|it| format!("{it}_collection"));
    match items.and_then(|it| json[it].as_array()) {
        Some(items) if !items.is_empty() => {
            let shape = shapes.entry(format!("{name}[]")).or_default();
            for it in items {
                shape.learn(it);
            }
        }
        _ => shapes.entry(name.to_owned()).or_default().learn(&json),
    }
    // A session is another one with each request.
    if path.starts_with("/direct/") && !path.starts_with("/direct/session") {
        let xml = client.get(&in_format("xml")).await;
        if xml.status == StatusCode::OK
            && xml
                .header("content-type")
                .is_some_and(|it| it.starts_with("application/xml"))
        {
            assert_same(xml.text(), &json);
        }
    }
    json
}

/// Asks for the list of a type, for some of its entities, and runs the actions that read.
async fn ask_all_of(client: &Client, route: &Route, shapes: &mut Shapes) {
    let prefix = route.prefix;
    let base = format!("/direct/{prefix}");
    let mut ids = vec![SITE.to_owned(), "current".to_owned(), "me".to_owned()];
    if route.capabilities().contains(&"list") {
        let list = ask(client, &base, &format!("{base}?_limit=0"), shapes).await;
        let items = list[format!("{prefix}_collection")].as_array();
        let items = items.filter(|it| it.len() <= READ).into_iter().flatten();
        ids = items.map(|it| text(it, "entityId")).collect();
    }
    for id in &ids {
        let id = entity_core::encode_segment(id);
        ask(
            client,
            &format!("{base}/{{id}}"),
            &format!("{base}/{id}"),
            shapes,
        )
        .await;
        for (_, path) in BY_ID.iter().filter(|it| it.0 == prefix) {
            ask(
                client,
                &format!("/direct/{path}"),
                &format!("/direct/{}", path.replace("{id}", &id)),
                shapes,
            )
            .await;
        }
    }
    for action in route.actions.iter().filter(|it| it.verb == Verb::Get) {
        let required: Vec<_> = action
            .arguments
            .iter()
            .filter(|it| it.is_required)
            .collect();
        let behind = match &required[..] {
            [] => format!("/{}", action.name),
            [one] if ["siteId", "site", "context"].contains(&one.name) => {
                format!("/{}/{SITE}", action.name)
            }
            _ => continue,
        };
        if !action.is_on_entity {
            ask(
                client,
                &format!("{base}{behind}"),
                &format!("{base}{behind}"),
                shapes,
            )
            .await;
            continue;
        }
        for id in &ids {
            let path = format!("{base}/{}{behind}", entity_core::encode_segment(id));
            ask(client, &format!("{base}/{{id}}{behind}"), &path, shapes).await;
        }
    }
}

/// The shapes as text, of which each stands there once, below the addresses that answer it.
fn told(shapes: &Shapes) -> String {
    let mut addresses: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (name, shape) in shapes {
        let mut text = String::new();
        shape.write("is", 2, &mut text);
        addresses.entry(text).or_default().push(name);
    }
    let mut parts: Vec<_> = addresses
        .into_iter()
        .map(|(text, names)| (names, text))
        .collect();
    parts.sort();
    let parts = parts
        .iter()
        .map(|(names, text)| format!("{}\n{text}", names.join("\n")));
    parts.collect()
}

both! {
    async fn the_fields_that_are_sent_keep_their_names_and_kinds(app: TestApp) {
        let endpoints = Endpoints::from_inventory().expect("endpoints that go together");
        let mut shapes = Shapes::new();
        let student = id_of(&app.user("student1").await).await;
        for (eid, kind, fields) in made(&student) {
            let answer = app.user(eid).await.post(&format!("/direct/{kind}"), &fields).await;
            answer.expect(StatusCode::CREATED);
        }
        let mut clients = vec![app.anonymous()];
        for eid in PEOPLE {
            clients.push(app.user(eid).await);
        }
        for client in clients {
            for route in app.service().dispatcher.registry().routes() {
                ask_all_of(&client, route, &mut shapes).await;
            }
            for endpoint in endpoints.iter().filter(|it| it.verb == Verb::Get) {
                let path = endpoint.path.replace("{siteId}", SITE).replace("{userId}", "me");
                if !(path.contains('{') || path.ends_with("/events") || path.contains(".json")) {
                    ask(&client, endpoint.path, &path, &mut shapes).await;
                }
            }
            for group in app.groups().await {
                let path = format!("/direct/site/{SITE}/group");
                ask(&client, &format!("{path}/{{group}}"), &format!("{path}/{group}"), &mut shapes).await;
            }
            let bundle = ask(&client, "/api/sites/{siteId}/topics", &format!("/api/sites/{SITE}/topics"), &mut shapes).await;
            let topics = bundle["topics"].as_array().into_iter().flatten().filter_map(|it| it["url"].as_str());
            for path in topics {
                ask(&client, "/api/sites/{siteId}/topics/{topicId}", path, &mut shapes).await;
                ask(&client, "/api/sites/{siteId}/topics/{topicId}/posts", &format!("{path}/posts"), &mut shapes).await;
            }
        }
        let is_shown = |prefix: &str| shapes.keys().any(|it| it.starts_with(&format!("/direct/{prefix}/")));
        let routes = app.service().dispatcher.registry().routes();
        let unseen: Vec<_> = routes.map(|it| it.prefix).filter(|it| !is_shown(it)).collect();
        assert_eq!(unseen, NOT_SHOWN, "the types of which nothing is shown");
        insta::assert_snapshot!("fields", told(&shapes));
    }
}

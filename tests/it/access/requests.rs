//! The ways to ask for an operation: by each format, by the method itself and by a form that names it.

use http::Method;
use serde_json::{Value, json};

use super::behind::{behind, query};
use super::encoded::{to_form, to_operations, to_xml};
use super::subject::{Subject, is_quiz};
use super::world::Caller;
use super::{
    assignment, chat, content, conversations, forums, gradebook, lessons, notification, poll,
    profile, quiz, webhook,
};

const BATCH: &str = "/direct/batch.json";
const FORM: &str = "application/x-www-form-urlencoded";
pub(super) const JSON: &str = "application/json";
const XML: &str = "application/xml";

/// The signs of success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shows {
    /// By its status alone.
    Status,
    /// By its status, which may lead elsewhere.
    Lead,
    /// The entity is shown.
    Entity,
    /// The entity as a feed, which not every type offers.
    Feed,
    /// The lists show what the policy says, one at least.
    Lists,
    /// The lists show nothing that the policy does not say.
    NothingMore,
    /// True if the caller is a super user.
    Superuser(bool),
}

/// One way to ask.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) method: Method,
    /// Several, where the lists together are the answer.
    pub(super) paths: Vec<String>,
    pub(super) body: Option<(&'static str, String)>,
    pub(super) shows: Shows,
}

impl Question {
    pub(super) fn get(shows: Shows, paths: impl IntoIterator<Item = String>) -> Self {
        Self {
            method: Method::GET,
            paths: paths.into_iter().collect(),
            body: None,
            shows,
        }
    }

    pub(super) fn send(method: Method, path: String, body: Option<(&'static str, String)>) -> Self {
        Self {
            method,
            paths: vec![path],
            body,
            shows: Shows::Status,
        }
    }

    /// Returns whether it is refused without a session, whatever it is about: a batch, or a list that names no site.
    pub(super) fn needs_session(&self) -> bool {
        self.shows == Shows::NothingMore || self.paths.iter().any(|it| it == BATCH)
    }

    /// The same without the body of the answer.
    fn head(&self) -> Self {
        Self {
            method: Method::HEAD,
            ..self.clone()
        }
    }
}

/// Returns whether the operation writes when it succeeds.
pub(super) fn is_write(operation: &str) -> bool {
    let by_name = ["create", "update", "delete", "retype", "shut"].contains(&operation);
    by_name
        || operation
            .split_once(':')
            .is_some_and(|(method, _)| method != "GET")
}

/// The ways in which `caller` asks for `operation` on `subject`, which is of the type `kind`.
pub(super) fn of(kind: &str, operation: &str, subject: &Subject, caller: &Caller) -> Vec<Question> {
    let entity = format!("/direct/{kind}/{}", subject.id);
    match operation {
        "read" => read(&entity),
        "list" => list(kind, subject),
        "search" => search(kind, subject),
        "feed" => ["atom", "rss"]
            .map(|it| Question::get(Shows::Lists, lists(kind, it, subject)))
            .to_vec(),
        "events" => vec![Question::get(Shows::Lists, lists(kind, "ics", subject))],
        "form" => status(&[format!("/direct/{kind}/new.html")]),
        "create" => create(kind, subject),
        "update" => update(kind, &entity, &change(kind, subject)),
        "retype" => update(kind, &entity, &json!({"type": "other"})),
        "shut" => update(kind, &entity, &json!({"disabled": true})),
        "delete" => delete(&entity),
        _ if kind.starts_with("grade") => gradebook::named(kind, operation, subject),
        _ => named(kind, operation, subject, caller),
    }
}

fn read(entity: &str) -> Vec<Question> {
    let mut questions = vec![Question::get(Shows::Entity, [entity.to_owned()])];
    for format in ["json", "xml", "html", "csv"] {
        questions.push(Question::get(Shows::Entity, [format!("{entity}.{format}")]));
    }
    // By extension, as data and as a page.
    for index in [1, 3] {
        questions.push(questions[index].head());
    }
    for format in ["atom", "rss", "ics"] {
        questions.push(Question::get(Shows::Feed, [format!("{entity}.{format}")]));
    }
    questions.push(Question {
        shows: Shows::Entity,
        ..batch("GET", entity, None)
    });
    questions
}

/// The same as the one operation of an atomic batch, which fails as it does.
fn batch(method: &str, path: &str, body: Option<&Value>) -> Question {
    let mut operation = json!({"method": method, "path": path});
    if let Some(body) = body {
        operation["body"] = body.clone();
    }
    let batch = json!({"atomic": true, "operations": [operation]});
    Question::send(
        Method::POST,
        BATCH.to_owned(),
        Some((JSON, batch.to_string())),
    )
}

/// Returns whether lists of this type are narrowed by `siteId`.
fn is_listed_by_site(kind: &str) -> bool {
    let parts =
        "announcement calendar content conversations forums lesson notification poll syllabus";
    let is_part = parts.split(' ').any(|it| kind.starts_with(it));
    is_part || is_quiz(kind) || chat::is_one(kind) || webhook::is_one(kind)
}

/// The lists that together show all that can be read of this type.
fn lists(kind: &str, format: &str, subject: &Subject) -> Vec<String> {
    let queries = match kind {
        _ if is_listed_by_site(kind) => vec![format!("?siteId={}", subject.site)],
        "assignment" | "assignment-submission" => vec![format!("?context={}", subject.site)],
        "site" => Vec::from(["any", "joinable", "pubView"].map(|it| format!("?select={it}"))),
        "membership" if !subject.group.is_empty() => vec![format!(
            "?userId={}&includeSites=false&includeGroups=true",
            subject.user
        )],
        "membership" | "feed" => vec![format!("?userId={}", subject.user)],
        "session-event" | "setting" | "audit" => vec!["?_limit=0".to_owned()],
        _ => vec![String::new()],
    };
    let path = |it| format!("/direct/{kind}.{format}{it}");
    queries.iter().map(path).collect()
}

fn list(kind: &str, subject: &Subject) -> Vec<Question> {
    let mut questions = Vec::new();
    for format in ["json", "xml", "html", "csv"] {
        let question = Question::get(Shows::Lists, lists(kind, format, subject));
        if format == "json" {
            questions.push(question.head());
        }
        questions.push(question);
    }
    if matches!(kind, "server-config" | "setting" | "audit") {
        return questions;
    }
    let mut others = vec![format!("/direct/{kind}.json")];
    match kind {
        "membership" => others.extend([
            format!("/direct/membership.json?siteId={}", subject.site),
            format!(
                "/direct/membership.json?locationReference=/site/{}",
                subject.site
            ),
        ]),
        "site" => others.push("/direct/site.json?select=update".to_owned()),
        "announcement" | "calendar" => others.push(format!("/direct/{kind}.json?_order=title")),
        _ => {}
    }
    questions.extend(
        others
            .into_iter()
            .map(|it| Question::get(Shows::NothingMore, [it])),
    );
    questions
}

fn search(kind: &str, subject: &Subject) -> Vec<Question> {
    let marker = &subject.marker;
    let narrowed = |it: String| {
        let joint = if it.contains('?') { '&' } else { '?' };
        format!("{it}{joint}_search={marker}")
    };
    ["json", "xml"]
        .map(|it| {
            let paths = lists(kind, it, subject).into_iter().map(narrowed);
            Question::get(Shows::Lists, paths)
        })
        .to_vec()
}

fn status(paths: &[String]) -> Vec<Question> {
    paths
        .iter()
        .map(|it| Question::get(Shows::Status, [it.clone()]))
        .collect()
}

fn create(kind: &str, subject: &Subject) -> Vec<Question> {
    let Subject {
        site, user, marker, ..
    } = subject;
    let fields = match kind {
        "announcement" | "syllabus" | "content" => json!({"siteId": site, "title": marker}),
        "syllabus-redirect" => json!({"siteId": site, "redirectUrl": "https://example.org/new"}),
        "calendar" => {
            json!({"siteId": site, "title": marker, "firstTime": "2026-11-25T10:00:00Z"})
        }
        _ if kind.starts_with("assignment") => assignment::draft(kind, subject),
        _ if is_quiz(kind) => quiz::draft(kind, subject),
        _ if chat::is_one(kind) => chat::draft(kind, subject),
        _ if webhook::is_one(kind) => webhook::draft(subject),
        _ if kind.starts_with("lesson") => lessons::draft(kind, subject),
        _ if kind.starts_with("forums") => forums::draft(kind, subject),
        _ if kind.starts_with("poll") => poll::draft(kind, subject),
        _ if kind.starts_with("conversations") => conversations::draft(kind, subject),
        "user" => json!({"eid": marker, "lastName": marker}),
        "task" => notification::new_task(subject),
        "feed" => json!({"path": "/announcement/user", "title": marker}),
        _ if kind.starts_with("gradebook") => gradebook::draft(kind, subject),
        "invitation" => json!({"siteId": site, "invitee": user}),
        "term" => {
            json!({"title": marker, "from": "2028-01-01T00:00:00Z", "to": "2028-07-01T00:00:00Z"})
        }
        "membership" if !subject.group.is_empty() => {
            json!({"userId": user, "locationReference": format!("/group/{}", subject.group)})
        }
        "membership" => json!({"userId": user, "locationReference": format!("/site/{site}")}),
        _ => json!({"title": marker, "type": subject.site_type}),
    };
    let path = format!("/direct/{kind}");
    let post = |path: &str, body| Question::send(Method::POST, path.to_owned(), Some(body));
    vec![
        post(&path, (JSON, fields.to_string())),
        batch("POST", &path, Some(&fields)),
        post(&path, (XML, to_xml(kind, &fields))),
        post(&path, (FORM, to_form(&fields))),
        post(&format!("{path}/new.xml"), (FORM, to_form(&fields))),
    ]
}

/// Something that changes the entity. A membership gets the highest role of its site.
pub(super) fn change(kind: &str, subject: &Subject) -> Value {
    match kind {
        "user" => json!({"firstName": "Changed"}),
        "syllabus-redirect" => json!({"redirectUrl": "https://example.org/changed"}),
        "notification" => json!({"viewed": true}),
        "task" => json!({"notes": "Changed"}),
        "profile" | "preference" => profile::change(kind),
        "webhook" => json!({"description": "Changed"}),
        "membership" => json!({"memberRole": subject.highest_role}),
        "assignment-submission" => assignment::change(subject),
        _ if kind.starts_with("lesson") => lessons::change(kind),
        _ if kind.starts_with("conversations") => conversations::change(kind),
        // It is kept alive.
        "session" => json!({}),
        _ if kind.starts_with("gradebook") => gradebook::change(kind),
        _ if is_quiz(kind) => quiz::change(kind),
        _ if kind.starts_with("poll") => json!({"text": "Changed"}),
        _ => json!({"title": "Changed"}),
    }
}

fn update(kind: &str, entity: &str, fields: &Value) -> Vec<Question> {
    let send = |method, path: String, body| Question::send(method, path, Some(body));
    let form = format!("_method=PUT&{}", to_form(fields));
    let edit = format!("{entity}/edit");
    let mut questions = vec![
        send(Method::PUT, entity.to_owned(), (JSON, fields.to_string())),
        send(Method::POST, entity.to_owned(), (JSON, fields.to_string())),
        send(
            Method::PATCH,
            entity.to_owned(),
            ("application/merge-patch+json", fields.to_string()),
        ),
        send(
            Method::PATCH,
            entity.to_owned(),
            (
                "application/json-patch+json",
                to_operations(fields).to_string(),
            ),
        ),
        batch("PUT", entity, Some(fields)),
        send(
            Method::PUT,
            format!("{entity}.xml"),
            (XML, to_xml(kind, fields)),
        ),
        send(Method::POST, entity.to_owned(), (FORM, to_form(fields))),
        send(Method::POST, entity.to_owned(), (FORM, form)),
        send(Method::POST, edit.clone(), (FORM, to_form(fields))),
    ];
    // A caller who may change something may not change everything of it.
    if !["type", "disabled"]
        .iter()
        .any(|it| fields.get(it).is_some())
    {
        questions.extend(status(&[format!("{edit}.html")]));
    }
    questions
}

fn delete(entity: &str) -> Vec<Question> {
    let form = || Some((FORM, "_method=DELETE".to_owned()));
    vec![
        Question::send(Method::DELETE, entity.to_owned(), None),
        batch("DELETE", entity, None),
        Question::send(Method::DELETE, format!("{entity}.xml"), None),
        Question::send(Method::DELETE, format!("{entity}/delete"), None),
        Question::send(Method::POST, entity.to_owned(), form()),
        Question::send(Method::POST, format!("{entity}/delete"), form()),
        Question::get(Shows::Status, [format!("{entity}/delete.html")]),
    ]
}

/// An action, or an address outside of `/direct`.
fn named(kind: &str, operation: &str, subject: &Subject, caller: &Caller) -> Vec<Question> {
    let (method, name) = operation
        .split_once(':')
        .expect("an operation that is known");
    if name.starts_with('/') {
        return vec![endpoint(kind, operation, subject, caller)];
    }
    if method != "GET" {
        let path = format!("/direct/{kind}/{}", behind(kind, operation, subject));
        let form = (FORM, format!("_method={method}"));
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        return vec![
            Question::send(method, path.clone(), None),
            Question::send(Method::POST, path, Some(form)),
        ];
    }
    let Subject {
        id, site, marker, ..
    } = subject;
    let prefix = format!("/direct/{kind}");
    let channel = if site == "!site" { "motd" } else { "main" };
    let (shows, path) = match (kind, name) {
        ("lessons" | "lesson-item", _) if name != "entries" => lessons::named(name, subject),
        ("forums", _) => forums::named(name, subject),
        (kind, _) if kind.starts_with("poll") => poll::named(kind, name, subject),
        ("content", _) => content::question(name, subject),
        (_, "site") if !["site", "presence", "activity"].contains(&kind) => {
            (Shows::Lists, format!("{prefix}/site/{site}"))
        }
        ("presence" | "activity", _) => (Shows::Status, format!("{prefix}/site/{id}")),
        ("sam_pub", "context") => (Shows::Lists, format!("{prefix}/context/{site}")),
        ("quiz-attempt", "sam_pub") => {
            (Shows::Lists, format!("{prefix}/sam_pub/{}", subject.group))
        }
        ("assignment-submission", "assignment") => (
            Shows::Lists,
            format!("{prefix}/assignment/{}", subject.group),
        ),
        ("membership", "people") => (Shows::Status, format!("{prefix}/people/{site}")),
        ("membership", "group") => (Shows::Lists, format!("{prefix}/group/{}", subject.group)),
        ("membership", "fastroles") => {
            (Shows::Lists, format!("{prefix}/fastroles/{}", subject.user))
        }
        ("invitation", "claim") => (Shows::Status, format!("{prefix}/claim/{id}")),
        ("site", "withPerm") => (Shows::Lists, format!("{prefix}/withPerm")),
        ("site", "group") => (
            Shows::Status,
            format!("{prefix}/{id}/group/{}", subject.group),
        ),
        ("announcement", "user" | "motd") => (Shows::Lists, format!("{prefix}/{name}")),
        ("assignment", _) if !matches!(name, "export" | "overview" | "marking") => {
            assignment::question(name, subject)
        }
        ("calendar", "my") => (Shows::Lists, format!("{prefix}/my")),
        ("calendar", _) => (Shows::Entity, format!("{prefix}/event/{site}/{id}")),
        ("announcement", "message") => (Shows::Entity, format!("{prefix}/message/{site}/{marker}")),
        ("announcement", _) => (
            Shows::Entity,
            format!("{prefix}/msg/{site}/{channel}/{marker}"),
        ),
        ("server-config", _) | ("preference", "kinds") | (_, "current") => {
            (Shows::Status, format!("{prefix}/{name}"))
        }
        _ => (Shows::Status, format!("{prefix}/{id}/{name}")),
    };
    if matches!(name, "export" | "image" | "pronunciation" | "zip") {
        return vec![Question::get(shows, [path])];
    }
    let mut questions = Vec::new();
    // Pages of members have no column for addresses.
    let is_address = marker.contains('@');
    // The page of what was handed in is called by the title of the assignment, which is the word.
    let is_title = (kind, name) == ("assignment-submission", "assignment");
    let formats = ["json", "xml", "html"].into_iter();
    for format in formats.filter(|it| !(is_address || is_title) || *it != "html") {
        let query = query(name, subject);
        let question = Question::get(shows, [format!("{path}.{format}{query}")]);
        if format == "json" {
            questions.push(question.head());
        }
        questions.push(question);
    }
    questions
}

fn endpoint(kind: &str, operation: &str, subject: &Subject, caller: &Caller) -> Question {
    let get = |shows, path: &str| Question::get(shows, [path.to_owned()]);
    match (operation, kind) {
        ("POST:/api/login", _) => {
            let login = format!(
                "username={}&password={}",
                subject.marker,
                tests::app::PASSWORD
            );
            Question::send(Method::POST, "/api/login".to_owned(), Some((FORM, login)))
        }
        ("GET:/api/user/roles", _) => {
            get(Shows::Superuser(caller.name == "admin"), "/api/user/roles")
        }
        ("GET:/api/users/{userId}/sites", "site") => get(Shows::Lists, "/api/users/me/sites"),
        ("GET:/api/users/{userId}/sites", _) => {
            get(Shows::Status, &format!("/api/users/{}/sites", subject.id))
        }
        ("GET:/api/users/me/announcements", "announcement") => {
            get(Shows::Lists, "/api/users/me/announcements")
        }
        ("POST:/portal/xlogin" | "POST:/portal/relogin", _) => {
            let path = operation.trim_start_matches("POST:").to_owned();
            let login = format!("eid={}&pw={}", subject.marker, tests::app::PASSWORD);
            Question {
                shows: Shows::Lead,
                ..Question::send(Method::POST, path, Some((FORM, login)))
            }
        }
        ("POST:/api/tasks", _) => {
            let body = notification::new_task(subject).to_string();
            Question::send(Method::POST, "/api/tasks".to_owned(), Some((JSON, body)))
        }
        ("PATCH:/api/users/{userId}/profile", _) => profile::patch(subject),
        ("PUT:/api/tasks/{userTaskId}", _) => {
            let path = format!("/api/tasks/{}", subject.id);
            Question::send(
                Method::PUT,
                path,
                Some((JSON, json!({"complete": true}).to_string())),
            )
        }
        (_, kind) if kind.starts_with("conversations") => {
            conversations::question(kind, operation, subject)
        }
        (_, "calendar") => {
            let path = operation.trim_start_matches("GET:");
            get(Shows::Lists, &path.replace("{siteId}", &subject.site))
        }
        (other, _) => {
            let (method, path) = other.split_once(':').expect("an address");
            let path = path
                .replace("{siteId}", &subject.site)
                .replace("{pageId}", &format!("{}-page", subject.site))
                .replace("{placementId}", &format!("{}-tool", subject.site))
                .replace("{userId}", &subject.id)
                .replace("{notificationId}", &subject.id)
                .replace("{userTaskId}", &subject.id)
                .replace("/{*path}", &subject.group);
            let shows = match path.starts_with("/api/") {
                true => Shows::Status,
                false => Shows::Lead,
            };
            Question {
                shows,
                ..Question::send(method.parse().expect("a method"), path, None)
            }
        }
    }
}

//! Every line of the specification's tables of endpoints: what is sent, what is returned, and each status that it lists.
//!
//! The table is written from the specification alone. The files beside this one test each endpoint in depth.

use chrono::TimeDelta;
use http::header::CONTENT_TYPE;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use tests::app::PASSWORD;
use tests::client::{FORM, JSON};
use tests::{Answer, Client, TestApp, above_storage};

use crate::shape::is_instant;

/// A site of which the student of these tests is a member, and one of which they are not.
const SITE: &str = "biology-101";
const FOREIGN: &str = "history-210";

/// Fails unless `value` is an object with at least the keys of `shapes`, each of its type: `title text, props object`.
#[track_caller]
fn assert_keys(value: &Value, shapes: &[&str]) {
    let fields = value.as_object().expect("an object");
    let keys = shapes.iter().flat_map(|it| it.split(','));
    for (name, kind) in keys.filter_map(|it| it.trim().split_once(' ')) {
        let value = fields
            .get(name)
            .unwrap_or_else(|| panic!("`{name}` is missing: {value}"));
        assert!(is_of(value, kind), "`{name}` is no {kind}: {value}");
    }
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "text" => value.is_string(),
        "url" => value
            .as_str()
            .is_some_and(|it| it.starts_with("http://127.0.0.1:8080/")),
        "whole" => value.is_i64(),
        "number" => value.is_number(),
        "flag" => value.is_boolean(),
        "list" => value.is_array(),
        "object" => value.is_object(),
        "instant" => value.as_str().is_some_and(is_instant),
        other => match other.strip_suffix('?') {
            Some(kind) => value.is_null() || is_of(value, kind),
            None => panic!("there is no type `{other}`"),
        },
    }
}

/// A line of the table of data endpoints that reads.
struct Line {
    /// The address; `{site}` stands for a site.
    path: &'static str,
    /// The keys of the answer, each with its type; empty where the answer is a list.
    keys: &'static str,
    /// The key of a list in the answer, empty where the answer is that list, and the keys of each of its elements.
    list: Option<(&'static str, &'static str)>,
}

const ANNOUNCEMENT: &str = "id text, title text, body text, siteId text, siteTitle text, createdBy text, \
    createdDate instant, url text";
const EVENT: &str = "id text, title text, description text, startTime instant, endTime instant, siteId text, \
    type text, url text";

const LINES: &[Line] = &[
    Line {
        path: "/api/user/roles",
        keys: "isSuperUser flag",
        list: None,
    },
    Line {
        path: "/api/users/me/sites",
        keys: "terms list, sites list",
        list: Some((
            "sites",
            "siteId text, title text, url text, pinned flag, tools list",
        )),
    },
    Line {
        path: "/api/users/student1/sites?pinned=true",
        keys: "terms list, sites list",
        list: Some((
            "sites",
            "siteId text, title text, url text, pinned flag, tools list",
        )),
    },
    Line {
        path: "/api/users/me/announcements",
        keys: "announcements list",
        list: Some(("announcements", ANNOUNCEMENT)),
    },
    Line {
        path: "/api/users/me/calendar",
        keys: "events list",
        list: Some(("events", EVENT)),
    },
    Line {
        path: "/api/sites/{site}/grades",
        keys: "items list, courseGrade object",
        list: Some(("items", "name text, score number?, points number")),
    },
    Line {
        path: "/api/users/me/forums",
        keys: "forums list, sites list",
        list: Some(("sites", "siteId text, title text")),
    },
    Line {
        path: "/api/users/me/dashboard",
        keys: "announcements list, assignments list, events list, grades list",
        list: Some(("announcements", ANNOUNCEMENT)),
    },
    Line {
        path: "/api/sites/{site}/conversations",
        keys: "siteId text, topics list",
        list: Some((
            "topics",
            "id text, title text, siteId text, message text, type text",
        )),
    },
    Line {
        path: "/api/sites/{site}/lessons",
        keys: "lessons list",
        list: Some(("lessons", "id whole, title text, siteId text, url text")),
    },
    Line {
        path: "/api/users/me/notifications",
        keys: "",
        list: Some((
            "",
            "id whole, event text, title text, siteId text, viewed flag",
        )),
    },
    Line {
        path: "/api/sites/{site}/permissions",
        keys: "siteId text, userId text, permissions list",
        list: None,
    },
];

/// The lines that write, with a body that they take; `{site}` stands for a site there as well.
fn writes() -> [(Method, &'static str, Value); 4] {
    let topic = json!({"title": "Which microscope?", "message": "<p>The old one?</p>"});
    [
        (Method::POST, "/api/logout", json!({})),
        (Method::POST, "/api/sites/{site}/conversations", topic),
        (Method::PUT, "/api/users/me/notifications/1", json!({})),
        (
            Method::POST,
            "/api/tasks",
            json!({"description": "Buy paint", "siteId": "{site}"}),
        ),
    ]
}

fn in_site(path: &str, site: &str) -> String {
    path.replace("{site}", site)
}

/// Returns whether the address or the body names a site.
fn names_site((_, path, body): &(Method, &str, Value)) -> bool {
    path.contains("{site}") || body.to_string().contains("{site}")
}

#[track_caller]
fn assert_error(answer: &Answer, status: StatusCode) {
    let body = answer.expect(status).json();
    let error = &body["error"];
    assert_eq!(error["status"], status.as_str(), "{body}");
    assert!(
        error["message"].as_str().is_some_and(|it| !it.is_empty()),
        "{body}"
    );
    assert!(
        error["timestamp"].as_str().is_some_and(is_instant),
        "{body}"
    );
    assert_eq!(answer.header(CONTENT_TYPE), Some(JSON));
}

#[track_caller]
fn assert_line(line: &Line, answer: &Answer) {
    let body = answer.expect(StatusCode::OK).json();
    assert_eq!(answer.header(CONTENT_TYPE), Some(JSON));
    if !line.keys.is_empty() {
        assert_keys(&body, &[line.keys]);
    }
    let Some((name, keys)) = line.list else {
        return;
    };
    let list = if name.is_empty() { &body } else { &body[name] };
    let list = list.as_array().expect("a list");
    assert!(!list.is_empty(), "{}: nothing is compared", line.path);
    for element in list {
        assert_keys(element, &[keys]);
    }
}

async fn write(
    client: &Client,
    (method, path, body): &(Method, &str, Value),
    site: &str,
) -> Answer {
    let body = in_site(&body.to_string(), site).into();
    client
        .send(method.clone(), &in_site(path, site), JSON, body)
        .await
}

async fn log_in(app: &TestApp, media_type: &str, body: String) -> Answer {
    let stranger = app.anonymous();
    stranger
        .send(Method::POST, "/api/login", media_type, body.into())
        .await
}

above_storage! {
    async fn each_endpoint_that_reads_returns_what_is_specified(app: TestApp) {
        let student = app.user("student1").await;
        for line in LINES {
            let answer = student.get(&in_site(line.path, SITE)).await;
            assert_line(line, &answer);
        }
    }

    async fn no_or_an_expired_session_is_401(app: TestApp) {
        let (stranger, expired) = (app.anonymous(), app.user("student1").await);
        // Twice the documented time-out: what the tests before took counts as well.
        app.advance(TimeDelta::seconds(3600));
        for client in [&stranger, &expired] {
            for line in LINES {
                assert_error(&client.get(&in_site(line.path, SITE)).await, StatusCode::UNAUTHORIZED);
            }
            for line in writes() {
                assert_error(&write(client, &line, SITE).await, StatusCode::UNAUTHORIZED);
            }
        }
    }

    async fn a_site_of_others_is_403_and_an_unknown_one_404(app: TestApp) {
        let student = app.user("student1").await;
        for (site, status) in [(FOREIGN, StatusCode::FORBIDDEN), ("nowhere", StatusCode::NOT_FOUND)] {
            for line in LINES.iter().filter(|it| it.path.contains("{site}")) {
                assert_error(&student.get(&in_site(line.path, site)).await, status);
            }
            for line in writes().iter().filter(|it| names_site(it)) {
                assert_error(&write(&student, line, site).await, status);
            }
        }
        for (path, status) in [
            ("/api/users/student2/sites", StatusCode::FORBIDDEN),
            ("/api/users/me/sites?pinned=perhaps", StatusCode::BAD_REQUEST),
            ("/api/users/me/nothing", StatusCode::NOT_FOUND),
        ] {
            assert_error(&student.get(path).await, status);
        }
        let admin = app.user("admin").await;
        assert_error(&admin.get("/api/users/nobody/sites").await, StatusCode::NOT_FOUND);
        let roles = admin.get("/api/user/roles").await.json();
        assert_eq!(roles["isSuperUser"], true);
        assert_eq!(student.get("/api/user/roles").await.json()["isSuperUser"], false);
    }

    async fn a_topic_is_created_with_201(app: TestApp) {
        let student = app.user("student1").await;
        let [_, line, ..] = writes();
        let answer = write(&student, &line, SITE).await;
        let topic = answer.expect(StatusCode::CREATED).json();
        assert_keys(&topic, &["id text, title text, message text, siteId text"]);
        let id = topic["id"].as_str().expect("an id");
        assert!(answer.header("location").is_some_and(|it| it.contains(id)));
        let body = student.get(&in_site(line.1, SITE)).await.json();
        let topics = body["topics"].as_array().expect("a list");
        assert!(topics.iter().any(|it| it["id"] == id && it["title"] == "Which microscope?"));
        for wrong in [
            json!({"message": "<p>No title</p>"}),
            json!({"title": ""}),
            json!({"title": "x".repeat(256)}),
            json!({"title": "x", "type": "RIDDLE"}),
            json!({"title": "x", "visibility": "NOBODY"}),
            json!("a text"),
        ] {
            let refused = student.post(&in_site(line.1, SITE), &wrong).await;
            assert_error(&refused, StatusCode::BAD_REQUEST);
        }
    }

    async fn a_notification_is_marked_as_read(app: TestApp) {
        let list = "/api/users/me/notifications";
        let student = app.user("student1").await;
        let told = student.get(list).await.json();
        let unread = told.as_array().expect("a list").iter().find(|it| it["viewed"] == false);
        let id = unread.expect("one that is new")["id"].clone();
        let one = format!("{list}/{id}");
        let read = student.put(&one, &json!({})).await.expect(StatusCode::OK).json();
        assert_eq!((&read["id"], &read["viewed"]), (&id, &json!(true)));
        let after = student.get(list).await.json();
        let after = after.as_array().expect("a list").iter().find(|it| it["id"] == id).cloned();
        assert_eq!(after.expect("it is still there")["viewed"], true);
        let other = app.user("student2").await;
        assert_error(&other.put(&one, &json!({})).await, StatusCode::NOT_FOUND);
        for unknown in ["0", "no-number"] {
            let answer = student.put(&format!("{list}/{unknown}"), &json!({})).await;
            assert_error(&answer, StatusCode::NOT_FOUND);
        }
    }

    async fn login_and_logout_answer_as_specified(app: TestApp) {
        let (right, wrong) = (PASSWORD, "wrong");
        let form = |name: &str, password: &str| format!("username={name}&password={password}");
        let object = |name: &str, password: &str| json!({"username": name, "password": password}).to_string();
        let answer = log_in(&app, FORM, form("student1", right)).await;
        let result = answer.expect(StatusCode::OK).json();
        assert_keys(&result, &["status text, userId text, sessionId text, displayName text"]);
        assert_eq!(result["status"], "success");
        assert!(answer.header("set-cookie").is_some_and(|it| it.starts_with("JSESSIONID=")));
        let bare = log_in(&app, JSON, object("student1", right)).await;
        assert!(bare.expect(StatusCode::OK).json().is_string());
        assert_error(&log_in(&app, FORM, form("student1", wrong)).await, StatusCode::UNAUTHORIZED);
        log_in(&app, JSON, object("student1", wrong)).await.expect(StatusCode::UNAUTHORIZED);
        for (name, password) in [("", right), ("student1", ""), ("%20", right)] {
            assert_error(&log_in(&app, FORM, form(name, password)).await, StatusCode::BAD_REQUEST);
        }
        for (name, password) in [("", right), ("student1", ""), (" ", right)] {
            let answer = log_in(&app, JSON, object(name, password)).await;
            assert!(answer.expect(StatusCode::BAD_REQUEST).json().is_string());
        }

        let student = app.user("student1").await;
        let [logout, ..] = writes();
        let ended = write(&student, &logout, SITE).await.expect(StatusCode::OK).json();
        assert_keys(&ended, &["status text, message text"]);
        assert_eq!(ended["status"], "success");
        assert_error(&student.get("/api/user/roles").await, StatusCode::UNAUTHORIZED);
    }
}

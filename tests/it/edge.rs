//! Work at the edge, before a unit of work opens, keeps nobody from writing, on a database with one writer too.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use entity_core::engine::{Made, Route, Work};
use entity_core::{Access, Context, Entity, Error, Fields, Need, Provider, Read, Result, Update};
use futures::future::{BoxFuture, ready};
use http::{Method, StatusCode};
use serde::Serialize;
use serde_json::{Value, json};
use tests::app::PASSWORD;
use tests::{Answer, Backend, Client, OnBackend, TestApp, both};

use crate::direct::news;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// More than anything here takes, unless it waits for what never comes.
const LONG: Duration = Duration::from_mins(1);
const BATCH: &str = "/direct/batch.json";

/// Something with a word that takes as long as the test wants.
#[derive(Clone, Debug, Serialize, Entity)]
struct Waiter {
    #[entity(id)]
    id: String,
    #[entity(writable)]
    word: String,
}

/// The rendezvous of the work on a word and its test.
struct Meeting {
    begun: Semaphore,
    may_end: Semaphore,
}

static MEETINGS: LazyLock<Mutex<HashMap<String, Arc<Meeting>>>> = LazyLock::new(Mutex::default);

impl Meeting {
    fn about(word: &str) -> Arc<Self> {
        let mut meetings = MEETINGS.lock().expect("no test failed within");
        let meeting = meetings.entry(word.to_owned()).or_insert_with(|| {
            Arc::new(Self {
                begun: Semaphore::new(0),
                may_end: Semaphore::new(0),
            })
        });
        Arc::clone(meeting)
    }
}

#[derive(Debug)]
struct Waiters;

impl Provider for Waiters {
    type Entity = Waiter;
    const PREFIX: &'static str = "waiter";
    const ACCESS: Access = Access::new(Need::Session, Need::Superuser);
}

impl Read for Waiters {
    async fn read(_cx: &Context, id: &str) -> Result<Option<Waiter>> {
        Ok(Some(Waiter {
            id: id.to_owned(),
            word: String::new(),
        }))
    }
}

impl Update for Waiters {
    type Changes = Fields;

    async fn update(cx: &Context, current: Waiter, _changes: Fields) -> Result<Waiter> {
        let made = cx.made::<String>();
        let word = made.ok_or_else(|| Error::field("word", "is required"))?;
        let word = (*word).clone();
        Ok(Waiter { word, ..current })
    }
}

fn edge<'a>(
    _cx: &'a Context,
    _id: &'a str,
    sent: &'a Fields,
) -> BoxFuture<'a, Result<Option<Work>>> {
    let word = sent.text("word").map(ToOwned::to_owned);
    Box::pin(ready(Ok(word.map(|word| {
        let later: Work = Box::pin(async move {
            let meeting = Meeting::about(&word);
            meeting.begun.add_permits(1);
            let may_end = meeting.may_end.acquire().await;
            may_end.map_err(Error::internal)?.forget();
            let made: Made = Arc::new(word.to_uppercase());
            Ok(made)
        });
        later
    }))))
}

/// The service with waiters.
struct WithWaiters(TestApp);

impl OnBackend for WithWaiters {
    async fn on_backend(backend: Backend) -> Option<Self> {
        let waiters = Route::of::<Waiters>(("tests", "0.0.0"))
            .read()
            .update()
            .edge(edge)
            .build();
        TestApp::with_type(backend, waiters).await.map(Self)
    }
}

impl WithWaiters {
    /// A word of this test alone.
    fn word(&self, word: &str) -> String {
        format!("{word} on {:?}", self.0.database().backend())
    }
}

fn set(word: &str) -> Value {
    json!({"method": "PUT", "path": "waiter/1", "body": {"word": word}, "headers": {"Prefer": "return=representation"}})
}

#[track_caller]
fn assert_word(answer: &Answer, index: usize, word: &str) {
    answer.expect(StatusCode::OK);
    assert_eq!(
        answer.json()["results"][index]["data"]["word"],
        word.to_uppercase()
    );
}

/// Some 4 KB of HTML for an entity of `prefix`, as it is stored.
fn stored(prefix: &str) -> String {
    let link = format!("/direct/{prefix}/y.html");
    format!("<p>one <a href=\"{link}\" rel=\"noopener noreferrer nofollow\">two</a></p>\n")
        .repeat(40)
}

/// The same as it is sent.
fn long() -> String {
    "<p onclick=x>one <a href=\"y.html\">two</a></p>\n".repeat(60)
}

#[track_caller]
fn assert_long(html: &Value, prefix: &str) {
    let html = html.as_str().expect("text");
    assert!(html.starts_with(&stored(prefix)), "{html}");
}

/// Sends `body` to `path` and returns the answer.
async fn send(client: &Client, method: Method, path: &str, body: Value) -> Value {
    let body = body.to_string().into();
    let answer = client.send(method, path, "application/json", body).await;
    assert!(answer.status.is_success(), "{path}: {}", answer.text());
    serde_json::from_str(answer.text()).unwrap_or_default()
}

both! {
    async fn others_write_while_there_is_work_for_a_batch(app: WithWaiters) {
        let (admin, teacher) = (app.0.user("admin").await, app.0.user("instructor1").await);
        for is_atomic in [true, false] {
            let word = app.word(&format!("batch {is_atomic}"));
            let meeting = Meeting::about(&word);
            let first = json!({"id": "made", "method": "POST", "path": "announcement", "body": news("First")});
            let mut second = set(&word);
            second["path"] = json!("waiter/$made.entityId");
            let body = json!({"atomic": is_atomic, "operations": [first, second]});
            let waiting = tokio::spawn({
                let admin = admin.clone();
                async move { admin.post(BATCH, &body).await }
            });
            let begun = timeout(LONG, meeting.begun.acquire()).await;
            begun.expect("it begins").expect("it stays open").forget();
            let other = timeout(LONG, teacher.post("/direct/announcement", &news("Other"))).await;
            other.expect("nothing keeps it waiting").expect(StatusCode::CREATED);
            assert!(!waiting.is_finished());
            meeting.may_end.add_permits(1);
            assert_word(&waiting.await.expect("an answer"), 1, &word);
            assert_eq!(meeting.begun.available_permits(), 0, "once");
        }
    }

    async fn long_html_comes_in_by_actions_and_endpoints(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let text = long();
        let task = json!({"description": "Read", "notes": text});
        let task = send(&student, Method::POST, "/api/tasks", task).await;
        assert_long(&task["notes"], "task");
        let site = "/api/sites/biology-101";
        let topic = json!({"title": "Leaves", "message": text});
        let topic = send(&teacher, Method::POST, &format!("{site}/topics"), topic).await;
        assert_long(&topic["message"], "conversations");
        let path = topic["url"].as_str().expect("a path");
        let post = send(&student, Method::POST, &format!("{path}/posts"), json!({"message": text})).await;
        assert_long(&post["message"], "conversations-post");
        let path = format!("{path}/posts/{}", post["id"].as_str().expect("an id"));
        let post = send(&student, Method::PUT, &path, json!({"message": format!("{text}<p>more</p>")})).await;
        assert_long(&post["message"], "conversations-post");
        let comment = send(&teacher, Method::POST, &format!("{path}/comments"), json!({"message": text})).await;
        assert_long(&comment["message"], "conversations-comment");
        send(&teacher, Method::POST, &format!("{site}/conversations/settings/guidelines"), json!(text)).await;

        let assignment = json!({
            "context": "biology-101", "title": "Zebra fish", "openTime": "2026-11-20T10:00:00Z",
            "dueTime": "2026-12-01T10:00:00Z", "closeTime": "2026-12-02T10:00:00Z",
        });
        let made = teacher.post("/direct/assignment", &assignment).await;
        let id = made.expect(StatusCode::CREATED).header("EntityId").expect("an id").to_owned();
        let path = format!("/direct/assignment/{id}");
        let work = send(&student, Method::POST, &format!("{path}/submit.json"), json!({"submittedText": text})).await;
        assert_long(&work["submissions"][0]["submittedText"], "assignment-submission");

        let lines = "a <b>line</b> & more\\n".repeat(200);
        let file = format!(
            "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:talk\r\nDTSTART:20261201T100000Z\r\nSUMMARY:Zebra\r\n\
             DESCRIPTION:{lines}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
        );
        send(&teacher, Method::POST, "/direct/calendar/import/biology-101.json", json!({"ics": file})).await;
        let list = teacher.get("/direct/calendar/site/biology-101.json?_limit=200").await.json();
        let all = list["calendar_collection"].as_array().expect("a list");
        let talk = all.iter().find(|it| it["title"] == "Zebra").expect("the talk");
        let line = "a &lt;b&gt;line&lt;/b&gt; &amp; more<br>";
        assert!(talk["description"].as_str().is_some_and(|it| it.contains(&line.repeat(99))), "{talk}");
    }

    async fn passwords_are_set_in_batches_and_not_copied(app: TestApp) {
        let (admin, student) = (app.user("admin").await, app.user("student1").await);
        let account = json!({"eid": "new1", "firstName": "long-enough", "password": "correct horse"});
        let made = json!({"id": "made", "method": "POST", "path": "user", "body": account});
        let other = json!({"method": "PUT", "path": "user/$made.entityId", "body": {"password": "battery staple"}});
        let body = json!({"atomic": true, "operations": [made, other]});
        admin.post(BATCH, &body).await.expect(StatusCode::OK);
        let other = app.anonymous().log_in("new1", "battery staple").await;
        other.get("/direct/site.json").await.expect(StatusCode::OK);
        let copy = json!([{"op": "copy", "from": "/firstName", "path": "/password"}]);
        let copy = admin.send(Method::PATCH, "/direct/user/new1", "application/json-patch+json", copy.to_string().into()).await;
        assert_eq!(copy.expect(StatusCode::BAD_REQUEST).json()["error"]["fields"][0]["name"], "password");
        let own = json!({"firstName": "Changed"});
        let own = json!({"method": "PUT", "path": "user/student1", "body": own});
        for (current, status) in [("wrong", StatusCode::BAD_REQUEST), (PASSWORD, StatusCode::OK)] {
            let change = json!({"password": "battery staple", "currentPassword": current});
            let change = json!({"method": "PUT", "path": "user/student1", "body": change});
            let body = json!({"atomic": true, "operations": [own, change]});
            student.post(BATCH, &body).await.expect(status);
            let name = student.get("/direct/user/student1.json").await.json()["firstName"].clone();
            assert_eq!(name == "Changed", status == StatusCode::OK);
        }
        let again = app.anonymous().log_in("student1", "battery staple").await;
        again.get("/direct/site.json").await.expect(StatusCode::OK);
    }
}

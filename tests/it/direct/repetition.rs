//! Writes that change nothing: they succeed, and nothing is newer for it.

use bytes::Bytes;
use chrono::TimeDelta;
use entity_core::engine::Route;
use entity_core::{DateTimeUtc, Entity};
use http::header::{ETAG, LAST_MODIFIED};
use http::{Method, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tests::rows::{audited, databases, texts};
use tests::{Answer, Backend, Client, OnBackend, TestApp, both};

use super::{JSON, XML, created, id_of, text};

/// Something to be done.
#[derive(Clone, Debug, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "chore", table = "chore", access = Site("chore"), verbs(read, create, update))]
struct Chore {
    #[entity(id)]
    id: String,
    #[entity(site)]
    site_id: String,
    #[entity(title, required)]
    title: String,
    weight: f64,
    hint: Option<String>,
    is_done: bool,
    due: Option<DateTimeUtc>,
    #[entity(updated)]
    modified: DateTimeUtc,
    #[entity(version)]
    version: i64,
}

/// The service with a type of which the derive writes everything.
struct WithChores(TestApp);

impl OnBackend for WithChores {
    async fn on_backend(backend: Backend) -> Option<Self> {
        let chores = Route::of::<Chore>(("tests", "0.0.0"))
            .read()
            .create()
            .update()
            .table()
            .build();
        TestApp::with_type(backend, chores).await.map(Self)
    }
}

/// Returns the validators and the body, which tell that something is newer.
fn marks(answer: &Answer) -> (Option<&str>, Option<&str>, &Bytes) {
    answer.expect(StatusCode::OK);
    (
        answer.header(ETAG),
        answer.header(LAST_MODIFIED),
        &answer.body,
    )
}

/// Asserts that nothing is newer at `path` after each of the writes that say what is there, and something after one
/// that gives `field` another text.
async fn assert_unmoved(app: &TestApp, client: &Client, path: &str, field: &str) {
    app.advance(TimeDelta::minutes(1));
    let before = client.get(path).await;
    let shown = before.json();
    let xml = client.get(&format!("{path}.xml")).await.body;
    let same = json!({field: shown[field]}).to_string();
    let tests =
        json!([{"op": "test", "path": format!("/{field}"), "value": shown[field]}]).to_string();
    for (method, media_type, body) in [
        (Method::PUT, JSON, Bytes::from("{}")),
        (Method::PUT, JSON, shown.to_string().into()),
        (Method::POST, JSON, shown.to_string().into()),
        (Method::PUT, JSON, same.clone().into()),
        (Method::PUT, XML, xml),
        (Method::PATCH, JSON, Bytes::from("{}")),
        (Method::PATCH, JSON, same.into()),
        (Method::PATCH, "application/json-patch+json", tests.into()),
    ] {
        app.advance(TimeDelta::minutes(1));
        let answer = client
            .send(method.clone(), path, media_type, body.clone())
            .await;
        answer.expect(StatusCode::NO_CONTENT);
        assert_eq!(answer.header(ETAG), before.header(ETAG));
        let after = client.get(path).await;
        assert_eq!(marks(&after), marks(&before), "{method} {path} {body:?}");
    }
    app.advance(TimeDelta::minutes(1));
    client
        .put(path, &json!({field: "Another"}))
        .await
        .expect(StatusCode::NO_CONTENT);
    let after = client.get(path).await;
    assert_ne!(marks(&after).0, marks(&before).0, "{path}");
}

both! {
    async fn an_announcement_that_is_sent_back_is_not_newer(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let fields = json!({
            "siteId": "biology-101",
            "title": "News",
            "body": "<p>Text &amp; more</p>",
            "releaseDate": app.service().now().timestamp_millis(),
            "attachments": [{"name": "a.pdf", "url": "https://example.edu/a.pdf", "type": "application/pdf", "size": 12}],
        });
        let id = created(&teacher.post("/direct/announcement", &fields).await, "announcement");
        assert_unmoved(&app, &teacher, &format!("/direct/announcement/{id}"), "title").await;
    }

    async fn a_site_and_a_user_that_are_sent_back_are_not_newer(app: TestApp) {
        let admin = app.user("admin").await;
        assert_unmoved(&app, &admin, "/direct/site/biology-101", "title").await;
        let student = id_of(&app.user("student1").await).await;
        assert_unmoved(&app, &admin, &format!("/direct/user/{student}"), "firstName").await;
    }

    async fn an_entity_of_a_derived_type_that_is_sent_back_is_not_newer(app: WithChores) {
        let WithChores(app) = app;
        let admin = app.user("admin").await;
        let fields = json!({"siteId": "biology-101", "title": "Sweep", "weight": 2, "due": "2026-12-07T09:00:00Z"});
        let id = created(&admin.post("/direct/chore", &fields).await, "chore");
        assert_unmoved(&app, &admin, &format!("/direct/chore/{id}"), "title").await;
    }

    async fn what_changes_nothing_is_told_to_nobody_but_the_audit_log(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let news = json!({"siteId": "biology-101", "title": "News"});
        let id = created(&teacher.post("/direct/announcement", &news).await, "announcement");
        let path = format!("/direct/announcement/{id}");
        let feed = "/direct/announcement/site/biology-101.atom";
        let before = teacher.get(feed).await;
        app.advance(TimeDelta::minutes(1));
        let answer = teacher.put(&path, &news).await;
        answer.expect(StatusCode::NO_CONTENT);
        assert_eq!(teacher.get(feed).await.body, before.body);
        let request = answer.header("x-request-id").expect("the request's id");
        assert_eq!(audited(&app, request).await, [format!("PUT {path} 204")]);
        let content = databases(&app).await.remove(0);
        let told = format!("SELECT kind AS line FROM outbox WHERE reference = '/announcement/{id}'");
        assert_eq!(texts(&content, &told).await, ["annc.new"]);
        assert_eq!(text(&teacher.get(&path).await.json(), "title"), "News");
    }
}

//! Endpoints that write: all of it or nothing, within the quotas, and told to the followers and to the audit log.

use entity_core::endpoint::{Call, Endpoint};
use entity_core::schemars::{self, JsonSchema};
use entity_core::{Context, Error, Input, Preconditions, Result, gate};
use entity_providers::courses::announcement::Announcement;
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use tests::{Answer, Backend, Client, Database, OnBackend, TestApp, above_storage};

use tests::rows::{audited, databases, texts};

const PATH: &str = "/api/sites/biology-101/news";

const ADDED: &[Endpoint] = &[
    Endpoint::post("/api/sites/{siteId}/news", "tellNews")
        .doc("Tells several announcements.")
        .variable("siteId", "The site.")
        .takes::<Told>()
        .answers::<Vec<String>>(&tell),
    Endpoint::delete("/api/sites/{siteId}/news/{id}", "endNews")
        .doc("Deletes an announcement.")
        .variable("siteId", "The site.")
        .variable("id", "The announcement.")
        .answers::<()>(&end),
];

/// The data of an answer.
#[derive(Deserialize, JsonSchema)]
struct Told {
    /// The headlines.
    titles: Vec<String>,
    /// True if it fails at the end.
    #[serde(default)]
    fails: bool,
}

async fn tell(cx: &Context, call: Call) -> Result<Vec<String>> {
    let Told { titles, fails } = call.body()?;
    let mut ids = Vec::new();
    for title in titles {
        let fields = [("siteId", call.variable("siteId")?), ("title", &title)];
        let made = gate::create::<Announcement>(cx, &Input::from_iter(fields)).await?;
        ids.push(made.id);
    }
    match fails {
        true => Err(Error::bad_request("all of it is wrong")),
        false => Ok(ids),
    }
}

async fn end(cx: &Context, call: Call) -> Result<()> {
    let id = call.variable("id")?;
    gate::delete::<Announcement>(cx, id, &Preconditions::default()).await?;
    Ok(())
}

/// The service with these endpoints.
struct Extended(TestApp);

impl OnBackend for Extended {
    async fn on_backend(backend: Backend) -> Option<Self> {
        TestApp::with_endpoints(backend, ADDED, &[]).await.map(Self)
    }
}

/// The same, where no site may have anything more.
struct Full(TestApp);

impl OnBackend for Full {
    async fn on_backend(backend: Backend) -> Option<Self> {
        let settings = [("quota.siteEntities", "1")];
        let app = TestApp::with_endpoints(backend, ADDED, &settings).await;
        app.map(Self)
    }
}

fn told(titles: &[&str]) -> Value {
    json!({"titles": titles})
}

async fn count(client: &Client) -> usize {
    let list = client
        .get("/direct/announcement/site/biology-101.json")
        .await;
    let list = list.expect(StatusCode::OK).json();
    list["announcement_collection"]
        .as_array()
        .map_or(0, Vec::len)
}

/// Returns the number of events there were so far.
async fn events(app: &TestApp) -> usize {
    let sql = "SELECT kind AS line FROM outbox WHERE kind LIKE 'annc.%'";
    texts(&databases(app).await[0], sql).await.len()
}

async fn assert_audited(app: &TestApp, answer: &Answer, expected: &str) {
    let id = answer.header("x-request-id").expect("an id");
    assert_eq!(audited(app, id).await, [expected]);
}

above_storage! {
    async fn what_an_endpoint_writes_is_written_as_a_whole(app: Extended) {
        let app = &app.0;
        let teacher = app.user("instructor1").await;
        let (before, events_before) = (count(&teacher).await, events(app).await);
        let made = teacher.post(PATH, &told(&["One", "Two"])).await;
        let ids = made.expect(StatusCode::OK).json();
        assert_audited(app, &made, &format!("POST {PATH} 200")).await;
        assert_eq!(count(&teacher).await, before + 2);
        assert_eq!(events(app).await, events_before + 2);
        let id = ids[1].as_str().expect("an id");
        let one = teacher.get(&format!("/direct/announcement/{id}.json")).await;
        assert_eq!(one.expect(StatusCode::OK).json()["title"], "Two");

        for wrong in [
            json!({"titles": ["Three"], "fails": true}),
            told(&["Three", ""]),
            json!({"titles": "Three"}),
            json!({}),
        ] {
            let refused = teacher.post(PATH, &wrong).await;
            refused.expect(StatusCode::BAD_REQUEST);
            assert_audited(app, &refused, &format!("POST {PATH} 400")).await;
        }
        assert_eq!(count(&teacher).await, before + 2);
        assert_eq!(events(app).await, events_before + 2);

        let deleted = teacher.delete(&format!("{PATH}/{id}")).await;
        assert_eq!(deleted.expect(StatusCode::OK).text(), "null");
        assert_eq!(count(&teacher).await, before + 1);
    }

    async fn an_endpoint_writes_what_its_caller_may_write(app: Extended) {
        let app = &app.0;
        let refused = app.user("student1").await.post(PATH, &told(&["One"])).await;
        refused.expect(StatusCode::FORBIDDEN);
        assert_audited(app, &refused, &format!("POST {PATH} 403")).await;
        app.anonymous().post(PATH, &told(&["One"])).await.expect(StatusCode::UNAUTHORIZED);
        let teacher = app.user("instructor1").await;
        let nowhere = teacher.post("/api/sites/nowhere/news", &told(&["One"])).await;
        nowhere.expect(StatusCode::NOT_FOUND);
        let form = teacher.post_form(PATH, "titles=One").await;
        form.expect(StatusCode::UNSUPPORTED_MEDIA_TYPE);
        let read = teacher.get(PATH).await;
        read.expect(StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(read.header("allow"), Some("POST, OPTIONS"));
    }

    async fn an_endpoint_writes_no_more_than_there_may_be(app: Full) {
        let teacher = app.0.user("instructor1").await;
        let before = count(&teacher).await;
        let refused = teacher.post(PATH, &told(&["One"])).await;
        refused.expect(StatusCode::FORBIDDEN);
        assert!(refused.text().contains("quota.siteEntities"), "{}", refused.text());
        assert_eq!(count(&teacher).await, before);
    }
}

const TAKEN: &[Endpoint] = &[Endpoint::get("/api/news", "listAnnouncement").answers::<()>(&end)];

#[tokio::test]
async fn an_operation_id_of_a_type_is_taken() {
    let database = Database::on_backend(Backend::Sqlite).await.expect("a file");
    let told = tests::endpoints::refusal(&database, TAKEN).await;
    let expected = "the operation id `listAnnouncement` is claimed by the crates `entity-providers` and `tests`";
    assert!(told.contains(expected), "{told}");
}

//! One request kept the only right to write for as long as it liked. It is ended and rolled back when its time is over.

use std::future::pending;
use std::time::Duration;

use entity_core::{Access, Context, Create, Entity, Fields, Need, Provider, Read, Result, Route};
use http::StatusCode;
use http::header::RETRY_AFTER;
use serde::Serialize;
use serde_json::{Value, json};
use tests::{Answer, Backend, Client, OnBackend, TestApp, both};

const BATCH: &str = "/direct/batch.json";
/// How long a request may hold the right to write here.
const HOLD: &str = "200ms";

/// Something that takes its time to be made.
#[derive(Clone, Debug, Serialize, Entity)]
struct Sleeper {
    #[entity(id)]
    id: String,
    /// `waits` for ever, or `blocks` its thread for longer than a request may write.
    #[entity(writable)]
    manner: String,
}

#[derive(Debug)]
struct Sleepers;

impl Provider for Sleepers {
    type Entity = Sleeper;
    const PREFIX: &'static str = "sleeper";
    const ACCESS: Access = Access::new(Need::Session, Need::Session);
}

impl Read for Sleepers {
    async fn read(_cx: &Context, _id: &str) -> Result<Option<Sleeper>> {
        Ok(None)
    }
}

impl Create for Sleepers {
    type Draft = Fields;

    fn site(_draft: &Fields) -> Option<&str> {
        None
    }

    async fn create(cx: &Context, draft: Fields) -> Result<Sleeper> {
        let manner = draft
            .0
            .get("manner")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if manner == "waits" {
            pending::<()>().await;
        }
        std::thread::sleep(Duration::from_millis(400));
        Ok(Sleeper {
            id: cx.new_id(),
            manner: manner.to_owned(),
        })
    }
}

/// A service in which requests have little time to write.
struct Hasty(TestApp);

impl OnBackend for Hasty {
    async fn on_backend(backend: Backend) -> Option<Self> {
        let route = Route::of::<Sleepers>(("tests", "0"))
            .read()
            .create()
            .build();
        let app = TestApp::with_type_and_settings(backend, route, &[("limits.writeHold", HOLD)]);
        app.await.map(Self)
    }
}

fn news(title: &str) -> Value {
    json!({"method": "POST", "path": "announcement", "body": {"siteId": "biology-101", "title": title}})
}

fn sleeper(manner: &str) -> Value {
    json!({"method": "POST", "path": "sleeper", "body": {"manner": manner}})
}

fn expect_overstayed(answer: &Answer) {
    answer.expect(StatusCode::SERVICE_UNAVAILABLE);
    assert!(
        answer
            .text()
            .contains("held the right to write for too long and was rolled back"),
        "{}",
        answer.text()
    );
    assert_eq!(answer.header(RETRY_AFTER), None);
}

/// Others can write, and find nothing of what was rolled back.
async fn expect_free(client: &Client) {
    let written = client
        .post("/direct/announcement.json", &news("After")["body"])
        .await;
    written.expect(StatusCode::CREATED);
    let all = client
        .get("/direct/announcement/site/biology-101.json")
        .await;
    assert!(!all.text().contains("Before"), "{}", all.text());
}

both! {
    async fn a_request_that_waits_is_ended_and_rolled_back(app: Hasty) {
        let teacher = app.0.user("instructor1").await;
        expect_overstayed(&teacher.post("/direct/sleeper.json", &sleeper("waits")["body"]).await);
        expect_free(&teacher).await;
        for manner in ["waits", "blocks"] {
            let batch = json!({"atomic": true, "operations": [news("Before"), sleeper(manner), news("Before")]});
            expect_overstayed(&teacher.post(BATCH, &batch).await);
            expect_free(&teacher).await;
        }
    }

    async fn a_client_that_has_gone_changes_nothing(app: Hasty) {
        let teacher = app.0.user("instructor1").await;
        let gone = tokio::spawn({
            let teacher = teacher.clone();
            let batch = json!({"atomic": true, "operations": [news("Before"), sleeper("waits")]});
            async move { teacher.post(BATCH, &batch).await }
        });
        tokio::time::sleep(Duration::from_millis(50)).await;
        gone.abort();
        expect_free(&teacher).await;
    }

    async fn a_dry_run_holds_it_no_longer(app: Hasty) {
        let teacher = app.0.user("instructor1").await.with_header(http::HeaderName::from_static("prefer"), "tx=rollback");
        let batch = json!({"atomic": true, "operations": [news("Before"), sleeper("waits")]});
        expect_overstayed(&teacher.post(BATCH, &batch).await);
        expect_overstayed(&teacher.post("/direct/sleeper.json", &sleeper("waits")["body"]).await);
        expect_free(&app.0.user("instructor1").await).await;
    }
}

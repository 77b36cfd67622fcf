//! One request kept the only right to write for as long as it liked. It is ended and rolled back when its time is over.

use std::future::pending;
use std::time::{Duration, Instant};

use entity_core::engine::Route;
use entity_core::{Access, Context, Create, Entity, Fields, Need, Provider, Read, Result};
use http::StatusCode;
use http::header::RETRY_AFTER;
use load::{Answer, Backend, Client, OnBackend, TestApp, both};
use sea_orm::{ConnectionTrait as _, Database as Connection, DbBackend, Statement};
use serde::Serialize;
use serde_json::{Value, json};

const BATCH: &str = "/direct/batch.json";
/// The time for which a request may hold the right to write here.
const HOLD: &str = "500ms";
/// Longer than anything here takes on a busy machine, and much shorter than [`ENDLESS`] counts.
const LONG: Duration = Duration::from_secs(20);
/// The table `counted` and how often its rows can be put together: what takes hours to find out.
const ENDLESS: (&str, &str) = (
    "WITH RECURSIVE counted (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM counted WHERE number < 30000)",
    "SELECT count(*) FROM counted AS a, counted AS b, counted AS c",
);

/// Something that takes its time to be made.
#[derive(Clone, Debug, Serialize, Entity)]
struct Sleeper {
    #[entity(id)]
    id: String,
    /// `waits` for ever, `blocks` its thread for longer than a request may write, or has the database work for hours
    /// at a single statement that `counts` or `changes`.
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
        let (table, endless) = ENDLESS;
        match manner {
            "waits" => pending::<()>().await,
            "counts" => {
                let db = cx.db()?;
                let statement =
                    Statement::from_string(db.get_database_backend(), format!("{table} {endless}"));
                db.query_all_raw(statement).await?;
            }
            "changes" => {
                let change = format!(
                    "{table} UPDATE announcement SET title = 'Before' WHERE ({endless}) > 0"
                );
                cx.db()?.execute_unprepared(&change).await?;
            }
            _ => std::thread::sleep(Duration::from_secs(1)),
        }
        Ok(Sleeper {
            id: cx.new_id(),
            manner: manner.to_owned(),
        })
    }
}

/// A service in which requests have little time to write.
pub(super) struct Hasty(pub(super) TestApp);

impl OnBackend for Hasty {
    async fn on_backend(backend: Backend) -> Option<Self> {
        let route = Route::of::<Sleepers>(("tests", "0"))
            .read()
            .create()
            .build();
        let settings = [("limits.writeHold", HOLD), ("pool.writers", "2")];
        let app = TestApp::with_type_and_settings(backend, route, &settings);
        app.await.map(Self)
    }
}

pub(super) fn news(title: &str) -> Value {
    json!({"method": "POST", "path": "announcement", "body": {"siteId": "biology-101", "title": title}})
}

pub(super) fn sleeper(manner: &str) -> Value {
    json!({"method": "POST", "path": "sleeper", "body": {"manner": manner}})
}

pub(super) fn expect_overstayed(answer: &Answer) {
    answer.expect(StatusCode::SERVICE_UNAVAILABLE);
    // Words for a request by itself and for a batch.
    for told in [
        "held the right to write for too long and was rolled back",
        "write less at a time, in a batch by fewer operations",
    ] {
        assert!(answer.text().contains(told), "{}", answer.text());
    }
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

/// Waits until the server works on nothing [`ENDLESS`] any more.
async fn is_quiet(app: &TestApp) {
    let connection = Connection::connect(app.database().url()).await;
    let connection = connection.expect("it connects");
    if connection.get_database_backend() != DbBackend::Postgres {
        return;
    }
    let sql = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' \
        AND query LIKE '%counted%' AND pid <> pg_backend_pid()";
    let begin = Instant::now();
    loop {
        let statement = Statement::from_string(DbBackend::Postgres, sql);
        let running = connection
            .query_all_raw(statement)
            .await
            .expect("an answer");
        if running.is_empty() {
            return;
        }
        assert!(
            begin.elapsed() < LONG / 2,
            "{} statements still run",
            running.len()
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

both! {
    async fn a_statement_in_the_middle_is_stopped_and_rolled_back(app: Hasty) {
        let app = app.0;
        let teacher = app.user("instructor1").await;
        let made = teacher.post("/direct/announcement.json", &news("Mine")["body"]).await;
        let path = format!("announcement/{}", made.header("entityid").expect("an id"));
        // More often than there are connections that write.
        for manner in ["counts", "changes", "counts", "changes", "counts"] {
            let begin = Instant::now();
            let change = json!({"method": "PUT", "path": &path, "body": {"title": "Before"}});
            let batch = json!({"atomic": true, "operations": [change, sleeper(manner)]});
            expect_overstayed(&teacher.post(BATCH, &batch).await);
            // The same row: others wait for it no longer than the request had it.
            let changed = teacher.put(&format!("/direct/{path}.json"), &json!({"title": "Mine"})).await;
            changed.expect(StatusCode::NO_CONTENT);
            expect_free(&teacher).await;
            let taken = begin.elapsed();
            assert!(taken < LONG, "{manner}: {taken:?}");
            is_quiet(&app).await;
        }
    }

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

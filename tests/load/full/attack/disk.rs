//! Filling the disk: the rows that strangers and accounts can make the service store are bounded, and expired ones go.

use chrono::TimeDelta;
use http::{HeaderName, StatusCode};
use load::{Backend, OnBackend, TestApp, both};
use sea_orm::{ConnectionTrait, DatabaseConnection, Statement};
use serde_json::json;

use load::rows::databases;

const REQUESTS: i64 = 1_000;
const KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The number that `sql` answers.
async fn number(connection: &DatabaseConnection, sql: &str) -> i64 {
    let statement = Statement::from_string(connection.get_database_backend(), sql);
    let row = connection.query_one_raw(statement).await.expect("a row");
    let number = row.expect("a row").try_get_by_index(0);
    number.unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// The sum of `expression` over the audit log.
async fn sum(app: &TestApp, expression: &str) -> i64 {
    app.service().audit.flush().await;
    let sql = format!("SELECT CAST(COALESCE(SUM({expression}), 0) AS BIGINT) FROM audit");
    let mut sum = 0;
    for connection in databases(app).await {
        sum += number(&connection, &sql).await;
    }
    sum
}

/// A service that keeps little.
struct Frugal(TestApp);

impl OnBackend for Frugal {
    async fn on_backend(backend: Backend) -> Option<Self> {
        let settings = [
            ("retention.audit", "1h"),
            ("retention.auditRows", "50"),
            ("retention.outbox", "2h"),
            ("retention.idempotencyKeys", "3"),
            ("retention.idempotencyBytes", "2KiB"),
        ];
        TestApp::with_settings(backend, &settings).await.map(Self)
    }
}

both! {
    async fn log_3_strangers_cant_fill_the_audit_log_and_are_all_counted(app: TestApp) {
        let stranger = app.anonymous();
        let before = sum(&app, "times").await;
        let bytes = sum(&app, "LENGTH(path)").await;
        for number in 0..REQUESTS {
            let path = format!("/direct/site/{}{number}", "x".repeat(3_000));
            stranger.get(&path).await;
        }
        assert_eq!(sum(&app, "times").await - before, REQUESTS);
        let bytes = sum(&app, "LENGTH(path)").await - bytes;
        assert!(bytes < 64 * 1024, "{bytes} bytes of paths");
    }

    async fn logs_are_cut_to_their_rows_and_their_age(app: Frugal) {
        let app = app.0;
        let reader = app.user("student1").await;
        for _ in 0..200 {
            reader.get("/direct/site/biology-101.json").await.expect(StatusCode::OK);
        }
        app.service().audit.flush().await;
        app.service().sweep().await.expect("it can be written");
        let left = sum(&app, "1").await;
        assert!((50..=100).contains(&left), "{left} rows");
        app.advance(TimeDelta::minutes(61));
        app.service().sweep().await.expect("it can be written");
        assert_eq!(sum(&app, "1").await, 0);
        let content = &databases(&app).await[0];
        let events = "SELECT COUNT(*) FROM outbox";
        assert!(number(content, events).await > 0, "younger than two hours");
        app.advance(TimeDelta::minutes(61));
        app.service().sweep().await.expect("it can be written");
        assert_eq!(number(content, events).await, 0);
    }

    async fn results_of_requests_with_keys_are_few_and_short(app: Frugal) {
        let app = app.0;
        let teacher = app.user("instructor1").await;
        let with_key = |key: usize| teacher.clone().with_header(KEY, &format!("key {key}"));
        let post = async |key: usize, body: String| {
            let body = json!({"siteId": "biology-101", "title": "x", "body": body});
            let client = with_key(key).with_header(HeaderName::from_static("prefer"), "return=representation");
            let answer = client.post("/direct/announcement.json", &body).await;
            app.advance(TimeDelta::milliseconds(2));
            answer.expect(StatusCode::CREATED).clone()
        };
        let long = post(0, "<p>word</p>".repeat(8_000)).await;
        assert!(long.body.len() > 64 * 1024);
        let again = post(0, "<p>word</p>".repeat(8_000)).await;
        assert_eq!(again.header("EntityId"), long.header("EntityId"));
        assert_eq!((again.header("idempotency-replayed"), again.body.len()), (Some("true"), 0));
        for key in 1..10 {
            post(key, String::new()).await;
        }
        let content = &databases(&app).await[0];
        assert_eq!(number(content, "SELECT COUNT(*) FROM idempotency_key").await, 3);
        let bytes = "SELECT CAST(SUM(bytes) AS BIGINT) FROM idempotency_key";
        assert!(number(content, bytes).await > 2048);
        app.service().sweep().await.expect("it can be written");
        assert!((1..=2048).contains(&number(content, bytes).await));
        let newest = post(9, String::new()).await;
        assert_eq!(newest.header("idempotency-replayed"), Some("true"));
    }
}

#[tokio::test]
async fn a_file_of_sqlite_shrinks_when_rows_go() {
    let app = TestApp::on_backend(Backend::Sqlite).await.expect("a file");
    let content = &databases(&app).await[0];
    // Rows go in the order in which they came in.
    let filled = content.execute_unprepared(
        "DELETE FROM outbox;
         WITH RECURSIVE number(it) AS (SELECT 1 UNION ALL SELECT it + 1 FROM number WHERE it < 5000)
         INSERT INTO outbox (kind, reference, time) SELECT 'x', printf('%2000d', it), 0 FROM number",
    );
    filled.await.expect("room");
    let size = "SELECT page_count FROM pragma_page_count";
    let full = number(content, size).await;
    app.service().sweep().await.expect("it can be written");
    assert_eq!(
        number(content, "SELECT COUNT(*) FROM outbox WHERE kind = 'x'").await,
        0
    );
    let left = number(content, size).await;
    assert!(left * 2 < full, "{left} of {full} pages are left");
}

//! Another program that holds the lock of the SQLite file, and a journal that grew.

use std::time::{Duration, Instant};

use entity_providers::storage::db::shrink_journal;
use http::StatusCode;
use http::header::RETRY_AFTER;
use load::app::{HURRIED, PASSWORD};
use load::{Backend, OnBackend, TestApp, database};
use sea_orm::sqlx::sqlite::SqliteConnection;
use sea_orm::sqlx::{self, Connection as _};
use serde_json::json;

const NEWS: &str = "/direct/announcement.json";

/// A service that waits for a lock as long as one does that nobody has set up.
struct Hurried(TestApp);

impl OnBackend for Hurried {
    async fn on_backend(backend: Backend) -> Option<Self> {
        TestApp::with_settings(backend, &HURRIED).await.map(Self)
    }
}

async fn outside(app: &TestApp) -> SqliteConnection {
    let opened = SqliteConnection::connect(app.database().url()).await;
    opened.expect("the file opens")
}

async fn run(connection: &mut SqliteConnection, sql: &'static str) {
    sqlx::query(sql).execute(connection).await.expect(sql);
}

#[tokio::test]
async fn rel_9_a_write_waits_a_second_for_a_lock_and_goes_on_when_it_is_gone() {
    database::on(Backend::Sqlite, |Hurried(app): Hurried| async move {
        let client = app.user("instructor1").await;
        let draft = json!({"siteId": "biology-101", "title": "Locked", "body": "<p>x</p>"});
        let mut other = outside(&app).await;
        run(&mut other, "BEGIN IMMEDIATE").await;
        let begin = Instant::now();
        let answer = client.post(NEWS, &draft).await;
        let taken = begin.elapsed();
        answer.expect(StatusCode::SERVICE_UNAVAILABLE);
        assert!(answer.header(RETRY_AFTER).is_some());
        let limits = Duration::from_millis(900)..Duration::from_secs(4);
        assert!(limits.contains(&taken), "{taken:?}");
        client.get(NEWS).await.expect(StatusCode::OK);
        run(&mut other, "ROLLBACK").await;
        client.post(NEWS, &draft).await.expect(StatusCode::CREATED);
    })
    .await;
}

#[tokio::test]
async fn a_session_that_can_not_be_made_is_told_as_the_table_of_logins_says() {
    database::on(Backend::Sqlite, |Hurried(app): Hurried| async move {
        const FAILED: &str = "the session could not be established";
        let client = app.anonymous();
        let json = json!({"username": "student1", "password": PASSWORD});
        let mut other = outside(&app).await;
        run(&mut other, "BEGIN IMMEDIATE").await;
        let form = format!("username=student1&password={PASSWORD}");
        let by_form = client.post_form("/api/login", &form).await;
        let by_json = client.post("/api/login", &json).await;
        let form = form
            .replace("username", "_username")
            .replace("password=", "_password=");
        let by_session = client.post_form("/direct/session", &form).await;
        run(&mut other, "ROLLBACK").await;
        for answer in [&by_form, &by_json] {
            answer.expect(StatusCode::INTERNAL_SERVER_ERROR);
            assert!(answer.header(RETRY_AFTER).is_some());
        }
        assert_eq!(by_form.json()["error"]["message"], FAILED);
        assert_eq!(by_json.json(), FAILED);
        by_session.expect(StatusCode::SERVICE_UNAVAILABLE);
        client
            .post("/api/login", &json)
            .await
            .expect(StatusCode::OK);
    })
    .await;
}

#[tokio::test]
async fn a_journal_that_a_long_reader_let_grow_shrinks_behind_it() {
    database::on(Backend::Sqlite, |Hurried(app): Hurried| async move {
        const SMALL: u64 = 1024 * 1024;
        let db = &app.service().storage.content;
        let size = || {
            let path = app.database().folder().join("lectern.db-wal");
            std::fs::metadata(path).map_or(0, |it| it.len())
        };
        let mut reader = outside(&app).await;
        run(&mut reader, "BEGIN").await;
        run(&mut reader, "SELECT count(*) FROM site").await;
        let mut writer = outside(&app).await;
        for _ in 0..2 {
            run(&mut writer, "CREATE TABLE large (bytes BLOB)").await;
            run(&mut writer, "INSERT INTO large VALUES (zeroblob(2000000))").await;
            run(&mut writer, "DROP TABLE large").await;
        }
        assert!(size() > SMALL, "{}", size());
        let begin = Instant::now();
        // The reader is still there: nothing can be cut, and nobody waits for long.
        drop(shrink_journal(db, SMALL).await);
        let taken = begin.elapsed();
        assert!(taken < Duration::from_secs(4), "{taken:?}");
        assert!(size() > SMALL, "{}", size());
        run(&mut reader, "COMMIT").await;
        let is_cut = shrink_journal(db, SMALL).await;
        assert!(is_cut.expect("the file is free"));
        assert_eq!(size(), 0);
        let is_cut = shrink_journal(db, SMALL).await;
        assert!(!is_cut.expect("nothing to do"));
    })
    .await;
}

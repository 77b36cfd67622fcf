//! A database that stands still makes nobody wait longer than a request may take: the deadline covers all of it.

use std::time::{Duration, Instant};

use http::StatusCode;
use http::header::COOKIE;
use load::{Backend, TestApp};
use sea_orm::{ConnectionTrait as _, TransactionTrait as _};

/// Longer than the deadline of the test, and shorter than the time that the database waits for a lock.
const PATIENCE: Duration = Duration::from_millis(3_500);

#[tokio::test]
async fn dos_3_the_look_up_of_a_session_is_under_the_deadline() {
    let settings = [("limits.requestDeadline", "1")];
    let Some(app) = TestApp::with_settings(Backend::Postgres, &settings).await else {
        return;
    };
    let connection = sea_orm::Database::connect(app.database().url())
        .await
        .expect("the server is there");
    let locked = connection.begin().await.expect("a transaction");
    let lock = "LOCK TABLE session IN ACCESS EXCLUSIVE MODE";
    locked.execute_unprepared(lock).await.expect("a lock");
    // Nobody knows this session, so that the database has to be asked.
    let cookie = format!("JSESSIONID={}.svc", "a".repeat(43));
    let client = app.anonymous().with_header(COOKIE, &cookie);
    let begin = Instant::now();
    let answer = client.get("/direct/session/current.json").await;
    let elapsed = begin.elapsed();
    answer.expect(StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer.header("retry-after").is_some());
    assert!(elapsed < PATIENCE, "{elapsed:?}");
    let metrics = app.service().figures.to_text();
    assert!(
        metrics.contains("lectern_refusals_total{cause=\"deadline\"} 1"),
        "{metrics}"
    );
    locked.rollback().await.expect("it ends");
    client
        .get("/direct/session/current.json")
        .await
        .expect(StatusCode::OK);
}

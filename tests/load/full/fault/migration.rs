//! A migration meets somebody who uses the table that it changes: readers do not queue up behind it.

use std::time::{Duration, Instant};

use entity_core::Registry;
use load::{Backend, Database, OnBackend};
use sea_orm::{ConnectOptions, ConnectionTrait, Database as Connection, TransactionTrait};
use server::operate::storage::Storage;
use tokio::time::sleep;

/// The statement that makes the database an older one.
const OLDER: &str = "ALTER TABLE announcement DROP COLUMN highlight";
/// The limit, and some time for a busy machine.
const LIMIT: Duration = Duration::from_secs(5);

#[tokio::test]
async fn rel_12_a_migration_that_is_blocked_says_by_whom_and_blocks_nobody_for_long() {
    let Some(database) = Database::on_backend(Backend::Postgres).await else {
        return;
    };
    let registry = Registry::from_inventory().expect("types that go together");
    drop(
        Storage::open(database.url(), &registry)
            .await
            .expect("an empty database"),
    );
    let options = |name: &str| {
        let url = format!("{}?application_name={name}", database.url());
        let mut options = ConnectOptions::new(url);
        options.max_connections(1).sqlx_logging(false);
        options
    };
    let other = Connection::connect(options("long_report"))
        .await
        .expect("it connects");
    other
        .execute_unprepared(OLDER)
        .await
        .expect("an older database");
    let report = other.begin().await.expect("a transaction");
    let read = "SELECT count(*) FROM announcement";
    report.execute_unprepared(read).await.expect("it is read");

    let reader = Connection::connect(options("reader"))
        .await
        .expect("it connects");
    let reading = async {
        // The migration waits by now, and whoever reads waits behind it.
        sleep(Duration::from_millis(700)).await;
        let begin = Instant::now();
        reader.execute_unprepared(read).await.expect("it is read");
        begin.elapsed()
    };
    let begin = Instant::now();
    // A migration without a limit would wait for the report, and this test for the migration.
    let both = async { tokio::join!(Storage::open(database.url(), &registry), reading) };
    let both = tokio::time::timeout(LIMIT * 2, both).await;
    let (migrated, waited) = both.expect("the migration does not wait without end");
    let error = migrated.expect_err("the table is in use");
    assert!(
        begin.elapsed() < LIMIT && waited < LIMIT,
        "{:?}, {waited:?}",
        begin.elapsed()
    );
    let text = error.to_string();
    assert!(
        text.contains("`long_report`") && text.contains("process "),
        "{text}"
    );

    report.rollback().await.expect("it ends");
    drop(
        Storage::open(database.url(), &registry)
            .await
            .expect("nobody uses the table"),
    );
}

//! A new version fills columns of a large table: others read and write it meanwhile, and whoever is stopped in between
//! goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use entity_core::search::fold;
use entity_core::{Entity as _, Registry};
use entity_providers::courses::announcement::Announcement;
use load::{Backend, TestApp, both};
use sea_orm::{ConnectOptions, ConnectionTrait, Database as Connection, DatabaseConnection};
use sea_orm::{DbBackend, Statement};
use server::operate::storage::Storage;
use tokio::time::{sleep, timeout};

use load::rows::texts;

/// Rows of the large table.
const ROWS: usize = 5_000;
/// The time for which a reader or a writer may wait for a lock, which the database watches.
const PATIENCE: &str = "SET lock_timeout = '2s'";

async fn connect(app: &TestApp) -> DatabaseConnection {
    let mut options = ConnectOptions::new(app.database().url());
    options.max_connections(1).sqlx_logging(false);
    Connection::connect(options).await.expect("it connects")
}

async fn run(connection: &DatabaseConnection, sql: &str) {
    let done = connection.execute_unprepared(sql).await;
    done.unwrap_or_else(|error| panic!("{sql}: {error}"));
}

/// Makes the database one of a former version, with a large table.
async fn make_older(connection: &DatabaseConnection) {
    let numbers = match connection.get_database_backend() {
        DbBackend::Postgres => format!("generate_series(1, {ROWS}) AS numbers (number)"),
        _ => format!(
            "(WITH RECURSIVE numbers (number) AS \
             (VALUES (1) UNION ALL SELECT number + 1 FROM numbers WHERE number < {ROWS}) \
             SELECT number FROM numbers) AS numbers"
        ),
    };
    for column in ["title_folded", "body_folded"] {
        run(
            connection,
            &format!("ALTER TABLE announcement DROP COLUMN {column}"),
        )
        .await;
    }
    let rows = format!(
        "INSERT INTO announcement (id, site_id, channel, title, body, created_by, created, published, \
         modified, is_draft, is_restricted, position, attachments, version) \
         SELECT 'row-' || number, 'biology-101', 'main', 'ÜBUNG ' || number, '<p>&Auml;RGER</p>', 'nobody', 0, 0, \
         0, FALSE, FALSE, number, '[]', 1 FROM {numbers}"
    );
    run(connection, &rows).await;
}

/// Returns the number of rows that are filled, if there is such a column.
async fn filled(connection: &DatabaseConnection) -> i64 {
    let sql = "SELECT count(*) AS filled FROM announcement WHERE body_folded IS NOT NULL";
    let statement = Statement::from_string(connection.get_database_backend(), sql);
    let row = connection.query_one_raw(statement).await;
    row.map_or(0, |it| {
        it.expect("a row").try_get("", "filled").expect("a number")
    })
}

/// Insists that everything is filled, with what is there now.
async fn check(connection: &DatabaseConnection) {
    let titles = "SELECT title || '|' || coalesce(title_folded, '') AS line FROM announcement";
    let titles = texts(connection, titles).await;
    assert!(titles.len() >= ROWS);
    for line in titles {
        let (title, folded) = line.rsplit_once('|').expect("two texts");
        assert_eq!(folded, fold(title));
    }
    let field = Announcement::schema().field("body").expect("a field");
    let bodies =
        "SELECT DISTINCT body || '|' || coalesce(body_folded, '') AS line FROM announcement";
    for line in texts(connection, bodies).await {
        let (body, folded) = line.rsplit_once('|').expect("two texts");
        assert_eq!(folded, field.folded(body));
    }
    let left = texts(connection, "SELECT column_name AS line FROM backlog").await;
    assert_eq!(left, Vec::<String>::new());
}

fn registry() -> Registry {
    Registry::from_inventory().expect("types that go together")
}

both! {
    async fn rel_12_whoever_is_stopped_while_rows_are_filled_goes_on(app: TestApp) {
        let connection = connect(&app).await;
        make_older(&connection).await;
        let (url, registry) = (app.database().url().to_owned(), registry());
        let mut seen = 0;
        for _ in 0..3 {
            let begun = tokio::spawn({
                let (url, registry) = (url.clone(), registry.clone());
                async move { Storage::open(&url, &registry).await.map(drop) }
            });
            let before = seen;
            while seen <= before && !begun.is_finished() {
                sleep(Duration::from_millis(5)).await;
                seen = filled(&connection).await;
            }
            begun.abort();
            drop(begun.await);
            assert!(seen > before, "something was filled");
        }
        assert!(seen < i64::try_from(ROWS).expect("a number"), "it was stopped in between: {seen}");
        drop(Storage::open(&url, &registry).await.expect("a newer version"));
        check(&connection).await;
    }
}

#[tokio::test]
async fn rel_12_readers_and_writers_do_not_wait_while_rows_are_filled() {
    let Some(app) = TestApp::with_settings(Backend::Postgres, &[]).await else {
        return;
    };
    let (reader, writer, other) = (
        connect(&app).await,
        connect(&app).await,
        connect(&app).await,
    );
    make_older(&reader).await;
    run(&reader, PATIENCE).await;
    run(&writer, PATIENCE).await;
    let is_done = Arc::new(AtomicBool::new(false));
    let reading = tokio::spawn({
        let is_done = Arc::clone(&is_done);
        async move {
            let (mut longest, mut count) = (Duration::ZERO, 0);
            while !is_done.load(Ordering::Relaxed) {
                let begin = Instant::now();
                run(
                    &reader,
                    "SELECT title FROM announcement WHERE id = 'row-77'",
                )
                .await;
                longest = longest.max(begin.elapsed());
                count += 1;
            }
            (longest, count)
        }
    });
    let writing = tokio::spawn({
        let is_done = Arc::clone(&is_done);
        async move {
            let mut count = 0;
            // As the new version does, as soon as there is the column.
            while !is_done.load(Ordering::Relaxed) {
                let (row, title) = (count * 37 % ROWS + 1, format!("NEU Ö {count}"));
                if filled(&other).await > 0 {
                    let folded = fold(&title);
                    let sql = format!(
                        "UPDATE announcement SET title = '{title}', title_folded = '{folded}' WHERE id = 'row-{row}'"
                    );
                    run(&writer, &sql).await;
                    count += 1;
                }
                sleep(Duration::from_millis(3)).await;
            }
            count
        }
    });
    let opened = Storage::open(app.database().url(), &registry()).await;
    is_done.store(true, Ordering::Relaxed);
    drop(opened.expect("a newer version"));
    let patience = Duration::from_secs(30);
    let reads = timeout(patience, reading).await.expect("it ends");
    let (longest, read_count) = reads.expect("no read waited for a lock");
    let changing = timeout(patience, writing).await.expect("it ends");
    let changes = changing.expect("no write waited for a lock");
    let told = format!("{read_count} reads, the longest {longest:?}; {changes} writes");
    assert!(read_count > 100 && changes > 10, "{told}");
    check(&connect(&app).await).await;
}

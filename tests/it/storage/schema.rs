//! Statements that connections keep prepared outlive a change of the tables by somebody else: a newer process that
//! migrates the database while this one still answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::StatusCode;
use sea_orm::{ConnectionTrait, Database as Connection, DatabaseConnection};
use serde_json::json;
use tests::{Backend, Client, TestApp, both};
use tokio::task::{JoinSet, yield_now};

/// The paths that are read again after each change: by key and by index, in one statement and in several.
const PATHS: [&str; 5] = [
    "/direct/announcement/site/biology-101.json",
    "/direct/announcement.json?_search=lab&_order=title",
    "/direct/site/biology-101.json",
    "/direct/site/biology-101/pages.json",
    "/direct/membership.json?siteId=biology-101&_limit=5",
];

/// The changes that a migration may make to a table, in the words of both databases.
const CHANGES: [&str; 6] = [
    "ALTER TABLE announcement ADD COLUMN later TEXT DEFAULT 'x' NOT NULL",
    "CREATE INDEX announcement_by_later ON announcement (site_id, later)",
    "ALTER TABLE site ADD COLUMN later BIGINT",
    "DROP INDEX announcement_by_later",
    "ALTER TABLE announcement DROP COLUMN later",
    "ALTER TABLE site DROP COLUMN later",
];

async fn answers(client: &Client) -> Vec<String> {
    let mut answers = Vec::new();
    for path in PATHS {
        let answer = client.get(path).await;
        answer.expect(StatusCode::OK);
        answers.push(answer.text().to_owned());
    }
    answers
}

async fn change(connection: &DatabaseConnection, sql: &str) {
    let done = connection.execute_unprepared(sql).await;
    done.unwrap_or_else(|error| panic!("{sql}: {error}"));
}

/// Makes a table anew with its columns in another order, which is how SQLite's tables are changed beyond what
/// `ALTER TABLE` can.
const REBUILD: &str = "
    PRAGMA foreign_keys = OFF;
    BEGIN IMMEDIATE;
    CREATE TABLE rebuilt (
        layout BIGINT NOT NULL, position BIGINT NOT NULL, title TEXT NOT NULL, site_id TEXT NOT NULL,
        id TEXT NOT NULL PRIMARY KEY
    );
    INSERT INTO rebuilt SELECT layout, position, title, site_id, id FROM site_page;
    DROP TABLE site_page;
    ALTER TABLE rebuilt RENAME TO site_page;
    COMMIT;
";

both! {
    async fn a_changed_table_answers_as_before(app: TestApp) {
        let client = app.user("instructor1").await;
        // More than once, so that each statement is kept and used again.
        for _ in 0..2 {
            answers(&client).await;
        }
        let before = answers(&client).await;
        let other = Connection::connect(app.database().url()).await.expect("a connection");
        for (number, sql) in CHANGES.into_iter().enumerate() {
            change(&other, sql).await;
            assert_eq!(answers(&client).await, before, "{sql}");
            // The writer keeps statements too.
            let title = format!("number {number}");
            let draft = json!({"siteId": "biology-101", "title": title, "body": "<p>x</p>"});
            let made = client.post("/direct/announcement.json", &draft).await;
            made.expect(StatusCode::CREATED);
            let path = format!("/direct/announcement/{}.json", made.header("entityid").expect("an id"));
            assert_eq!(client.get(&path).await.json()["title"], title.as_str());
            client.delete(&path).await.expect(StatusCode::NO_CONTENT);
        }
        if app.database().backend() == Backend::Sqlite {
            let file = app.database().folder().join("lectern.db");
            let connection = rusqlite::Connection::open(file).expect("a file of the service's making");
            connection.execute_batch(REBUILD).expect("a table like before");
            assert_eq!(answers(&client).await, before);
        }
    }

    async fn readers_do_not_notice_a_migration(app: TestApp) {
        let client = app.user("instructor1").await;
        let before = answers(&client).await;
        let is_done = Arc::new(AtomicBool::new(false));
        let mut readers = JoinSet::new();
        for _ in 0..4 {
            let (client, before, is_done) = (client.clone(), before.clone(), Arc::clone(&is_done));
            readers.spawn(async move {
                let mut rounds = 0_u32;
                while !is_done.load(Ordering::Relaxed) {
                    assert_eq!(answers(&client).await, before);
                    rounds += 1;
                    yield_now().await;
                }
                rounds
            });
        }
        let other = Connection::connect(app.database().url()).await.expect("a connection");
        for sql in CHANGES.iter().cycle().take(CHANGES.len() * 3) {
            change(&other, sql).await;
        }
        is_done.store(true, Ordering::Relaxed);
        let rounds = readers.join_all().await;
        assert!(rounds.iter().all(|it| *it > 0), "{rounds:?}");
    }
}

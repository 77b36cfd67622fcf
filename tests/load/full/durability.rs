//! Acknowledged writes are there after the process was killed, whole, with their event and their audit row.
//!
//! `KILL_ROUNDS` is the number of times that the process is killed; a few by default.

use std::collections::HashSet;
use std::env;
use std::time::Duration;

use axum::body::Body;
use http::{Request, StatusCode};
use load::process::{Process, service};
use load::{Answer, Client, Database, both};
use sea_orm::{ConnectOptions, ConnectionTrait, DatabaseConnection, DbBackend, Statement};
use serde_json::json;
use tokio::task::JoinSet;

const DEFAULT_ROUNDS: u64 = 3;
const WRITERS: u32 = 8;
const PATH: &str = "/direct/announcement.json";

fn number_of_rounds() -> u64 {
    let given = env::var_os("KILL_ROUNDS");
    let given = given.and_then(|it| it.to_str()?.parse().ok());
    given.unwrap_or(DEFAULT_ROUNDS)
}

/// The other connections to this database of a PostgreSQL server.
const OTHERS: &str = "SELECT pid::text FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";

both! {
async fn a_killed_service_keeps_what_it_acknowledged_and_nothing_by_halves(database: Database) {
    let program = service(false);
    Process::start_service(&program, &database, true).stop();
    let written_by_hand = announcements(database.url()).await.len();
    let mut acknowledged = HashSet::new();
    for round in 0..number_of_rounds() {
        let process = Process::start_service(&program, &database, false);
        let author = Client::on_port(process.port())
            .log_in("instructor1", load::app::PASSWORD)
            .await;
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            writers.spawn(write(
                author.clone(),
                format!("round {round} writer {writer}"),
            ));
        }
        // A different moment each time, so that it falls into each part of a write.
        tokio::time::sleep(Duration::from_millis(120 + round * 37 % 200)).await;
        process.kill();
        acknowledged.extend(writers.join_all().await.concat());
        check(database.url(), &acknowledged).await;
    }
    let kept = announcements(database.url()).await.len() - written_by_hand;
    assert!(!acknowledged.is_empty() && kept >= acknowledged.len());
}
}

/// Writes until the service goes away. The ids of what it acknowledged.
async fn write(author: Client, title: String) -> Vec<String> {
    let mut acknowledged = Vec::new();
    for number in 0.. {
        let Some(answer) = announce(&author, &format!("{title} number {number}")).await else {
            break;
        };
        answer.expect(StatusCode::CREATED);
        acknowledged.extend(id_of(&answer));
    }
    acknowledged
}

/// Posts one announcement; no answer if the service has gone away.
pub(crate) async fn announce(author: &Client, title: &str) -> Option<Answer> {
    let body = json!({"siteId": "biology-101", "title": title, "body": "<p>x</p>"});
    let request = Request::post(format!("{}{PATH}", author.address()))
        .header("content-type", "application/json")
        .body(Body::from(body.to_string()))
        .expect("a request that can be sent");
    author.try_send(request).await.ok()
}

/// The id of the announcement that this answer acknowledges.
pub(crate) fn id_of(answer: &Answer) -> Option<String> {
    let id = answer
        .header("EntityId")
        .expect("the id of what was created");
    id.rsplit(':').next().map(ToOwned::to_owned)
}

/// Looks into the database with another program's eyes.
pub(crate) async fn check(url: &str, acknowledged: &HashSet<String>) {
    let kept = announcements(url).await;
    let lost = acknowledged.difference(&kept).collect::<Vec<_>>();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");

    let connection = open(url).await;
    let told = column(
        &connection,
        "SELECT reference FROM outbox WHERE kind LIKE 'annc.%'",
    )
    .await;
    let told = told
        .iter()
        .filter_map(|it| it.rsplit([':', '/']).next())
        .collect::<HashSet<_>>();
    let written = column(
        &connection,
        "SELECT id FROM announcement WHERE title LIKE 'round %'",
    )
    .await;
    let untold = written
        .iter()
        .filter(|it| !told.contains(it.as_str()))
        .collect::<Vec<_>>();
    assert!(untold.is_empty(), "written without an event: {untold:?}");

    let audited = column(
        &connection,
        &format!(
            "SELECT request_id FROM audit WHERE method = 'POST' AND path LIKE '{PATH}%' AND status = 201"
        ),
    )
    .await;
    assert_eq!(audited.len(), written.len(), "an audit row for each write");
    if connection.get_database_backend() == DbBackend::Sqlite {
        let verdict = column(&connection, "PRAGMA integrity_check").await;
        assert_eq!(verdict, ["ok"]);
    }
    connection.close().await.expect("the connection closes");
}

/// The ids of all announcements.
pub(crate) async fn announcements(url: &str) -> HashSet<String> {
    let connection = open(url).await;
    let rows = column(&connection, "SELECT id FROM announcement").await;
    connection.close().await.expect("the connection closes");
    rows.into_iter().collect()
}

/// The titles of all announcements that were written by a test.
pub(crate) async fn titles(url: &str) -> Vec<String> {
    titles_on(open(url).await).await
}

/// The titles of all announcements that the tests made, while services are at work.
pub(crate) async fn titles_meanwhile(url: &str) -> Vec<String> {
    titles_on(connect(url).await).await
}

async fn titles_on(connection: DatabaseConnection) -> Vec<String> {
    let sql = "SELECT title FROM announcement WHERE title LIKE 'round %'";
    let titles = column(&connection, sql).await;
    connection.close().await.expect("the connection closes");
    titles
}

/// Connects, and waits until nothing of a killed service is at work in a server any more.
async fn open(url: &str) -> DatabaseConnection {
    let connection = connect(url).await;
    if connection.get_database_backend() == DbBackend::Postgres {
        while !column(&connection, OTHERS).await.is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    connection
}

async fn connect(url: &str) -> DatabaseConnection {
    let mut options = ConnectOptions::new(url);
    options.max_connections(1).sqlx_logging(false);
    sea_orm::Database::connect(options)
        .await
        .expect("a database of the service's making")
}

/// The first column of what `sql` finds.
async fn column(connection: &DatabaseConnection, sql: &str) -> Vec<String> {
    let statement = Statement::from_string(connection.get_database_backend(), sql);
    let rows = connection
        .query_all_raw(statement)
        .await
        .expect("the tables are as they are here");
    rows.iter()
        .map(|it| it.try_get_by_index(0).expect("text"))
        .collect()
}

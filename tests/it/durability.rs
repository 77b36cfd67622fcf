//! What was acknowledged is there after the process was killed, whole, with its event and its audit row.
//!
//! `KILL_ROUNDS` says how often the process is killed; a few times by default.

use std::collections::HashSet;
use std::env;
use std::path::Path;
use std::time::Duration;

use axum::body::Body;
use http::{Request, StatusCode};
use rusqlite::Connection;
use serde_json::json;
use tests::process::{Process, binary};
use tests::{Answer, Backend, Client, Database, OnBackend};
use tokio::task::JoinSet;

const DEFAULT_ROUNDS: u64 = 3;
const WRITERS: u32 = 8;
const PATH: &str = "/direct/announcement.json";

fn number_of_rounds() -> u64 {
    let given = env::var_os("KILL_ROUNDS");
    let given = given.and_then(|it| it.to_str()?.parse().ok());
    given.unwrap_or(DEFAULT_ROUNDS)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_service_keeps_what_it_acknowledged_and_nothing_by_halves() {
    let program = binary("lectern", false);
    let database = Database::on_backend(Backend::Sqlite).await.expect("a file");
    let file = database.folder().join("lectern.db");
    Process::start_service(&program, &database, true).stop();
    let written_by_hand = announcements(&file).len();
    let mut acknowledged = HashSet::new();
    for round in 0..number_of_rounds() {
        let process = Process::start_service(&program, &database, false);
        let author = Client::on_port(process.port())
            .log_in("instructor1", tests::app::PASSWORD)
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
        check(&file, &acknowledged);
    }
    let kept = announcements(&file).len() - written_by_hand;
    assert!(!acknowledged.is_empty() && kept >= acknowledged.len());
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

/// Looks into the file with another program's eyes.
pub(crate) fn check(file: &Path, acknowledged: &HashSet<String>) {
    let kept = announcements(file);
    let lost = acknowledged.difference(&kept).collect::<Vec<_>>();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");

    let connection = open(file);
    let told = column(
        &connection,
        "SELECT reference FROM outbox WHERE kind LIKE 'annc.%'",
    );
    let told = told
        .iter()
        .filter_map(|it| it.rsplit([':', '/']).next())
        .collect::<HashSet<_>>();
    let written = column(
        &connection,
        "SELECT id FROM announcement WHERE title LIKE 'round %'",
    );
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
    );
    assert_eq!(audited.len(), written.len(), "an audit row for each write");
    let verdict = column(&connection, "PRAGMA integrity_check");
    assert_eq!(verdict, ["ok"]);
}

pub(crate) fn announcements(file: &Path) -> HashSet<String> {
    let rows = column(&open(file), "SELECT id FROM announcement");
    rows.into_iter().collect()
}

fn open(file: &Path) -> Connection {
    Connection::open(file).expect("a file of the service's making")
}

/// The first column of what `sql` finds.
fn column(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection
        .prepare(sql)
        .expect("the tables are as they are here");
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    rows.collect::<Result<_, _>>().expect("text")
}

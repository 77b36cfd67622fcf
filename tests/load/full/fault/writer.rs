//! A client that writes to a service whose machine fails, and remembers the acknowledged writes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use axum::body::Body;
use http::header::{COOKIE, RETRY_AFTER};
use http::{Request, StatusCode};
use load::app::PASSWORD;
use load::process::Process;
use load::{Answer, Client};
use rusqlite::Connection;
use serde_json::json;

const PATH: &str = "/direct/announcement.json";

/// The outcome of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It was acknowledged.
    Done,
    /// It was refused, and must not be there; the code says why.
    Refused(String),
    /// Nobody knows.
    Unknown,
}

/// Writes announcements, each with a title of its own.
#[derive(Debug)]
pub(super) struct Writer {
    client: Client,
    number: u32,
    done: BTreeSet<String>,
    refused: BTreeSet<String>,
}

/// Returns the URL of the database in `folder`.
pub(super) fn url(folder: &Path) -> String {
    format!("sqlite://{}?mode=rwc", file(folder).display())
}

fn file(folder: &Path) -> PathBuf {
    folder.join("lectern.db")
}

impl Writer {
    /// Makes a client that may write, logged in.
    pub(super) async fn new(process: &Process) -> Self {
        Self {
            client: log_in(process).await,
            number: 0,
            done: BTreeSet::new(),
            refused: BTreeSet::new(),
        }
    }

    /// The same with another process, which serves the same database.
    pub(super) async fn move_to(&mut self, process: &Process) {
        self.client = log_in(process).await;
    }

    /// The same with another process, which serves the same database and knows the session with this cookie.
    pub(super) fn become_known(&mut self, process: &Process, cookie: &str) {
        self.client = Client::on_port(process.port()).with_header(COOKIE, cookie);
    }

    /// Returns the client, to read with.
    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// Writes an announcement of this many bytes.
    ///
    /// # Panics
    /// The answer is neither 201 nor a 503 that says what to do.
    pub(super) async fn write(&mut self, bytes: usize) -> Outcome {
        self.number += 1;
        let title = format!("fault {}", self.number);
        let body = json!({"siteId": "biology-101", "title": title, "body": "x".repeat(bytes)});
        let request = Request::post(format!("{}{PATH}", self.client.address()))
            .header("content-type", "application/json")
            .body(Body::from(body.to_string()))
            .expect("a request that can be sent");
        // Whoever gets no answer knows nothing.
        let Ok(answer) = self.client.try_send(request).await else {
            return Outcome::Unknown;
        };
        let outcome = outcome(&answer);
        match &outcome {
            Outcome::Done => drop(self.done.insert(title)),
            Outcome::Refused(_) => drop(self.refused.insert(title)),
            Outcome::Unknown => {}
        }
        outcome
    }

    /// Looks into the file, once nobody serves it, with another program's eyes.
    ///
    /// # Panics
    /// Something that was acknowledged is not there, something that was refused is, or something is there by halves.
    pub(super) fn check(&self, folder: &Path) {
        let connection = Connection::open(file(folder)).expect("the file of the service");
        let written = column(
            &connection,
            "SELECT title FROM announcement WHERE title LIKE 'fault %'",
        );
        let lost = self.done.difference(&written).collect::<Vec<_>>();
        assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
        let kept = self.refused.intersection(&written).collect::<Vec<_>>();
        assert!(kept.is_empty(), "refused and kept: {kept:?}");
        let halves = column(
            &connection,
            "SELECT title FROM announcement WHERE title LIKE 'fault %'
                AND NOT EXISTS (SELECT 1 FROM outbox WHERE reference LIKE '%' || announcement.id)",
        );
        assert!(halves.is_empty(), "written without an event: {halves:?}");
        let rows = "SELECT 'audited ' || count(*) FROM audit WHERE method = 'POST' AND status = 201
            AND path LIKE '/direct/announcement.json%'";
        let expected = format!("audited {}", written.len());
        assert_eq!(column(&connection, rows), [expected].into());
        let verdict = column(&connection, "PRAGMA integrity_check");
        assert_eq!(verdict, ["ok".to_owned()].into());
    }
}

async fn log_in(process: &Process) -> Client {
    Client::on_port(process.port())
        .log_in("instructor1", PASSWORD)
        .await
}

fn outcome(answer: &Answer) -> Outcome {
    if answer.status == StatusCode::CREATED {
        return Outcome::Done;
    }
    answer.expect(StatusCode::SERVICE_UNAVAILABLE);
    let error = &answer.json()["error"];
    let code = error["code"].as_str().unwrap_or_default();
    let waits = answer.headers.contains_key(RETRY_AFTER);
    assert_eq!(waits, code != "outcome_unknown", "{error}");
    match code {
        "outcome_unknown" => Outcome::Unknown,
        code => Outcome::Refused(code.to_owned()),
    }
}

/// Returns whether the audit row of a request to an address like `path` is stored in the file beside the database.
pub(super) fn is_audited(folder: &Path, path: &str) -> bool {
    let name = folder.join("lectern.db.audit");
    let connection = Connection::open(name).expect("the file of the service");
    let sql = format!("SELECT path FROM audit WHERE path LIKE '{path}%'");
    !column(&connection, &sql).is_empty()
}

/// The first column of what `sql` finds.
fn column(connection: &Connection, sql: &str) -> BTreeSet<String> {
    let mut statement = connection
        .prepare(sql)
        .expect("the tables are as they are here");
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    rows.collect::<Result<_, _>>().expect("text")
}

//! Log lines that can't be written: the service goes on, and audits what it answers.

use std::fs::OpenOptions;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use http::StatusCode;
use load::app::PASSWORD;
use load::process::{Process, service};
use load::{Backend, Client, Database, OnBackend};
use rusqlite::Connection;

const PATH: &str = "/direct/site/biology-101.json";
const READS: u32 = 20;
const PATIENCE: Duration = Duration::from_secs(20);

/// A disk without room.
fn full_disk() -> Stdio {
    let file = OpenOptions::new().write(true).open("/dev/full");
    file.expect("Linux has it").into()
}

/// A pipe that nobody reads any more.
fn closed_pipe() -> Stdio {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    writer.into()
}

fn change(file: &Path, sql: &str) {
    let connection = Connection::open(file).expect("a file of the service's making");
    let changed = connection.execute_batch(sql);
    changed.unwrap_or_else(|error| panic!("{sql}: {error}"));
}

fn audited(file: &Path) -> u32 {
    let connection = Connection::open(file).expect("a file of the service's making");
    let sql = "SELECT COUNT(*) FROM audit WHERE path = ?1 AND status = 200";
    connection
        .query_row(sql, [PATH], |row| row.get(0))
        .expect("a number")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn log_4_requests_are_audited_although_log_lines_cant_be_written() {
    let program = service(false);
    for stderr in [full_disk, closed_pipe] {
        let database = Database::on_backend(Backend::Sqlite).await.expect("a file");
        let audit = database.folder().join("lectern.db.audit");
        let process = Process::start(&program, |command, port| {
            command
                .env("LECTERN_LISTEN", format!("127.0.0.1:{port}"))
                .env("LECTERN_DATABASE", database.url())
                .env("LECTERN_SHUTDOWN_DRAINDELAY", "0")
                .current_dir(database.folder())
                .arg("--demo")
                .stderr(stderr());
        });
        let client = Client::on_port(process.port());
        let reader = client.clone().log_in("instructor1", PASSWORD).await;
        // Nothing can be stored, of which the service wants to tell.
        change(&audit, "ALTER TABLE audit RENAME TO hidden");
        let is_degraded = async || {
            let answer = client.get("/readyz").await;
            String::from_utf8_lossy(&answer.body).contains("degraded: audit storage")
        };
        let begin = Instant::now();
        reader.get(PATH).await.expect(StatusCode::OK);
        while !is_degraded().await {
            assert!(begin.elapsed() < PATIENCE, "/readyz tells nothing");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        change(&audit, "ALTER TABLE hidden RENAME TO audit");
        process.signal("HUP");
        for _ in 1..READS {
            reader.get(PATH).await.expect(StatusCode::OK);
        }
        while is_degraded().await {
            assert!(begin.elapsed() < PATIENCE, "rows are never stored again");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        process.stop();
        assert_eq!(audited(&audit), READS);
    }
}

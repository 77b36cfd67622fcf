//! The service is told to stop when its database has gone: it ends, whatever is left, and tells what is lost.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use http::StatusCode;
use load::app::PASSWORD;
use load::process::{Process, service};
use load::server::Server;
use load::{Client, Database};

/// The longest that a stop takes, and some time for a busy machine.
const END: Duration = Duration::from_secs(40);
/// The time that a stop may take that is asked for a second time.
const AT_ONCE: Duration = Duration::from_secs(5);

/// Starts the service on `database`, with what it logs in a file of the database's folder, which is returned.
fn start(database: &Database) -> (Process, PathBuf) {
    let log = database.folder().join("log");
    let file = File::create(&log).expect("a file");
    let process = Process::start(service(false), |command, port| {
        command
            .env("LECTERN_LISTEN", format!("127.0.0.1:{port}"))
            .env("LECTERN_DATABASE", database.url())
            .env("LECTERN_FILES_FOLDER", database.folder().join("files"))
            .env("LECTERN_SHUTDOWN_DRAINDELAY", "0")
            .env("LECTERN_LOG_LEVEL", "warn")
            .current_dir(database.folder())
            .stderr(Stdio::from(file))
            .arg("--demo");
    });
    (process, log)
}

/// Returns the time that it took until the process ended by itself.
fn time_to_end(process: &mut Process, patience: Duration) -> Duration {
    let begin = Instant::now();
    let status = process.wait(patience);
    assert!(status.is_some_and(|it| it.success()), "{status:?}");
    begin.elapsed()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x6_a_stop_has_an_end_when_the_database_is_gone() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let database = server.database();
    let (mut process, log) = start(&database);
    let stranger = Client::on_port(process.port());
    for name in ["student1", "student2", "student3", "instructor1", "admin"] {
        drop(stranger.clone().log_in(name, PASSWORD).await);
    }
    tokio::task::block_in_place(|| server.stop_at_once());
    for _ in 0..3 {
        let refused = stranger.get("/direct/site.json").await;
        assert!(!refused.status.is_success(), "{refused:?}");
    }
    process.signal("TERM");
    let took = time_to_end(&mut process, END);
    let told = fs::read_to_string(&log).expect("a log");
    assert!(told.contains("the audit log has a gap"), "{told}");
    load::say(&format!("a stop without a database took {took:?}"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x6_a_second_signal_ends_a_stop_at_once() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let database = server.database();
    let (mut process, _log) = start(&database);
    let stranger = Client::on_port(process.port());
    stranger.get("/livez").await.expect(StatusCode::OK);
    stranger.get("/direct/site.json").await;
    tokio::task::block_in_place(|| server.stop_at_once());
    stranger.get("/direct/site.json").await;
    process.signal("TERM");
    tokio::time::sleep(Duration::from_millis(500)).await;
    process.signal("INT");
    let took = time_to_end(&mut process, AT_ONCE);
    load::say(&format!("a stop that was asked for twice took {took:?}"));
}

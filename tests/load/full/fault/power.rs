//! The power fails: acknowledged writes are there afterwards, and nothing by halves (REL-1).
//!
//! The database lies on a [disk](disk::Disk) that forgets what was not synchronised. A killed process proves nothing
//! of this kind, because the kernel keeps what the process wrote. `POWER_CUTS` says how often the power is cut.

mod disk;
mod mount;

use std::collections::HashSet;
use std::env;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use http::StatusCode;
use load::Client;
use load::process::{Process, service};
use rusqlite::Connection;
use tokio::task::JoinSet;

use crate::durability::{announce, announcements, check, id_of};

use disk::Cut;
use mount::Device;

const DEFAULT_CUTS: u64 = 3;
const WRITERS: u32 = 8;
/// The time that a round may take until the power is gone.
const PATIENCE: Duration = Duration::from_mins(1);
/// Disks take so many changes before the first cut, and more before each further one. The step is prime to the
/// number of changes in a commit, so that the cuts fall into all its parts.
const CHANGES: (u64, u64) = (40, 37);

/// A folder whose disk loses power, if this machine lets the test mount one.
#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
fn device() -> Option<(Device, tempfile::TempDir)> {
    let device = Device::default();
    let folder = tempfile::tempdir().expect("a folder");
    match device.mount(folder.path()) {
        Ok(mounted) => {
            drop(mounted);
            Some((device, folder))
        }
        Err(error) if env::var_os("REQUIRE_FUSE").is_none() => {
            eprintln!("skipped: no file system can be mounted through FUSE: {error}");
            None
        }
        Err(error) => panic!("a file system can't be mounted through FUSE: {error}"),
    }
}

fn number_of_cuts() -> u64 {
    let given = env::var_os("POWER_CUTS");
    let given = given.and_then(|it| it.to_str()?.parse().ok());
    given.unwrap_or(DEFAULT_CUTS)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rel_1_a_power_cut_loses_nothing_acknowledged() {
    let Some((device, folder)) = device() else {
        return;
    };
    let program = service(false);
    let url = format!("sqlite://{}/lectern.db", folder.path().display());
    let outside = tempfile::tempdir().expect("a folder");
    let mounted = device.mount(folder.path()).expect("mounted before");
    start(&program, &url, outside.path(), true).stop();
    let written_by_hand = announcements(&url).await.len();
    drop(mounted);
    let mut acknowledged = HashSet::new();
    for round in 0..number_of_cuts() {
        let mounted = device.mount(folder.path()).expect("mounted before");
        let process = start(&program, &url, outside.path(), false);
        let author = Client::on_port(process.port())
            .log_in("instructor1", load::app::PASSWORD)
            .await;
        device.disk().fail_after(CHANGES.0 + round * CHANGES.1);
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            let title = format!("round {round} writer {writer}");
            writers.spawn(write(device.clone(), author.clone(), title));
        }
        let started = Instant::now();
        while !device.disk().is_dead() {
            assert!(
                started.elapsed() < PATIENCE,
                "round {round}: nobody writes any more"
            );
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        process.kill();
        acknowledged.extend(writers.join_all().await.concat());
        drop(mounted);
        let cut = if round % 2 == 0 {
            Cut::Clean
        } else {
            Cut::Torn(round)
        };
        device.disk().cut(cut);
        let mounted = device.mount(folder.path()).expect("mounted before");
        check(&url, &acknowledged).await;
        drop(mounted);
    }
    let mounted = device.mount(folder.path()).expect("mounted before");
    let kept = announcements(&url).await.len() - written_by_hand;
    drop(mounted);
    assert!(!acknowledged.is_empty() && kept >= acknowledged.len());
}

/// Writes until the service refuses or goes away. The ids of what it acknowledged.
async fn write(device: Device, author: Client, title: String) -> Vec<String> {
    let mut acknowledged = Vec::new();
    for number in 0.. {
        let answer = announce(&author, &format!("{title} number {number}")).await;
        let Some(answer) = answer else {
            break;
        };
        if answer.status != StatusCode::CREATED {
            assert!(
                device.disk().is_dead(),
                "refused before the cut: {answer:?}"
            );
            break;
        }
        acknowledged.extend(id_of(&answer));
    }
    acknowledged
}

/// Starts the service on the database at `url`, in `folder`, without a log: each cut would fill it. The disk has room for
/// the files of the database alone, and no folders.
fn start(program: &Path, url: &str, folder: &Path, has_demo: bool) -> Process {
    let files = folder.join("files");
    let environment = [
        ("LECTERN_LOG_LEVEL", "off"),
        ("LECTERN_FILES_FOLDER", files.to_str().expect("text")),
    ];
    Process::start_service_with(program, url, folder, has_demo, &environment)
}

/// The control: with a lower setting than the service's the same disk does lose what was acknowledged.
#[test]
fn rel_1_the_disk_shows_what_a_lower_setting_loses() {
    let Some((device, folder)) = device() else {
        return;
    };
    for (synchronous, kept) in [("FULL", 20), ("NORMAL", 0)] {
        let file = folder.path().join(format!("{synchronous}.db"));
        let mounted = device.mount(folder.path()).expect("mounted before");
        let connection = Connection::open(&file).expect("a database");
        connection
            .execute_batch(&format!(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous}; CREATE TABLE t (n INTEGER);
                 PRAGMA wal_checkpoint(TRUNCATE)"
            ))
            .expect("a table");
        fs::File::open(folder.path())
            .and_then(|it| it.sync_all())
            .expect("a durable name");
        for number in 0..20 {
            connection
                .execute("INSERT INTO t VALUES (?1)", [number])
                .expect("a commit");
        }
        device.disk().fail_after(0);
        drop(connection);
        drop(mounted);
        device.disk().cut(Cut::Clean);
        let mounted = device.mount(folder.path()).expect("mounted before");
        let connection = Connection::open(&file).expect("a database");
        let count: i64 = connection
            .query_row("SELECT count(*) FROM t", [], |row| row.get(0))
            .expect("the table");
        assert_eq!(count, kept, "{synchronous}");
        drop(connection);
        drop(mounted);
    }
}

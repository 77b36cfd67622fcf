//! Each system call of a write fails once, as SQLite tests itself: acknowledged writes are there after a restart,
//! refused ones are not, and none is there by halves.
//!
//! A sample by default, all calls with `FULL=1`.

use std::path::Path;
use std::time::Duration;

use load::Client;
use load::fault::{Injection, Mount};
use load::is_full;
use load::process::{Process, service};

use super::writer::{Outcome, Writer, is_audited, url};

/// More than a write makes of any kind in one thread.
const CALLS: usize = 40;
const PATIENCE: Duration = Duration::from_secs(5);

/// A kind of calls, the error they end with, and which of them are tried by default.
const SERIES: [(&str, &str, &[usize]); 7] = [
    ("pwrite64", "ENOSPC", &[1, 2, 5]),
    ("pwrite64", "EIO", &[3]),
    ("fsync,fdatasync", "EIO", &[]),
    ("fsync,fdatasync", "ENOSPC", &[]),
    ("pread64", "EIO", &[]),
    ("ftruncate,fallocate", "ENOSPC", &[]),
    ("openat,fstat,newfstatat", "EIO", &[]),
];

#[tokio::test]
async fn rel_11_each_call_of_a_write_may_fail() {
    let Some(disk) = Mount::tmpfs(64) else {
        return;
    };
    let mut process = start(disk.path());
    let mut writer = Writer::new(&process).await;
    for (calls, error, sample) in SERIES {
        let all: Vec<usize> = (1..=CALLS).collect();
        let numbers = if is_full() { &all } else { sample };
        for number in numbers {
            let fault = format!("error={error}:when={number}");
            let Some(faults) = Injection::attach(process.id(), calls, &fault) else {
                return;
            };
            let outcome = writer.write(9_000).await;
            audit(&mut process, disk.path(), &format!("{error}-{number}")).await;
            let failed = faults.end();
            eprintln!("{calls} {fault}: {failed} failed, {outcome:?}");
            process = go_on(process, &mut writer, disk.path()).await;
            if failed == 0 {
                break;
            }
        }
    }
    process.kill();
    writer.check(disk.path());
}

/// Waits until the audit row of a stranger is stored in the other file, or the service has ended.
async fn audit(process: &mut Process, folder: &Path, name: &str) {
    let path = format!("/direct/nth-{name}/none.json");
    let stranger = Client::on_port(process.port());
    let read = stranger.get(&path).await;
    assert_ne!(read.status.as_u16(), 500, "{read:?}");
    while !is_audited(folder, &path) && process.wait(Duration::ZERO).is_none() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The service after a fault: as it is if it goes on, and then it must write; else a new one.
async fn go_on(mut process: Process, writer: &mut Writer, folder: &Path) -> Process {
    let outcome = writer.write(10).await;
    if outcome == Outcome::Done {
        return process;
    }
    let ended = process
        .wait(PATIENCE)
        .expect("a service that refuses writes ends");
    assert_eq!(ended.code(), Some(74), "{outcome:?}");
    writer.check(folder);
    let process = start(folder);
    writer.move_to(&process).await;
    process
}

fn start(folder: &Path) -> Process {
    Process::start_service_at(&service(false), &url(folder), folder, true)
}

//! A disk that is full, fails, or can only be read: nothing is acknowledged that is not kept, and what can be served
//! is served.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Method, StatusCode};
use load::fault::{Injection, Mount};
use load::process::{Process, service};
use serde_json::json;

use super::writer::{Outcome, Writer, is_audited, url};

const LIST: &str = "/direct/announcement/site/biology-101.json";
/// The time that the service may take to notice that its storage works again, or to end.
const PATIENCE: Duration = Duration::from_secs(5);
/// More than fill the disk whatever room the journal had.
const MANY: u32 = 500;

fn start(folder: &Path) -> Process {
    Process::start_service_at(&service(false), &url(folder), folder, true)
}

#[tokio::test]
async fn rel_11_a_full_disk_refuses_writes_and_recovers_by_itself() {
    let Some(disk) = Mount::tmpfs(24) else {
        return;
    };
    let process = start(disk.path());
    let mut writer = Writer::new(&process).await;
    assert_eq!(writer.write(10).await, Outcome::Done);
    for round in 1..=2 {
        let full = disk.fill();
        write_until_refused(&mut writer).await;
        writer.client().get(LIST).await.expect(StatusCode::OK);
        drop(full);
        for _ in 0..5 {
            assert_eq!(writer.write(1_000).await, Outcome::Done, "there is room");
        }
        // Whatever was refused before, for the disk or for itself, later writes are kept.
        let path = "/direct/announcement.json";
        let wrong = writer.client().post(path, &json!({})).await;
        assert!(wrong.status.is_client_error(), "{wrong:?}");
        assert_eq!(writer.write(1_000).await, Outcome::Done);
        wait_for_audit(&writer, disk.path(), round).await;
    }
    process.kill();
    writer.check(disk.path());
    let again = start(disk.path());
    writer.move_to(&again).await;
    assert_eq!(writer.write(10).await, Outcome::Done);
    again.stop();
    writer.check(disk.path());
}

#[tokio::test]
async fn y11_a_service_starts_on_a_full_disk_serves_reads_and_refuses_writes() {
    let Some(disk) = Mount::tmpfs(24) else {
        return;
    };
    let process = start(disk.path());
    let mut writer = Writer::new(&process).await;
    assert_eq!(writer.write(10).await, Outcome::Done);
    let cookie = writer.client().cookie().expect("a session").to_owned();
    // What is left to be tidied up is gone, so that there is not a byte for what SQLite needs to read.
    process.stop();
    let full = disk.fill();
    let again = start(disk.path());
    let filler = disk.path().join("more");
    let mut more = fs::File::create(filler).expect("a file without a byte");
    while more.write_all(&[0; 1024]).is_ok() {}
    writer.become_known(&again, &cookie);
    let reader = writer.client().clone();
    reader.get(LIST).await.expect(StatusCode::OK);
    write_until_refused(&mut writer).await;
    reader.get(LIST).await.expect(StatusCode::OK);
    let started = Instant::now();
    loop {
        let ready = reader.get("/readyz").await;
        ready.expect(StatusCode::OK);
        let told = ready.text();
        if ["database", "files.folder"]
            .iter()
            .all(|it| told.contains(&format!("degraded: {it}: the disk is full")))
        {
            break;
        }
        assert!(started.elapsed() < PATIENCE * 3, "{told}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    drop(full);
    assert_eq!(writer.write(10).await, Outcome::Done);
    again.stop();
    writer.check(disk.path());
}

#[tokio::test]
async fn y63_files_leave_the_database_a_tenth_of_the_disk() {
    let Some(disk) = Mount::tmpfs(64) else {
        return;
    };
    let process = start(disk.path());
    let mut writer = Writer::new(&process).await;
    assert_eq!(writer.write(10).await, Outcome::Done);
    let mut filler = fs::File::create(disk.path().join("filler")).expect("a file");
    let mut sent = 0;
    loop {
        let path = format!("/direct/content/upload/biology-101?name={sent}.txt");
        let text = Bytes::from_static(b"a few words");
        let answer = writer
            .client()
            .send(Method::POST, &path, "text/plain", text)
            .await;
        if answer.status == StatusCode::INSUFFICIENT_STORAGE {
            break;
        }
        answer.expect(StatusCode::CREATED);
        sent += 1;
        filler
            .write_all(&vec![0; 1 << 20])
            .expect("there is room for more than files");
    }
    assert!(sent > 10, "{sent}");
    for _ in 0..10 {
        assert_eq!(
            writer.write(10_000).await,
            Outcome::Done,
            "there is room for entities"
        );
    }
    process.stop();
}

/// Writes until the disk is full, and then some.
async fn write_until_refused(writer: &mut Writer) {
    let mut refused = 0;
    for _ in 0..MANY {
        match writer.write(60_000).await {
            // A checkpoint makes room in the journal. What is acknowledged is looked for at the end.
            Outcome::Done => {}
            other => {
                assert_eq!(other, Outcome::Refused("storage_full".to_owned()));
                refused += 1;
            }
        }
        if refused == 5 {
            return;
        }
    }
    panic!("the disk does not fill up");
}

/// Waits until the row of a request that is made now is stored where another process sees it.
async fn wait_for_audit(writer: &Writer, folder: &Path, round: u32) {
    let path = format!("/direct/round-{round}/none.json");
    let answer = writer.client().get(&path).await;
    answer.expect(StatusCode::NOT_FOUND);
    let started = Instant::now();
    while !is_audited(folder, &path) {
        assert!(started.elapsed() < PATIENCE * 3, "no audit row of {path}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn rel_11_a_failed_sync_ends_the_service_and_nothing_more_is_acknowledged() {
    let Some(disk) = Mount::tmpfs(64) else {
        return;
    };
    let mut process = start(disk.path());
    let mut writer = Writer::new(&process).await;
    assert_eq!(writer.write(10).await, Outcome::Done);
    let Some(faults) = Injection::attach(process.id(), "fsync,fdatasync", "error=EIO") else {
        return;
    };
    // Whether a transaction survives whose sync failed is known after recovery only.
    assert_eq!(writer.write(10).await, Outcome::Unknown);
    let failed = Instant::now();
    let ready = writer.client().get("/readyz").await;
    ready.expect(StatusCode::SERVICE_UNAVAILABLE);
    writer.client().get(LIST).await.expect(StatusCode::OK);
    assert!(faults.end() > 0, "a sync failed");
    for _ in 0..3 {
        let refused = Outcome::Refused("storage_failed".to_owned());
        assert_eq!(writer.write(10).await, refused, "the disk works again");
    }
    let ended = process.wait(PATIENCE).expect("it ends");
    assert!(failed.elapsed() < PATIENCE, "{:?}", failed.elapsed());
    assert_eq!(ended.code(), Some(74));
    writer.check(disk.path());
    let again = start(disk.path());
    writer.move_to(&again).await;
    assert_eq!(writer.write(10).await, Outcome::Done);
    again.kill();
    writer.check(disk.path());
}

#[tokio::test]
async fn rel_11_a_file_system_that_becomes_read_only_refuses_writes() {
    let Some(disk) = Mount::ext4() else {
        return;
    };
    let process = start(disk.path());
    let mut writer = Writer::new(&process).await;
    assert_eq!(writer.write(10).await, Outcome::Done);
    disk.fail();
    for _ in 0..5 {
        let outcome = writer.write(10).await;
        assert_ne!(outcome, Outcome::Done, "acknowledged and not kept");
    }
    process.kill();
    disk.repair();
    writer.check(disk.path());
    let again = start(disk.path());
    writer.move_to(&again).await;
    assert_eq!(writer.write(10).await, Outcome::Done);
    again.stop();
    writer.check(disk.path());
}

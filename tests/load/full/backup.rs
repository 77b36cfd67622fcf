//! A backup is one file, made while others write, that becomes a database again.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

use http::StatusCode;
use load::app::PASSWORD;
use load::process::{Process, run, service, text};
use load::rows::column;
use load::{Backend, Client, Database, OnBackend, TestApp};
use serde_json::json;
use tokio::task::JoinSet;

use crate::durability::id_of;

const WRITERS: usize = 4;

/// The writes that were acknowledged so far.
type Acknowledged = Arc<Mutex<HashSet<String>>>;

/// Writes until it is cut off.
async fn write(author: Client, acknowledged: Acknowledged) {
    loop {
        let body =
            json!({"siteId": "biology-101", "title": "During the backup", "body": "<p>x</p>"});
        let answer = author.post("/direct/announcement.json", &body).await;
        let id = id_of(answer.expect(StatusCode::CREATED)).expect("the id of what was created");
        acknowledged.lock().expect("no panic").insert(id);
    }
}

fn so_far(acknowledged: &Acknowledged) -> HashSet<String> {
    acknowledged.lock().expect("no panic").clone()
}

fn announcements(file: &Path) -> HashSet<String> {
    let ids = column(file, "SELECT id FROM announcement");
    ids.into_iter().collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rel_20_a_backup_made_under_load_has_what_was_acknowledged_before_it() {
    let database = Database::on_backend(Backend::Sqlite).await.expect("a file");
    let restored = Database::on_backend(Backend::Sqlite).await.expect("a file");
    let process = Process::start_service(&service(false), &database, true);
    let author = Client::on_port(process.port());
    let author = author.log_in("instructor1", PASSWORD).await;
    author.get("/direct/site.json").await.expect(StatusCode::OK);
    let acknowledged = Acknowledged::default();
    let mut writers = JoinSet::new();
    for _ in 0..WRITERS {
        writers.spawn(write(author.clone(), Arc::clone(&acknowledged)));
    }
    while so_far(&acknowledged).len() < 20 {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let before = so_far(&acknowledged);
    let file = database.folder().join("backup");
    let name = file.display().to_string();
    let made = run(&database, &["backup", &name]).await;
    assert!(made.status.success(), "{made:?}");
    assert!(text(&made.stdout).contains("copied 100 %"), "{made:?}");
    assert!(so_far(&acknowledged).len() > before.len(), "writers go on");
    // Nobody's work is written over, and no service loses its files.
    let again = run(&database, &["backup", &name]).await;
    assert!(text(&again.stderr).contains("`--force`"), "{again:?}");
    let refused = run(&database, &["restore", &name, "--force"]).await;
    assert!(
        text(&refused.stderr).contains("stop the service first"),
        "{refused:?}"
    );
    author.get("/direct/site.json").await.expect(StatusCode::OK);
    writers.shutdown().await;
    process.stop();

    let rights = fs::metadata(&file)
        .expect("the backup")
        .permissions()
        .mode();
    assert_eq!(rights & 0o777, 0o600);
    assert!(run(&restored, &["restore", &name]).await.status.success());
    let twice = run(&restored, &["restore", &name]).await;
    assert!(text(&twice.stderr).contains("`--force`"), "{twice:?}");
    assert!(
        run(&restored, &["restore", &name, "--force"])
            .await
            .status
            .success()
    );
    let place = restored.folder().join("lectern.db");
    assert!(before.is_subset(&announcements(&place)));
    let reads = "SELECT path FROM audit WHERE path = '/direct/site.json'";
    assert!(!column(&restored.folder().join("lectern.db.audit"), reads).is_empty());
    assert_eq!(
        column(
            &place,
            "SELECT name FROM sqlite_schema WHERE name = 'audit_of_reads'"
        ),
        [""; 0]
    );
    assert!(
        run(&restored, &["doctor", "--integrity"])
            .await
            .status
            .success()
    );
    let app = TestApp::start(restored, &[]).await;
    let reader = app.user("instructor1").await;
    reader.get("/direct/site.json").await.expect(StatusCode::OK);
}

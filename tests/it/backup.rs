//! Backups: one file that becomes a database again; and files that are whole by themselves.

use std::fs;
use std::os::unix::fs::FileExt as _;

use http::StatusCode;
use rusqlite::Connection;
use serde_json::json;
use tests::app::PASSWORD;
use tests::process::{Process, run, service, text};
use tests::rows::column;
use tests::{Backend, Client, Database, OnBackend, TestApp, both};

use crate::usage::{assert_exact, counted};

/// Returns the id in the database.
fn last_part(id: &str) -> String {
    id.rsplit(':').next().unwrap_or_default().to_owned()
}

/// The usage of accounts and sites comes with a backup, is counted where the backup is of a service that did not count,
/// and goes on to be counted.
#[tokio::test]
async fn what_is_counted_is_right_after_a_restore() {
    let app = TestApp::with_settings(Backend::Sqlite, &[]).await;
    let app = app.expect("a file");
    let file = app.database().folder().join("backup");
    let name = file.display().to_string();
    let made = run(app.database(), &["backup", &name]).await;
    assert!(made.status.success(), "{made:?}");
    let at_backup = counted(&app).await;
    assert!(at_backup.len() > 20, "{at_backup:?}");
    announce(&app).await;
    assert_ne!(counted(&app).await, at_backup);
    for forgets in [false, true] {
        if forgets {
            let backup = Connection::open(&file).expect("the backup");
            let sql = "DELETE FROM usage; DELETE FROM usage_source";
            backup.execute_batch(sql).expect("it is forgotten");
        }
        let restored = Database::on_backend(Backend::Sqlite).await.expect("a file");
        let done = run(&restored, &["restore", &name]).await;
        assert!(done.status.success(), "{done:?}");
        let place = restored.folder().join("lectern.db");
        assert!(!column(&place, "SELECT id FROM usage").is_empty());
        let app = TestApp::start(restored, &[]).await;
        assert_eq!(counted(&app).await, at_backup);
        assert_exact(&app, &[]).await;
        announce(&app).await;
        assert_ne!(counted(&app).await, at_backup);
        assert_exact(&app, &[]).await;
    }
    assert_exact(&app, &[]).await;
}

async fn announce(app: &TestApp) {
    let author = app.user("instructor1").await;
    let body = json!({"siteId": "biology-101", "title": "After the backup"});
    let answer = author.post("/direct/announcement.json", &body).await;
    answer.expect(StatusCode::CREATED);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rel_5_after_a_stop_each_file_alone_is_whole() {
    let database = Database::on_backend(Backend::Sqlite).await.expect("a file");
    let process = Process::start_service(&service(false), &database, true);
    let author = Client::on_port(process.port());
    let author = author.log_in("instructor1", PASSWORD).await;
    let body = json!({"siteId": "biology-101", "title": "The last one"});
    let answer = author.post("/direct/announcement.json", &body).await;
    let id = answer.expect(StatusCode::CREATED).header("EntityId");
    let id = last_part(id.expect("an id"));
    author.get("/direct/site.json").await.expect(StatusCode::OK);
    process.stop();
    let copy = database.folder().join("copy");
    for (file, sql) in [
        (
            "lectern.db",
            format!("SELECT id FROM announcement WHERE id = '{id}'"),
        ),
        (
            "lectern.db.audit",
            "SELECT path FROM audit WHERE path = '/direct/site.json'".to_owned(),
        ),
    ] {
        fs::copy(database.folder().join(file), &copy).expect("room for a copy");
        assert_eq!(column(&copy, &sql).len(), 1, "{file}");
        assert_eq!(column(&copy, "PRAGMA integrity_check"), ["ok"], "{file}");
    }
}

#[tokio::test]
async fn the_doctor_finds_a_damaged_page_and_a_restore_mends_it() {
    let database = Database::on_backend(Backend::Sqlite).await.expect("a file");
    assert!(run(&database, &["demo"]).await.status.success());
    let backup = database.folder().join("backup").display().to_string();
    assert!(run(&database, &["backup", &backup]).await.status.success());
    for name in ["lectern.db", "lectern.db.audit"] {
        let file = fs::OpenOptions::new()
            .write(true)
            .open(database.folder().join(name));
        let file = file.expect("the database");
        let pages = file.metadata().expect("its size").len() / 4096;
        for page in pages / 2..pages {
            file.write_all_at(&[0x5a; 4096], page * 4096).expect("room");
        }
        let damaged = run(&database, &["doctor"]).await;
        assert!(!damaged.status.success(), "{name}");
        assert!(text(&damaged.stderr).contains("is damaged"), "{damaged:?}");
        assert!(!text(&damaged.stdout).contains("up to date"), "{damaged:?}");
        let restored = run(&database, &["restore", &backup, "--force"]).await;
        assert!(restored.status.success(), "{restored:?}");
        assert!(run(&database, &["doctor"]).await.status.success());
    }
    let nonsense = database.folder().join("nonsense");
    fs::write(&nonsense, "this is no database").expect("room");
    let refused = run(
        &database,
        &["restore", &nonsense.display().to_string(), "--force"],
    )
    .await;
    assert!(text(&refused.stderr).contains("is damaged"), "{refused:?}");
    assert!(
        run(&database, &["doctor"]).await.status.success(),
        "nothing was replaced"
    );
}

both! {
    async fn backups_of_another_program_are_left_to_it(database: Database) {
        if database.backend() == Backend::Sqlite {
            return;
        }
        let made = run(&database, &["backup", "x"]).await;
        assert!(text(&made.stderr).contains("pg_dump"), "{made:?}");
        let restored = run(&database, &["restore", "x"]).await;
        assert!(text(&restored.stderr).contains("pg_restore"), "{restored:?}");
    }
}

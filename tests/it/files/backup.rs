//! Backups hold the files that rows name; what is damaged, in them or where the service has it, is named and keeps
//! nobody from the rest.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use entity_core::Registry;
use entity_core::blob::{Blob, Blobs};
use http::{Method, StatusCode};
use server::operate::files::{DiskStore, copy};
use server::operate::storage;
use tests::process::{run, text};
use tests::{Backend, Client, Database, OnBackend as _, TestApp, both};

use super::{Gallery, SITE, drawn, form, multipart, send};

async fn disk(folder: PathBuf) -> Blobs {
    Blobs::new(DiskStore::open(folder).await.expect("a folder"))
}

/// Returns the path of the file with these bytes in the store in `folder`.
pub(super) fn place(folder: &Path, bytes: &[u8]) -> PathBuf {
    let digest = Blob::of(bytes).digest();
    let part = digest.get(..2).expect("digits");
    folder.join(part).join(format!("{digest}.{}", bytes.len()))
}

#[tokio::test]
async fn a_backup_holds_the_files_that_its_rows_name() {
    let app = Gallery::on_backend(Backend::Sqlite).await.expect("SQLite");
    let registry = app.0.service().dispatcher.registry().clone();
    let teacher = app.teacher().await;
    let path = drawn(&teacher, "a.png", b"first").await;
    drawn(&teacher, "b.png", b"other").await;
    let folder = app.0.database().folder();
    let file = folder.join("backup.db");
    let store = disk(folder.join("files")).await;
    let url = app.0.database().url();
    storage::backup(url, &file, false, |_| {}).expect("a backup");
    let made = copy::backup(&store, &file, &registry, |_| {}).await;
    let made = made.expect("its files");
    assert_eq!((made.count, made.damaged.len()), (2, 0));
    // What came later is none of its files.
    let later = b"second".to_vec();
    send(&teacher, &format!("{path}/picture"), "b.png", later).await;
    let again = copy::backup(&store, &file, &registry, |_| {}).await;
    assert_eq!(again.expect("its files").count, 2);
    assert!(!place(&copy::of_backup(&file), b"second").exists());

    let other = folder.join("other");
    let store = disk(other.clone()).await;
    let restored = copy::restore(&file, &store, None, &registry, |_| {}).await;
    assert_eq!(restored.expect("files").count, 2);
    for bytes in [&b"first"[..], b"other"] {
        assert_eq!(fs::read(place(&other, bytes)).expect("a file"), bytes);
    }
    let sites = Registry::new([]).expect("no types");
    let unlinked = copy::backup(&store, &file, &sites, |_| {}).await;
    assert_eq!(
        unlinked.expect("no files").count,
        0,
        "nothing says that there are such types"
    );
}

/// The contents of the files of a teacher, by their names.
const FILES: [(&str, &[u8]); 4] = [
    ("whole.txt", b"this stays"),
    ("changed.txt", b"these were the bytes"),
    ("gone.txt", b"it will be missed"),
    ("short.txt", b"a long story, cut short"),
];

async fn upload(teacher: &Client) {
    for (name, bytes) in FILES {
        let body = form(&[("siteId", SITE)], &[("file", name, bytes)]);
        let (path, kind) = ("/direct/content.json", multipart());
        let sent = teacher.send(Method::POST, path, &kind, body.into()).await;
        sent.expect(StatusCode::CREATED);
    }
}

/// Changes one of the files in the store in `folder`, removes one, and cuts one short.
fn damage(folder: &Path) {
    let [_, changed, gone, short] = FILES.map(|it| place(folder, it.1));
    fs::write(changed, b"these are other ones").expect("room");
    fs::remove_file(gone).expect("it was there");
    fs::write(short, b"a long").expect("room");
}

/// Asserts that the program failed, and named the files by title, site and state.
fn assert_named(done: &Output, states: [&str; 3]) {
    let told = text(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    for ((name, _), state) in FILES.iter().skip(1).zip(states) {
        let named = |it: &&str| it.contains(name) && it.ends_with(state);
        let line = told.lines().find(named);
        let line = line.unwrap_or_else(|| panic!("no `{name}` that {state} in {told}"));
        assert!(
            line.contains("in the site \"Biology 101: Cells and Life\" (biology-101)"),
            "{line}"
        );
    }
    assert!(
        told.contains("3 of ") && !told.contains("whole.txt"),
        "{told}"
    );
}

const STATES: [&str; 3] = ["has other bytes", "is missing", "has 6 of 23 bytes"];

#[tokio::test]
async fn y10_backup_restore_and_doctor_name_what_is_not_whole_and_keep_the_rest() {
    let app = TestApp::with_settings(Backend::Sqlite, &[])
        .await
        .expect("SQLite");
    // The book is told of them in an hour; their rows name them now.
    upload(&app.user("instructor1").await).await;
    let database = app.database();
    let files = database.folder().join("files");
    let backup = database.folder().join("backup.db");
    let (name, copies) = (backup.display().to_string(), copy::of_backup(&backup));
    let made = run(database, &["backup", &name]).await;
    assert!(made.status.success(), "{made:?}");
    for (name, bytes) in FILES {
        assert_eq!(fs::read(place(&copies, bytes)).expect(name), bytes);
    }

    damage(&copies);
    let restored = Database::on_backend(Backend::Sqlite).await.expect("a file");
    let done = run(&restored, &["restore", &name]).await;
    assert_named(&done, STATES);
    assert!(
        text(&done.stdout).contains("restored and up to date"),
        "{done:?}"
    );
    let there = restored.folder().join("files");
    assert!(place(&there, FILES[0].1).exists() && !place(&there, FILES[1].1).exists());
    // All that is not whole was left out, so that it is missing there.
    for arguments in [&["doctor"][..], &["doctor", "--integrity"]] {
        let told = run(&restored, arguments).await;
        assert_named(&told, ["is missing"; 3]);
        assert!(
            !text(&told.stdout).contains("fit for production"),
            "{told:?}"
        );
    }

    // The next backup to the same place makes the copies anew.
    let mended = run(database, &["backup", &name, "--force"]).await;
    assert!(mended.status.success(), "{mended:?}");
    for (name, bytes) in FILES {
        assert_eq!(fs::read(place(&copies, bytes)).expect(name), bytes);
    }
    let healed = run(&restored, &["restore", &name, "--force"]).await;
    assert!(healed.status.success(), "{healed:?}");
    let told = run(&restored, &["doctor", "--integrity"]).await;
    assert!(told.status.success(), "{told:?}");
    assert!(text(&told.stdout).contains("looked at "), "{told:?}");

    damage(&copies);
    damage(&files);
    assert_named(&run(database, &["backup", &name, "--force"]).await, STATES);
    assert_named(&run(database, &["doctor", "--integrity"]).await, STATES);
    // Without reading, a file of the same length looks well.
    let counted = run(database, &["doctor"]).await;
    assert!(
        !counted.status.success() && text(&counted.stderr).contains("2 of "),
        "{counted:?}"
    );
}

both! {
    async fn y10_the_doctor_counts_the_files_that_rows_name(app: TestApp) {
        upload(&app.user("instructor1").await).await;
        let files = app.database().folder().join("files");
        for arguments in [&["doctor"][..], &["doctor", "--integrity"]] {
            let told = run(app.database(), arguments).await;
            assert!(told.status.success(), "{told:?}");
            let line = text(&told.stdout).lines().find(|it| it.ends_with("of them not whole"));
            let numbers = line.expect("a line about the files").split(' ');
            let numbers: Vec<u32> = numbers.filter_map(|it| it.parse().ok()).collect();
            assert!(matches!(numbers[..], [named, 0] if named >= 4), "{line:?}");
        }
        damage(&files);
        assert_named(&run(app.database(), &["doctor", "--integrity"]).await, STATES);
    }
}

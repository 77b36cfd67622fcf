//! Backups hold the files that rows name, and none is restored without them.

use std::fs;
use std::path::PathBuf;

use entity_core::blob::{Blob, Blobs};
use server::operate::files::{DiskStore, copy};
use server::operate::storage;
use tests::{Backend, OnBackend as _};

use super::{Gallery, drawn, send};

async fn disk(folder: PathBuf) -> Blobs {
    Blobs::new(DiskStore::open(folder).await.expect("a folder"))
}

#[tokio::test]
async fn a_backup_holds_the_files_and_is_refused_without_them() {
    let app = Gallery::on_backend(Backend::Sqlite).await.expect("SQLite");
    let teacher = app.teacher().await;
    let path = drawn(&teacher, "a.png", b"first").await;
    // By then the book knows that a row names it.
    app.0.advance(chrono::TimeDelta::minutes(61));
    app.0.service().sweep().await.expect("a sweep");
    let folder = app.0.database().folder();
    let file = folder.join("backup.db");
    let store = disk(folder.join("files")).await;
    let url = app.0.database().url();
    storage::backup(url, &file, false, |_| {}).expect("a backup");
    assert_eq!(copy::backup(&store, &file).await.expect("its files"), 1);
    let teacher = app.teacher().await;
    send(
        &teacher,
        &format!("{path}/picture"),
        "b.png",
        b"second".to_vec(),
    )
    .await;
    assert_eq!(copy::backup(&store, &file).await.expect("its files"), 2);

    let other = folder.join("other");
    let restored = copy::restore(&file, &disk(other.clone()).await, None).await;
    assert_eq!(restored.expect("files"), 2);
    for bytes in [&b"first"[..], b"second"] {
        let digest = Blob::of(bytes).digest();
        let part = digest.get(..2).expect("digits");
        let name = format!("{part}/{digest}.{}", bytes.len());
        assert_eq!(fs::read(other.join(name)).expect("a file"), bytes);
    }
    fs::remove_dir_all(copy::of_backup(&file)).expect("a folder of ours");
    let third = disk(folder.join("third")).await;
    let refused = copy::restore(&file, &third, None).await;
    let refused = refused.expect_err("a file is missing");
    assert!(
        refused.message().contains("1 stored files are missing"),
        "{refused}"
    );
    assert_eq!(third.store().owner().await.expect("a store"), None);
}

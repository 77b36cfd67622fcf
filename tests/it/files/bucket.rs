//! Stores: the folder and the bucket do the same; and a store belongs to one database.

use std::fs;
use std::time::Duration;

use bytes::Bytes;
use entity_core::blob::{Blob, BlobStore as _, Blobs};
use futures::TryStreamExt as _;
use http::StatusCode;
use object_store::aws::AmazonS3Builder;
use object_store::multipart::MultipartStore as _;
use object_store::path::Path;
use object_store::{ObjectStoreExt as _, PutPayload};
use server::base::config::{Bucket, Value as _};
use server::operate::files::{DiskStore, S3Store, copy};
use server::{App, operate::storage};
use tests::bucket::{BUCKET, BucketServer, KEY};
use tests::process::{service, text};
use tests::{Backend, Database, OnBackend as _, TestApp, app, both};

use super::backup::place;
use super::{Gallery, draw, drawn, route};

/// Beyond what is sent at once.
const LARGE: usize = 11 << 20;

async fn in_bucket(server: &BucketServer) -> S3Store {
    let config = app::config("sqlite://unused.db", &server.settings());
    let bucket = Bucket::parse("s3://lectern/a/prefix").expect("an address");
    S3Store::open(&bucket, &config.files)
        .await
        .expect("settings that go together")
}

async fn put(store: &Blobs, bytes: impl Into<Bytes>) -> Blob {
    let mut incoming = store.begin().await.expect("a file");
    let mut rest: Bytes = bytes.into();
    while !rest.is_empty() {
        let piece = rest.split_to(rest.len().min(100_000));
        incoming.write(piece).await.expect("room");
    }
    let received = incoming.finish().await.expect("a file");
    received.keep().await.expect("a name")
}

/// Checks the contract of every store.
async fn does_what_a_store_does(store: Blobs) {
    store.store().check().await.expect("a store that works");
    let large: Vec<u8> = (0..LARGE)
        .map(|it| it.to_le_bytes()[1] ^ it.to_le_bytes()[2])
        .collect();
    let all = [
        put(&store, "0123456789").await,
        put(&store, "").await,
        put(&store, large.clone()).await,
    ];
    for (blob, bytes) in all.iter().zip([&b"0123456789"[..], b"", &large[..]]) {
        let whole = store.read(blob, u64::MAX).await.expect("the file");
        assert!(whole == bytes, "{blob:?}");
    }
    // Equal files are one.
    assert_eq!(put(&store, large.clone()).await, all[2]);
    for (range, blob) in [
        (2..5, &all[0]),
        (9..10, &all[0]),
        (4 << 20..6 << 20, &all[2]),
    ] {
        let part = store.open(blob, range.clone()).await.expect("the file");
        let part: Vec<Bytes> = part.try_collect().await.expect("its bytes");
        let place = |it: u64| usize::try_from(it).expect("a small file");
        let (first, behind) = (place(range.start), place(range.end));
        let expected = if blob == &all[0] {
            &b"0123456789"[..]
        } else {
            &large[..]
        };
        assert!(part.concat() == expected[first..behind], "{range:?}");
    }
    let gone = Blob::of(b"never stored");
    assert!(store.open(&gone, 0..1).await.is_err());
    lists_and_forgets(store, all).await;
}

/// It lists what it has, forgets what is deleted or was left, and knows its owner.
async fn lists_and_forgets(store: Blobs, mut all: [Blob; 3]) {
    let at_once = Duration::ZERO;
    all.sort_unstable();
    assert_eq!(
        store.store().list(None, 9, at_once).await.expect("a list"),
        all
    );
    assert_eq!(
        store.store().list(None, 2, at_once).await.expect("a list"),
        all[..2]
    );
    assert_eq!(
        store
            .store()
            .list(Some(&all[0]), 9, at_once)
            .await
            .expect("a list"),
        all[1..]
    );
    assert_eq!(
        store
            .store()
            .list(Some(&all[2]), 9, at_once)
            .await
            .expect("a list"),
        []
    );
    let old = store.store().list(None, 9, Duration::from_mins(1)).await;
    assert_eq!(old.expect("a list"), []);
    let mut left = store.begin().await.expect("a file");
    left.write("left behind".into()).await.expect("room");
    drop(left);
    for _ in 0..2 {
        store.store().delete(&all[0]).await.expect("it goes");
    }
    store.store().clean(at_once).await.expect("it is cleaned");
    assert_eq!(
        store.store().list(None, 9, at_once).await.expect("a list"),
        all[1..]
    );
    assert_eq!(store.store().owner().await.expect("an answer"), None);
    for owner in ["one", "another"] {
        store.store().set_owner(owner).await.expect("a note");
        assert_eq!(
            store.store().owner().await.expect("an answer").as_deref(),
            Some(owner)
        );
    }
    assert_eq!(
        store.store().list(None, 9, at_once).await.expect("a list"),
        all[1..]
    );
}

#[tokio::test]
async fn a_folder_is_a_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = DiskStore::open(folder.path().join("files"))
        .await
        .expect("a store");
    does_what_a_store_does(Blobs::new(store)).await;
}

#[tokio::test]
async fn a_bucket_is_a_store() {
    let server = BucketServer::start().await;
    does_what_a_store_does(Blobs::new(in_bucket(&server).await)).await;
    assert_eq!(server.objects().len(), 3, "{:?}", server.objects());
    assert!(server.parts().is_empty(), "{:?}", server.parts());
}

#[tokio::test]
async fn what_was_begun_in_parts_when_a_node_stopped_is_removed() {
    let server = BucketServer::start().await;
    let store = in_bucket(&server).await;
    let client = AmazonS3Builder::new()
        .with_bucket_name(BUCKET)
        .with_endpoint(server.endpoint())
        .with_allow_http(true)
        .with_access_key_id(KEY.0)
        .with_secret_access_key(KEY.1)
        .build()
        .expect("a client");
    let blob = Blob::of(b"it never came whole");
    let path = Path::from(format!("a/prefix/files/{}.{}", blob.digest(), blob.size()));
    let id = client.create_multipart(&path).await.expect("a beginning");
    let note = format!("{}\n{id}", blob.to_column());
    let place = Path::from("a/prefix/new/note");
    let noted = client.put(&place, PutPayload::from(note)).await;
    noted.expect("a note");
    let part = client.put_part(&path, &id, 0, PutPayload::from_static(b"half"));
    part.await.expect("a part");
    assert!(!server.parts().is_empty());
    store
        .clean(Duration::from_mins(1))
        .await
        .expect("nothing is old");
    assert_eq!(server.objects(), ["new/note"]);
    store.clean(Duration::ZERO).await.expect("it goes");
    assert_eq!(server.objects(), [""; 0]);
    assert!(server.parts().is_empty(), "{:?}", server.parts());
}

both! {
async fn a_service_has_its_files_in_a_bucket(app: Gallery) {
    let server = BucketServer::start().await;
    let app = app.in_bucket(&server).await;
    let teacher = app.0.user("instructor1").await;
    let bytes: Vec<u8> = (0..LARGE).map(|it| it.to_le_bytes()[2]).collect();
    let large = drawn(&teacher, "large.png", &bytes).await;
    let small = drawn(&teacher, "small.png", b"small").await;
    assert_eq!(server.objects().len(), 3, "{:?}", server.objects());
    let whole = teacher.get(&format!("{large}/picture")).await;
    assert!(whole.body == bytes);
    let range = http::header::RANGE;
    let part = teacher.clone().with_header(range, "bytes=6000000-6000009");
    let part = part.get(&format!("{large}/picture")).await;
    assert_eq!((part.status, &part.body[..]), (StatusCode::PARTIAL_CONTENT, &bytes[6_000_000..6_000_010]));
    // The book has to find out first that no row names it.
    teacher.delete(&large).await.expect(StatusCode::NO_CONTENT);
    for _ in 0..3 {
        app.0.advance(chrono::TimeDelta::minutes(61));
        app.0.service().sweep().await.expect("a sweep");
    }
    assert_eq!(server.objects().len(), 2, "{:?}", server.objects());
    let teacher = app.0.user("instructor1").await;
    assert_eq!(teacher.get(&format!("{small}/picture")).await.body, "small");
    server.stop();
    tokio::time::sleep(Duration::from_millis(50)).await;
    let lost = teacher.get(&format!("{small}/picture")).await;
    lost.expect(StatusCode::SERVICE_UNAVAILABLE);
    let refused = draw(&teacher, "b.png", b"other").await;
    refused.expect(StatusCode::SERVICE_UNAVAILABLE);
    teacher.get("/direct/site.json").await.expect(StatusCode::OK);
}

async fn rel_12_a_node_with_a_folder_of_its_own_does_not_start(app: TestApp) {
    let database = app.into_database();
    let own = database.folder().join("own").display().to_string();
    let start = async |folder: &str| {
        let config = app::config(database.url(), &[("files.folder", folder)]);
        let started = App::start(config, app::parts(std::sync::Arc::default())).await;
        started.map(drop).map_err(|it| it.to_string())
    };
    let refused = start(&own).await.expect_err("its files are elsewhere");
    assert!(refused.contains("does not hold the files of this database"), "{refused}");
    assert!(!fs::exists(format!("{own}/database")).expect("an answer"));
    let shared = database.folder().join("files").display().to_string();
    start(&shared).await.expect("the folder that all nodes share");
    let id = fs::read_to_string(format!("{shared}/database")).expect("the note");
    // As the message says, for whoever knows that it is the right place.
    fs::write(format!("{own}/database"), format!("{id}\n")).expect("room");
    start(&own).await.expect("the operator knows");
    fs::write(format!("{own}/database"), "another").expect("room");
    let refused = start(&own).await.expect_err("these are the files of another database");
    assert!(refused.contains("holds the files of another database (another; "), "{refused}");
}
}

impl Gallery {
    /// The service, whose files move into the bucket.
    pub(super) async fn in_bucket(self, server: &BucketServer) -> Self {
        let database = self.0.into_database();
        let id = fs::read_to_string(database.folder().join("files/database"));
        let store = in_bucket(server).await;
        let noted = store
            .set_owner(&id.expect("the note of the old store"))
            .await;
        noted.expect("a store");
        Self(TestApp::start_with_type(database, route(), &server.settings()).await)
    }
}

#[tokio::test]
async fn a_backup_holds_the_files_of_a_bucket() {
    let server = BucketServer::start().await;
    let app = Gallery::on_backend(Backend::Sqlite).await.expect("SQLite");
    let app = app.in_bucket(&server).await;
    let teacher = app.0.user("instructor1").await;
    drawn(&teacher, "a.png", b"in the bucket").await;
    let folder = app.0.database().folder();
    let file = folder.join("backup.db");
    storage::backup(app.0.database().url(), &file, false, |_| {}).expect("a backup");
    let store = Blobs::new(in_bucket(&server).await);
    let registry = app.0.service().dispatcher.registry().clone();
    let made = copy::backup(&store, &file, &registry, |_| {}).await;
    assert_eq!(made.expect("its files").count, 1);
    assert!(!copy::of_backup(&file).join("new").exists());
    let restore = async |to: &Blobs| copy::restore(&file, to, None, &registry, |_| {}).await;
    let owner = store.store().owner().await.expect("an answer");
    let refused = restore(&elsewhere(&folder, Some("another")).await).await;
    let refused = refused.expect_err("it is another database's");
    assert!(
        refused.message().contains("those of another database"),
        "{refused}"
    );
    let other = elsewhere(&folder, None).await;
    assert_eq!(restore(&other).await.expect("files").count, 1);
    assert_eq!(other.store().owner().await.expect("an answer"), owner);
    let blob = Blob::of(b"in the bucket");
    let second = BucketServer::start().await;
    let second = Blobs::new(in_bucket(&second).await);
    assert_eq!(restore(&second).await.expect("files").count, 1);
    for store in [&other, &second] {
        let bytes = store.read(&blob, 99).await.expect("the file");
        assert_eq!(bytes, b"in the bucket");
    }
    let path = place(&copy::of_backup(&file), b"in the bucket");
    fs::write(path, b"in the mucket").expect("room");
    let third = BucketServer::start().await;
    let third = Blobs::new(in_bucket(&third).await);
    let damaged = restore(&third).await.expect("what is whole");
    let told = damaged.damage().expect("a file");
    assert!(
        told.contains("\"a.png\" in the site \"Biology 101: Cells and Life\""),
        "{told}"
    );
    assert!(told.ends_with("has other bytes"), "{told}");
    // A copy in the bucket is read too, and made anew.
    let damaged = format!("files/{}.13", blob.digest());
    fs::write(server.place(&damaged), b"in the mucket").expect("room");
    assert_eq!(restore(&store).await.expect("an answer").damaged.len(), 1);
    assert!(store.check(&Blob::of(b"none"), true).await.is_err());
    server.stop();
    assert!(restore(&store).await.is_err());
}

async fn elsewhere(folder: &std::path::Path, owner: Option<&str>) -> Blobs {
    let folder = folder.join(owner.unwrap_or("new place"));
    let store = DiskStore::open(folder).await.expect("a store");
    if let Some(owner) = owner {
        store.set_owner(owner).await.expect("a note");
    }
    Blobs::new(store)
}

#[tokio::test]
async fn a_bucket_that_lets_nobody_in_is_told_at_the_start() {
    let server = BucketServer::start().await;
    let mut settings = server.settings();
    settings[3].1 = "not-the-secret";
    let database = Database::on_backend(Backend::Sqlite).await.expect("a file");
    let config = app::config(database.url(), &settings);
    let started = App::start(config, app::parts(std::sync::Arc::default())).await;
    let refused = started.map(drop).expect_err("the key is wrong");
    let refused = format!("{refused:?}");
    assert!(
        refused.contains("s3://lectern/a/prefix") && refused.contains("`files.secretKey`"),
        "{refused}"
    );
    assert!(!refused.contains("not-the-secret"), "{refused}");
}

#[tokio::test]
async fn conf_1_production_on_a_server_needs_a_store_that_nodes_share() {
    let Some(database) = Database::on_backend(Backend::Postgres).await else {
        return;
    };
    let refused = tokio::process::Command::new(service(false))
        .args([
            "--profile",
            "production",
            "--listen",
            "127.0.0.1:0",
            "--database",
        ])
        .arg(database.url())
        .current_dir(database.folder())
        .kill_on_drop(true)
        .output();
    let refused = tokio::time::timeout(Duration::from_mins(1), refused).await;
    let refused = refused.expect("it refuses").expect("it runs");
    assert!(!refused.status.success());
    let told = text(&refused.stderr);
    assert!(
        told.contains("a folder that all nodes of the service share"),
        "{told}"
    );
    assert!(!database.folder().join("lectern.files").exists());
}

//! Names that were made to do harm: none of them becomes a path, a header or a script.

use std::fs;
use std::path::Path;

use http::StatusCode;
use http::header::CONTENT_DISPOSITION;
use tests::{Backend, both};

use super::{Gallery, SITE, draw, drawn, form, multipart};

/// All files and folders below `folder`, by their paths within it.
fn names(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        found.push(entry.file_name().display().to_string());
        if entry.path().is_dir() {
            found.extend(names(&entry.path()));
        }
    }
    found
}

both! {
async fn no_name_becomes_a_path_or_breaks_a_header(app: Gallery) {
    let teacher = app.teacher().await;
    let long = "x".repeat(255);
    for (sent, title) in [
        ("../../../../tmp/escaped", "escaped"),
        ("..\\..\\escaped", "escaped"),
        ("/etc/passwd", "passwd"),
        ("con", "con"),
        ("aux.txt", "aux.txt"),
        ("\u{1f9ec}\u{10348}.png", "\u{1f9ec}\u{10348}.png"),
        ("a;b=c'd.png", "a;b=c'd.png"),
        ("<script>alert(1)<x>", "<script>alert(1)<x>"),
        (long.as_str(), long.as_str()),
        (" .hidden ", ".hidden"),
    ] {
        let path = drawn(&teacher, sent, sent.as_bytes()).await;
        let read = teacher.get(&format!("{path}.json")).await.json();
        assert_eq!(read["title"], title, "{sent}");
        let shown = teacher.get(&format!("{path}/picture")).await;
        shown.expect(StatusCode::OK);
        let told = shown.header(CONTENT_DISPOSITION).expect("visible letters");
        assert!(told.is_ascii() && told.matches('"').count() == 2, "{told}");
    }
    for refused in ["..", "a\0b", "a\tb", "a\u{202e}gpj.exe", &"x".repeat(256)] {
        let answer = draw(&teacher, refused, b"x").await;
        answer.expect(StatusCode::BAD_REQUEST);
    }
    for name in names(&app.0.database().folder().join("files")) {
        let is_ours = name == "new" || name == "database" || name.bytes().all(|it| it.is_ascii_hexdigit() || it == b'.');
        assert!(is_ours, "{name}");
    }
    assert!(!Path::new("/tmp/escaped").exists());
}
}

#[tokio::test]
async fn a_store_that_fails_refuses_the_file_and_loses_nothing() {
    let app = Gallery::with(Backend::Sqlite, &[]).await.expect("SQLite");
    let teacher = app.teacher().await;
    let path = drawn(&teacher, "a.png", b"first").await;
    // Without the folder nothing can be begun, whoever runs the test.
    let folder = app.0.database().folder().join("files");
    fs::rename(folder.join("new"), folder.join("gone")).expect("a folder of ours");
    let refused = draw(&teacher, "b.png", b"second").await;
    refused.expect(StatusCode::SERVICE_UNAVAILABLE);
    assert!(!refused.text().contains("files"), "{}", refused.text());
    fs::rename(folder.join("gone"), folder.join("new")).expect("a folder of ours");
    let shown = teacher.get(&format!("{path}/picture")).await;
    assert_eq!(shown.body, "first");
    drawn(&teacher, "b.png", b"second").await;
}

#[tokio::test]
async fn nobody_names_the_bytes_of_others() {
    let app = Gallery::with(Backend::Sqlite, &[]).await.expect("SQLite");
    let teacher = app.teacher().await;
    drawn(&teacher, "a.png", b"secret").await;
    let blob = entity_core::blob::Blob::of(b"secret").to_column();
    let fields = serde_json::json!({"siteId": SITE, "picture": blob});
    let named = teacher.post("/direct/drawing.json", &fields).await;
    assert_ne!(named.status, StatusCode::CREATED);
    let body = form(&[("siteId", SITE), ("picture", &blob)], &[]);
    let named = teacher
        .send(
            http::Method::POST,
            "/direct/drawing",
            &multipart(),
            body.into(),
        )
        .await;
    assert_ne!(named.status, StatusCode::CREATED);
}

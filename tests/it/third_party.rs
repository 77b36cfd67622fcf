//! A type of entity from another crate, in another workspace, in a binary of its own.
//!
//! Building it takes a while, so it is left out unless `CI` is set.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use http::StatusCode;
use serde_json::json;
use tests::process::{Process, build};
use tests::{Backend, Client, Database, OnBackend};

const FORMATS: [(&str, &str); 7] = [
    ("json", "application/json"),
    ("xml", "application/xml"),
    ("html", "text/html"),
    ("atom", "application/atom+xml"),
    ("rss", "application/rss+xml"),
    ("csv", "text/csv"),
    // The third party's own.
    ("txt", "text/plain"),
];

/// Builds the example with the versions that the service itself is built with.
fn build_example() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let example = tests.join("third-party");
    let workspace = tests
        .parent()
        .expect("this crate lies in the workspace's folder");
    fs::copy(workspace.join("Cargo.lock"), example.join("Cargo.lock")).expect("a copy");
    let target = workspace.join("target");
    let target = target.to_str().expect("a path of text");
    build(
        &example,
        &[
            "--offline",
            "--target-dir",
            target,
            "--bin",
            "library-shelf",
        ],
    )
}

#[tokio::test]
async fn a_type_of_a_third_party_is_served_in_every_format() {
    if env::var_os("CI").is_none() {
        eprintln!("CI is not set: the crate of a third party is not built");
        return;
    }
    let program = build_example();
    let database = Database::on_backend(Backend::Sqlite).await.expect("a file");
    let process = Process::start_service(&program, &database, true);
    let admin = Client::on_port(process.port())
        .log_in("admin", "lectern-demo")
        .await;

    let book = json!({"siteId": "biology-101", "title": "On the Origin of Species"});
    let created = admin.post("/direct/book.json", &book).await;
    created.expect(StatusCode::CREATED);
    let id = created
        .header("EntityId")
        .expect("the id of what was created");

    for (extension, media_type) in FORMATS {
        let one = admin.get(&format!("/direct/book/{id}.{extension}")).await;
        let list = admin
            .get(&format!("/direct/book.{extension}?siteId=biology-101"))
            .await;
        for answer in [one, list] {
            answer.expect(StatusCode::OK);
            assert!(
                answer.text().contains("On the Origin of Species"),
                "{extension}"
            );
            let given = answer.header("content-type").unwrap_or_default();
            assert!(given.starts_with(media_type), "{extension} is {given}");
        }
    }

    let hour = json!({
        "siteId": "biology-101",
        "title": "Office hour",
        "start": "2026-12-07T09:00:00Z",
        "end": "2026-12-07T10:00:00Z",
    });
    let created = admin.post("/direct/appointment.json", &hour).await;
    created.expect(StatusCode::CREATED);
    let calendar = admin.get("/direct/appointment.ics").await;
    let calendar = calendar.expect(StatusCode::OK).text();
    assert!(
        calendar.contains("DTSTART:20261207T090000Z\r\n"),
        "{calendar}"
    );
    let refused = admin.get(&format!("/direct/book/{id}.ics")).await;
    refused.expect(StatusCode::NOT_ACCEPTABLE);
    assert!(refused.text().contains("txt"), "{}", refused.text());

    let stranger = Client::on_port(process.port());
    let refused = stranger.get(&format!("/direct/book/{id}.json")).await;
    refused.expect(StatusCode::UNAUTHORIZED);
    process.stop();
}

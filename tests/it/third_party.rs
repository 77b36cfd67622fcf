//! A type of entity from another crate, in another workspace, in a binary of its own.
//!
//! The compiler links it against what the tests were built with. With `FULL=1`, cargo builds it as it would for a third
//! party, from its own manifest; that takes a while.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use http::StatusCode;
use serde_json::json;
use tempfile::TempDir;
use tests::artefacts::Artefacts;
use tests::process::{Process, build, root};
use tests::{Backend, Client, Database, OnBackend};

const EXAMPLE: &str = "tests/third-party";
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

/// The crate as its manifest has it, built with the versions that the service itself is built with.
fn build_example() -> PathBuf {
    let workspace = root();
    let example = workspace.join(EXAMPLE);
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

/// The same by the compiler alone, in `folder`.
fn link_example(folder: &Path) -> PathBuf {
    let artefacts = Artefacts::of_workspace();
    let library = ["--crate-type=lib", "--crate-name=library_shelf"].map(ToOwned::to_owned);
    let file = folder.join("liblibrary_shelf.rlib");
    let program = [
        "--crate-name=shelf".to_owned(),
        "--extern".to_owned(),
        format!("library_shelf={}", file.display()),
    ];
    for (source, arguments) in [("lib.rs", &library[..]), ("main.rs", &program[..])] {
        let output = artefacts.compile(&format!("{EXAMPLE}/src/{source}"), folder, arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{source}: {said}");
    }
    folder.join("shelf")
}

#[tokio::test]
async fn a_type_of_a_third_party_is_served_in_every_format() {
    let folder = TempDir::new().expect("a folder for temporary files can be made");
    let program = match env::var_os("FULL") {
        Some(_) => build_example(),
        None => link_example(folder.path()),
    };
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

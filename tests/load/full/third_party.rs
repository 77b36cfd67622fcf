//! A type of entity from another crate, in another workspace, in a binary of its own.
//!
//! The compiler links it against what the tests were built with. With `FULL=1`, cargo builds it as it would for a third
//! party, from its own manifest; that takes a while.

mod endpoint;
mod files;

use std::fs;
use std::path::{Path, PathBuf};

use http::StatusCode;
use load::artefacts::Artefacts;
use load::process::{Process, build, root};
use load::{Backend, Client, Database, OnBackend, is_full};
use serde_json::json;
use tempfile::TempDir;

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
    let library = ["--crate-type=lib", "--crate-name=library_shelf"].map(ToOwned::to_owned);
    let library = link("lib.rs", folder, &library, "liblibrary_shelf.rlib");
    let program = [
        "--crate-name=shelf".to_owned(),
        "--extern".to_owned(),
        format!("library_shelf={}", library.display()),
    ];
    link("main.rs", folder, &program, "shelf")
}

/// Compiles a source of the example, and returns the file by the name `made` in `folder`.
fn link(source: &str, folder: &Path, arguments: &[String], made: &str) -> PathBuf {
    let source = format!("{EXAMPLE}/src/{source}");
    let output = Artefacts::of_workspace().compile(&source, folder, arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{source}: {said}");
    folder.join(made)
}

#[tokio::test]
async fn a_type_of_a_third_party_is_served_in_every_format() {
    let folder = TempDir::new().expect("a folder for temporary files can be made");
    let program = match is_full() {
        true => build_example(),
        false => link_example(folder.path()),
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

    loans_are_seen_by_their_borrowers(&process).await;
    files::large_files_are_never_in_memory(&process, &admin);

    let stranger = Client::on_port(process.port());
    let refused = stranger.get(&format!("/direct/book/{id}.json")).await;
    refused.expect(StatusCode::UNAUTHORIZED);
    process.stop();
}

/// Those who deal with loans.
struct Desk {
    /// May do everything.
    instructor: Client,
    /// Sees all loans and changes none.
    assistant: Client,
    /// Borrows something.
    ada: Client,
    /// Sees none.
    bob: Client,
}

impl Desk {
    async fn open(process: &Process) -> Self {
        let client = |eid: &'static str| async move {
            let client = Client::on_port(process.port());
            client.log_in(eid, "lectern-demo").await
        };
        Self {
            instructor: client("instructor1").await,
            assistant: client("ta1").await,
            ada: client("student1").await,
            bob: client("student2").await,
        }
    }
}

/// The rule of the type of loans, in lists, counts, searches and single entities, its check, its action and its
/// functions.
async fn loans_are_seen_by_their_borrowers(process: &Process) {
    let desk = Desk::open(process).await;
    let session = desk.ada.get("/direct/session/current.json").await.json();
    let borrower = session["userId"].as_str().expect("an id").to_owned();
    let mut loan = json!({
        "siteId": "biology-101", "borrower": borrower, "item": "Beamer", "due": "2001-01-01T00:00:00Z",
    });
    let refused = desk.instructor.post("/direct/loan.json", &loan).await;
    refused.expect(StatusCode::BAD_REQUEST);
    let text = refused.text();
    assert!(text.contains("must be in the future"), "{text}");
    loan["due"] = json!("2101-01-01T00:00:00Z");
    // By an id that there is not, by an external id, and a person who is no member of the site.
    let admin = Client::on_port(process.port())
        .log_in("admin", "lectern-demo")
        .await;
    let admin = admin.get("/direct/session/current.json").await.json();
    let stranger = admin["userId"].as_str().expect("an id");
    for borrower in ["nobody", "student1", stranger] {
        let mut wrong = loan.clone();
        wrong["borrower"] = json!(borrower);
        let refused = desk.instructor.post("/direct/loan.json", &wrong).await;
        refused.expect(StatusCode::BAD_REQUEST);
        let text = refused.text();
        assert!(text.contains("must be a member of the site"), "{text}");
    }
    let refused = desk.ada.post("/direct/loan.json", &loan).await;
    refused.expect(StatusCode::FORBIDDEN);
    let made = desk.instructor.post("/direct/loan.json", &loan).await;
    made.expect(StatusCode::CREATED);
    let path = format!("/direct/loan/{}", made.header("EntityId").expect("an id"));
    for who in [&desk.instructor, &desk.assistant, &desk.ada] {
        is_shown(who, &path, 1).await;
        let one = who.get(&format!("{path}.json")).await.json();
        assert_eq!(one["borrowerName"], "Ada Moreau");
        assert!(one.get("facts").is_none(), "{one}");
    }
    is_shown(&desk.bob, &path, 0).await;
    endpoint::loans_are_listed_as_far_as_they_are_seen(process, &desk).await;
    endpoint::equipment_is_lent(&desk, &borrower).await;
    endpoint::endpoints_are_described(process).await;
    is_planned_and_shared(&desk, &path).await;
    is_given_back(&desk, &path).await;
    functions_are_granted(&desk, &loan).await;
}

/// Asks for the loan in every way: `expected` are shown.
async fn is_shown(who: &Client, path: &str, expected: usize) {
    for query in ["", "&_search=beamer", "&item=Beamer", "&_order=due"] {
        let list = format!("/direct/loan.json?siteId=biology-101&_count=exact{query}");
        let list = who.get(&list).await;
        list.expect(StatusCode::OK);
        let shown = list.json()["loan_collection"].as_array().map(Vec::len);
        assert_eq!(shown, Some(expected), "{query}");
        let count = expected.to_string();
        assert_eq!(list.header("x-total-count"), Some(&*count), "{query}");
    }
    let one = who.get(&format!("{path}.json")).await;
    one.expect(match expected {
        0 => StatusCode::NOT_FOUND,
        _ => StatusCode::OK,
    });
}

/// A plan is hidden from its borrower, and what is shared is seen by the groups that share it.
async fn is_planned_and_shared(desk: &Desk, path: &str) {
    let groups = desk
        .instructor
        .get("/direct/site/biology-101/groups.json")
        .await
        .json();
    let groups = groups.as_array().expect("groups").clone();
    let mut of_bob = Vec::new();
    for group in groups {
        let reference = group["reference"].as_str().expect("a reference");
        let (_, id) = reference.rsplit_once('/').expect("an id");
        let members = format!("/direct/membership/group/{id}.json");
        let members = desk.instructor.get(&members).await;
        if members.text().contains("\"student2\"") {
            of_bob.push(id.to_owned());
        }
    }
    assert_eq!(of_bob.len(), 1);
    for (change, seen) in [
        (
            json!({"draft": true, "accessories": [{"name": "Cable"}]}),
            [false, false],
        ),
        (json!({"draft": false, "isShared": true}), [true, true]),
        (json!({"groups": of_bob}), [true, true]),
        (json!({"isShared": false, "groups": []}), [true, false]),
    ] {
        let changed = desk.instructor.put(path, &change).await;
        changed.expect(StatusCode::NO_CONTENT);
        for (who, is_seen) in [&desk.ada, &desk.bob].into_iter().zip(seen) {
            is_shown(who, path, usize::from(is_seen)).await;
        }
    }
    let one = desk.ada.get(&format!("{path}.json")).await.json();
    assert_eq!(one["accessories"][0]["name"], "Cable");
}

async fn is_given_back(desk: &Desk, path: &str) {
    let action = format!("{path}/return.json");
    let refused = desk.ada.post(&action, &json!({})).await;
    refused.expect(StatusCode::FORBIDDEN);
    let hidden = desk.bob.post(&action, &json!({})).await;
    hidden.expect(StatusCode::NOT_FOUND);
    let returned = desk.instructor.post(&action, &json!({})).await;
    returned.expect(StatusCode::OK);
    let one = desk.ada.get(&format!("{path}.json")).await.json();
    assert!(one["returned"].is_string(), "{one}");
    assert_eq!(one["version"], 6);
}

/// The functions that the type declares can be granted like those of the service, and none ends what others hold.
async fn functions_are_granted(desk: &Desk, loan: &serde_json::Value) {
    for is_granted in [true, false] {
        let rights = json!({"Student:loan.new": is_granted});
        let granted = desk
            .instructor
            .post("/direct/site/biology-101/setPerms", &rights)
            .await;
        assert!(granted.status.is_success(), "{}", granted.text());
        let lent = desk.ada.post("/direct/loan.json", loan).await;
        lent.expect(match is_granted {
            true => StatusCode::CREATED,
            false => StatusCode::FORBIDDEN,
        });
        let list = desk
            .assistant
            .get("/direct/loan.json?siteId=biology-101")
            .await;
        let shown = list.json()["loan_collection"].as_array().map(Vec::len);
        assert_eq!(shown, Some(2));
    }
}

//! `lectern new-type`: the crate that it makes compiles, is served and tests itself.
//!
//! The compiler links the crate against what the tests were built with. With `FULL=1`, cargo builds the crate from its
//! own manifest and runs its tests; that takes a while.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use http::StatusCode;
use load::artefacts::Artefacts;
use load::process::{Process, root, service};
use load::{Backend, Client, Database, OnBackend, is_full};
use serde_json::json;
use tempfile::TempDir;

fn new_type(name: &str, into: &Path) -> Output {
    let mut command = Command::new(service(false));
    command.args(["new-type", name, "--path"]).arg(root());
    command.arg("--into").arg(into);
    command.output().expect("the program runs")
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Compiles the crate in `made` and returns its program.
fn link(made: &Path, folder: &Path) -> PathBuf {
    let compile = |source: &str, arguments: &[String]| {
        let source = made.join(source).display().to_string();
        let output = Artefacts::of_workspace().compile(&source, folder, arguments);
        assert!(output.status.success(), "{source}: {}", told(&output));
    };
    let library = ["--crate-type=lib", "--crate-name=lectern_loan_desk"];
    compile("src/lib.rs", &library.map(ToOwned::to_owned));
    let library = folder.join("liblectern_loan_desk.rlib");
    let program = [
        "--crate-name=desk".to_owned(),
        "--extern".to_owned(),
        format!("lectern_loan_desk={}", library.display()),
    ];
    compile("src/main.rs", &program);
    folder.join("desk")
}

#[tokio::test]
async fn the_crate_of_a_new_type_is_served() {
    let folder = TempDir::new().expect("a folder for temporary files can be made");
    let made = folder.path().join("made");
    let output = new_type("loan-desk", &made);
    assert!(output.status.success(), "{}", told(&output));
    let readme = fs::read_to_string(made.join("README.md")).expect("a README");
    assert!(readme.lines().count() <= 10, "{readme}");
    // SQLite is compiled with the flags that the service has.
    let flags = |path: &Path| {
        let text = fs::read_to_string(path).expect("a file");
        let line = text.lines().find(|it| it.starts_with("LIBSQLITE3_FLAGS"));
        line.expect("the flags").to_owned()
    };
    let config = ".cargo/config.toml";
    assert_eq!(flags(&made.join(config)), flags(&root().join(config)));

    let program = link(&made, folder.path());
    let database = Database::on_backend(Backend::Sqlite).await.expect("a file");
    let process = Process::start_service(&program, &database, true);
    let client = |eid: &'static str| Client::on_port(process.port()).log_in(eid, "lectern-demo");
    let desk = json!({"siteId": "biology-101", "title": "Beamers", "body": "<p>Ask early.</p>"});
    let refused = client("student1")
        .await
        .post("/direct/loan-desk.json", &desk)
        .await;
    refused.expect(StatusCode::FORBIDDEN);
    let created = client("ta1")
        .await
        .post("/direct/loan-desk.json", &desk)
        .await;
    created.expect(StatusCode::CREATED);
    let list = client("student1").await;
    let list = list.get("/direct/loan-desk.json?siteId=biology-101").await;
    assert_eq!(list.json()["loan-desk_collection"][0]["title"], "Beamers");

    if is_full() {
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["test", "--offline"]).current_dir(&made);
        let output = cargo
            .env_remove("CARGO_TARGET_DIR")
            .output()
            .expect("cargo runs");
        assert!(output.status.success(), "{}", told(&output));
    }
}

#[test]
fn nothing_is_made_of_a_name_that_is_none() {
    let folder = TempDir::new().expect("a folder for temporary files can be made");
    let made = folder.path().join("made");
    for (name, reason) in [
        ("Book", "lower case"),
        ("9books", "a letter first"),
        ("two--lines", "single `-`"),
        ("batch", "means something else"),
        ("string", "means something else"),
        ("announcement", "there is a type"),
        ("book/../../etc", "lower case"),
    ] {
        let output = new_type(name, &made);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(told(&output).contains(reason), "{name}: {}", told(&output));
        assert!(!made.exists(), "{name}");
    }
}

#[test]
fn a_file_that_is_there_stays_as_it_is() {
    let folder = TempDir::new().expect("a folder for temporary files can be made");
    let manifest = folder.path().join("Cargo.toml");
    fs::write(&manifest, "mine").expect("room for a file");
    let output = new_type("book", folder.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(told(&output).contains("Cargo.toml"), "{}", told(&output));
    assert_eq!(fs::read_to_string(&manifest).expect("a file"), "mine");
}

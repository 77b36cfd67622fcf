//! The blocks in the language `sh` of each document are one script: it is run, and what each block prints is looked at.

use std::env;
use std::fs::{self, File, Permissions};
use std::iter;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use tests::process::{Process, service, without_settings};
use tests::{Backend, Database, OnBackend};

use super::{DOCUMENTS, INTEGRATING, OPERATING, README, block_in, blocks_in, lines_in};

/// The address on which the service listens according to the documents.
const ADDRESS: &str = "127.0.0.1:8080";
/// Stands between the outputs of two blocks.
const MARK: &str = "=== next ===";
/// The documents with such blocks, and what each block prints at least.
const TOURS: [(&str, &[&[&str]]); 3] = [
    (README, OF_README),
    (INTEGRATING, OF_INTEGRATING),
    (OPERATING, OF_OPERATING),
];

const LOGIN: &[&str] = &[
    r#""status":"success""#,
    r#""sessionId":""#,
    r#""displayName":"Maria Okafor""#,
];
const FEED: &[&str] = &[
    "<feed",
    "<title>Bring your lab coats</title>",
    "&lt;em&gt;Monday&lt;/em&gt;",
];

const OF_README: &[&[&str]] = &[
    LOGIN,
    &[r#"{"entityPrefix":"site","site_collection":[{"id":"biology-101""#],
    &["-"],
    FEED,
];

const OF_INTEGRATING: &[&[&str]] = &[
    LOGIN,
    &[],
    &[
        r#"{"entityPrefix":"announcement","announcement_collection":[{"title":"Bring your lab coats","#,
        r#""siteIdEntity":{"id":"biology-101""#,
    ],
    &["x-total-count: ", r#"rel="next", "#, r#"rel="last""#],
    &[
        "<announcement",
        "<title>Bring your lab coats</title>",
        "<siteId>biology-101</siteId>",
    ],
    FEED,
    &["304"],
    &[r#""title":"Bring your lab coats and goggles""#],
    &["412"],
    &["HTTP/1.1 201", "idempotency-replayed: true"],
    &[
        r#"{"atomic":true,"results":[{"id":"draft""#,
        r#""status":201"#,
        r#""status":204"#,
    ],
    &[r#"{"entityPrefix":"announcement","announcement_collection":[{"#],
    &[r#""openapi":"3.1."#, r#""/api/login""#],
    &[],
    &[
        "<feed",
        "<title>Bring your lab coats and goggles</title>",
        "/feeds/",
    ],
    &[r#""announcements":["#, "Bring your lab coats and goggles"],
    &[r#"{"status":"success","message":""#],
];

const OF_OPERATING: &[&[&str]] = &[
    &[
        "the database is up to date",
        "done: the account `admin` has the id ",
    ],
    &[
        "svc.serverUrl                    https://lectern.example                  (file)",
        "database: reached and up to date\nfit for production\n",
    ],
    &["the backup is complete: ", "monday.db"],
    &["the database is restored and up to date"],
    &["the backup is complete: ", "before-the-upgrade.db"],
    &["the database is up to date", "fit for production"],
];

fn is_installed(program: &str) -> bool {
    let answer = Command::new(program).arg("--version").output();
    answer.is_ok_and(|it| it.status.success())
}

/// Returns whether a tour can be taken here.
fn may_begin() -> bool {
    let may_begin = ["bash", "curl"].into_iter().all(is_installed);
    assert!(
        may_begin || env::var_os("CI").is_none(),
        "install bash and curl: the tours must run here"
    );
    if !may_begin {
        tests::say("bash or curl is not installed: nobody takes the tours of the documents");
    }
    may_begin
}

/// Returns the output of each block of the tour of `document`, run in `folder`. `change` puts paths and ports of here into it.
fn take(
    document: &str,
    folder: &Path,
    input: &str,
    change: impl Fn(&str) -> String,
) -> Vec<String> {
    let blocks = blocks_in(document, "sh");
    let script = change(&blocks.join(&format!("printf '\\n{MARK}\\n'\n")));
    let given = folder.join("input");
    fs::write(&given, input).expect("room for a file");
    let mut command = Command::new("bash");
    without_settings(&mut command);
    let usual = env::var_os("PATH").unwrap_or_default();
    let folders = iter::once(folder.join("bin")).chain(env::split_paths(&usual));
    let output = command
        .args(["-euo", "pipefail", "-c", &script])
        .env(
            "PATH",
            env::join_paths(folders).expect("names without a colon"),
        )
        .current_dir(folder)
        .stdin(File::open(given).expect("it was just written"))
        .output()
        .expect("bash runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{document}: {said}\n{complaints}");
    said.split(&format!("\n{MARK}\n"))
        .map(ToOwned::to_owned)
        .collect()
}

#[track_caller]
fn assert_said(document: &str, answers: &[String]) {
    let expected = TOURS.iter().find(|it| it.0 == document);
    let expected = expected.expect("a document with a tour").1;
    assert_eq!(answers.len(), expected.len(), "{document}: {answers:#?}");
    for (answer, expected) in answers.iter().zip(expected) {
        for text in *expected {
            assert!(
                answer.contains(text),
                "{document}: `{text}` is missing: {answer}"
            );
        }
    }
}

async fn demo() -> (Process, PathBuf, Database) {
    let database = Database::on_backend(Backend::Sqlite).await.expect("a file");
    let process = Process::start_service(&service(false), &database, true);
    let folder = database.folder();
    (process, folder, database)
}

#[test]
fn every_document_with_commands_has_a_tour() {
    let has_commands = |it: &&str| !blocks_in(it, "sh").is_empty();
    let documents = DOCUMENTS.into_iter().filter(has_commands);
    assert_eq!(documents.collect::<Vec<_>>(), TOURS.map(|it| it.0));
}

#[tokio::test]
async fn the_tour_of_the_readme_works_as_it_is_written() {
    if !may_begin() {
        return;
    }
    let (process, folder, _database) = demo().await;
    let here = format!("127.0.0.1:{}", process.port());
    let answers = take(README, &folder, "", |it| it.replace(ADDRESS, &here));
    assert_said(README, &answers);
    process.stop();
}

#[tokio::test]
async fn the_tour_for_integrators_works_as_it_is_written() {
    if !may_begin() {
        return;
    }
    let (process, folder, _database) = demo().await;
    let here = format!("127.0.0.1:{}", process.port());
    let answers = take(INTEGRATING, &folder, "", |it| it.replace(ADDRESS, &here));
    assert_said(INTEGRATING, &answers);
    // The second answer of the one request is the first once more: one announcement was made.
    let first = fs::read_to_string(folder.join("first")).expect("the answer to a form");
    let repeated = answers
        .iter()
        .find(|it| it.contains("idempotency-replayed"));
    assert!(
        repeated.is_some_and(|it| it.ends_with(&first)),
        "{repeated:?}"
    );
    process.stop();
}

/// A command that does not end by itself is no part of a tour: it must begin as it should.
#[tokio::test]
async fn the_streams_that_the_documents_ask_for_begin() {
    if !may_begin() {
        return;
    }
    let lines = DOCUMENTS
        .into_iter()
        .flat_map(|it| lines_in(it, &["console"]));
    let asked = lines.filter(|it| it.starts_with("curl ") && it.contains(ADDRESS));
    let asked = asked.collect::<Vec<_>>();
    assert_eq!(asked.len(), 1, "{asked:?}");
    let (process, folder, _database) = demo().await;
    let login = &blocks_in(INTEGRATING, "sh")[0];
    let script = format!("{login}\ntimeout 5 {} -i || [ $? = 124 ]\n", asked[0]);
    let script = script.replace(ADDRESS, &format!("127.0.0.1:{}", process.port()));
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", &script])
        .current_dir(&folder)
        .output()
        .expect("bash runs");
    let said = String::from_utf8_lossy(&output.stdout).to_lowercase();
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("http/1.1 200") && said.contains("text/event-stream"),
        "{said}"
    );
    process.stop();
}

#[test]
fn the_tour_of_operators_works_as_it_is_written() {
    if !may_begin() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder for temporary files can be made");
    let folder = folder.path();
    let (data, etc, backups) = (
        folder.join("data"),
        folder.join("etc"),
        folder.join("backups"),
    );
    for it in [&data, &etc, &backups, &folder.join("bin")] {
        fs::create_dir(it).expect("room for a folder");
        fs::set_permissions(it, Permissions::from_mode(0o700)).expect("a folder of ours");
    }
    symlink(service(false), folder.join("bin/lectern")).expect("room for a name");
    let change = |text: &str| {
        [
            ("/var/lib/lectern", &data),
            ("/etc/lectern", &etc),
            ("/var/backups/lectern", &backups),
        ]
        .iter()
        .fold(text.to_owned(), |text, (there, here)| {
            text.replace(there, &here.display().to_string())
        })
    };
    let file = etc.join("lectern.toml");
    fs::write(&file, change(&block_in(OPERATING, "toml"))).expect("room for a file");
    fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("a file of ours");
    let answers = take(OPERATING, folder, "only the operator knows\n", change);
    assert_said(OPERATING, &answers);
}

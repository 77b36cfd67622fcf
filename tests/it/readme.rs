//! The README tells the truth: its commands are run, its listings compared with the files they show.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use tests::process::{Process, service};
use tests::{Backend, Database, OnBackend};

/// Where the README says that the service listens.
const ADDRESS: &str = "127.0.0.1:8080";
/// Stands between the outputs of two commands.
const MARK: &str = "=== next ===";

/// What each command of the tour must print at least, in order.
const EXPECTED: [&[&str]; 13] = [
    &[
        r#""status":"success""#,
        r#""sessionId":""#,
        r#""displayName":"Maria Okafor""#,
    ],
    &[r#"{"entityPrefix":"site","site_collection":[{"id":"biology-101""#],
    &[],
    &[
        "<feed",
        "<title>Bring your lab coats</title>",
        "&lt;em&gt;Monday&lt;/em&gt;",
    ],
    &["304"],
    &[
        "<announcement",
        "<title>Bring your lab coats</title>",
        "<siteId>biology-101</siteId>",
    ],
    &[
        r#"{"entityPrefix":"announcement","announcement_collection":[{"title":"Bring your lab coats","#,
        r#""siteIdEntity":{"id":"biology-101""#,
    ],
    &["x-total-count: ", r#"rel="next", "#, r#"rel="last""#],
    &[],
    &["<feed", "<title>Bring your lab coats</title>", "/feeds/"],
    &[r#""title":"Bring your lab coats and goggles""#],
    &[
        r#"{"atomic":true,"results":[{"id":"draft""#,
        r#""status":201"#,
        r#""status":204"#,
    ],
    &[r#"{"status":"success","message":""#],
];

fn readme() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    fs::read_to_string(file).expect("there is a README")
}

/// The blocks of code in this language, in order.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let start = format!("```{language}\n");
    let behind = text.split(start.as_str()).skip(1);
    behind.filter_map(|it| it.split("```").next()).collect()
}

fn is_installed(program: &str) -> bool {
    let answer = Command::new(program).arg("--version").output();
    answer.is_ok_and(|it| it.status.success())
}

#[tokio::test]
async fn the_tour_of_the_readme_works_as_it_is_written() {
    if !["bash", "curl"].into_iter().all(is_installed) {
        assert!(
            env::var_os("CI").is_none(),
            "install bash and curl: the tour must run here"
        );
        eprintln!("bash or curl is not installed: nobody takes the tour of the README");
        return;
    }
    let database = Database::on_backend(Backend::Sqlite).await.expect("a file");
    let process = Process::start_service(&service(false), &database, true);
    let readme = readme();
    let script = blocks(&readme, "sh")
        .join(&format!("printf '\\n{MARK}\\n'\n"))
        .replace(ADDRESS, &format!("127.0.0.1:{}", process.port()));
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", &script])
        .current_dir(database.folder())
        .output()
        .expect("bash runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complaints}");
    let answers = said.split(MARK).collect::<Vec<_>>();
    assert_eq!(answers.len(), EXPECTED.len(), "{said}");
    for (answer, expected) in answers.iter().zip(EXPECTED) {
        for text in expected {
            assert!(answer.contains(text), "`{text}` is missing: {answer}");
        }
    }
    process.stop();
}

#[test]
fn the_listings_of_the_readme_are_the_files_of_the_third_party() {
    let readme = readme();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("third-party/src");
    let listings = blocks(&readme, "rust");
    let files = ["lib.rs", "main.rs"].map(|it| fs::read_to_string(folder.join(it)));
    let files = files.map(|it| it.expect("the third party's file"));
    assert_eq!(listings, files);
}

#[test]
fn every_file_that_the_readme_names_exists() {
    let readme = readme();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let named = readme.split('`').skip(1).step_by(2);
    let folders = ["entity-", "server/", "tests/", ".ci/"];
    let paths = named.filter(|it| folders.iter().any(|folder| it.starts_with(folder)));
    // What follows are arguments.
    let missing = paths
        .filter_map(|it| it.split(' ').next())
        .filter(|it| !root.join(it).exists())
        .collect::<Vec<_>>();
    assert!(missing.is_empty(), "{missing:?}");
}

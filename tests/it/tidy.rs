//! The rules of the repository, as tests.

mod manifests;
mod sources;
mod words;

use std::fs;
use std::path::{Path, PathBuf};

/// What may lie at the top. Dotfiles and build results may too.
const TOP: [&str; 9] = [
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "README.md",
    "entity-core",
    "entity-formats",
    "entity-providers",
    "server",
    "tests",
];

/// The folder of the workspace.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("this crate lies in the workspace's folder")
}

/// Every file below `folder`, without build results and what version control keeps for itself.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a readable folder").flatten() {
        let name = entry.file_name();
        if name == "target" || name == ".git" || is_database(&name.to_string_lossy()) {
            continue;
        }
        if entry.file_type().expect("a type").is_dir() {
            found.extend(files_below(&entry.path()));
        } else {
            found.push(entry.path());
        }
    }
    found
}

fn is_database(name: &str) -> bool {
    [".db", ".db-wal", ".db-shm"]
        .iter()
        .any(|it| name.ends_with(it))
}

/// `path` as the reader of a failed test wants to see it.
fn shown(path: &Path) -> String {
    path.strip_prefix(root())
        .unwrap_or(path)
        .display()
        .to_string()
}

/// Fails with one line for each complaint.
#[track_caller]
fn assert_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn nothing_else_lies_at_the_top() {
    let strangers = fs::read_dir(root())
        .expect("a readable folder")
        .flatten()
        .map(|it| it.file_name().to_string_lossy().into_owned())
        .filter(|it| !it.starts_with('.') && it != "target" && !is_database(it))
        .filter(|it| !TOP.contains(&it.as_str()))
        .collect::<Vec<_>>();
    assert_none(&strangers);
}

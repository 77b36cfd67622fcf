//! The rules of the repository, as tests.

mod by_hand;
mod house;
mod manifests;
mod places;
mod sources;
mod words;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// The files and folders that may lie at the top. Dotfiles and build results may too.
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

/// Every file of the project below `folder`: those that version control keeps, or, in a copy without it, all that are no
/// build results.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    static KEPT: LazyLock<Vec<PathBuf>> = LazyLock::new(|| kept().unwrap_or_else(|| walk(root())));
    let below = KEPT.iter().filter(|it| it.starts_with(folder));
    // One may have been removed since.
    below.filter(|it| it.is_file()).cloned().collect()
}

/// The files that version control keeps, if it keeps any.
fn kept() -> Option<Vec<PathBuf>> {
    let mut command = Command::new("git");
    command.arg("-C").arg(root()).args(["ls-files", "-z"]);
    let output = command.output().ok().filter(|it| it.status.success())?;
    let names = String::from_utf8(output.stdout).ok()?;
    let files: Vec<_> = names.split_terminator('\0').collect();
    let files = files.iter().map(|it| root().join(it)).collect::<Vec<_>>();
    Some(files).filter(|it| !it.is_empty())
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a readable folder").flatten() {
        let name = entry.file_name();
        if name == "target" || name == ".git" || is_database(&name.to_string_lossy()) {
            continue;
        }
        if entry.path().is_dir() {
            found.extend(walk(&entry.path()));
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

//! `lectern new-type`: makes the crate of a new entity type.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use entity_core::Registry;
use entity_core::engine::RESERVED_PREFIXES;

use super::arguments::NewType;
use super::output::{Failure, say};

/// The files of the crate: the path of each, and its text with names in double braces.
const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", include_str!("new_type/manifest.txt")),
    (".gitignore", include_str!("new_type/ignored.txt")),
    (".cargo/config.toml", include_str!("new_type/config.txt")),
    ("README.md", include_str!("new_type/readme.txt")),
    ("src/lib.rs", include_str!("new_type/lib.txt")),
    ("src/main.rs", include_str!("new_type/main.txt")),
    ("tests/roles.rs", include_str!("new_type/test.txt")),
];

/// The crates of the service on which the new crate depends, by their folders.
const CRATES: [&str; 3] = ["entity-core", "server", "tests/lectern-testing"];

/// The names that the texts use otherwise.
const TAKEN: [&str; 8] = [
    "date-time-utc",
    "deserialize",
    "entity",
    "migration",
    "self",
    "serialize",
    "string",
    "testing",
];

/// Makes the crate.
pub(super) fn run(wanted: &NewType) -> Result<(), Failure> {
    let prefix = wanted.name.as_str();
    check_name(prefix)?;
    let registry = Registry::from_inventory()?;
    if registry.route(prefix).is_some() {
        return Err(format!("there is a type `{prefix}` already: choose another name").into());
    }
    let folder = match &wanted.into {
        Some(folder) => folder.clone(),
        None => PathBuf::from(package(prefix)),
    };
    let source = Source::of(wanted)?;
    for (path, text) in FILES {
        write(&folder.join(path), &fill(text, prefix, &source))?;
    }
    // The versions of the dependencies with which the service itself was tested.
    if let Source::Path(checkout) = &source {
        let lock = checkout.join("Cargo.lock");
        if lock.is_file() {
            fs::copy(lock, folder.join("Cargo.lock"))?;
        }
    }
    say(&format!(
        "made {}: `cargo run -- --demo` there serves the type, `cargo test` tests it",
        folder.display()
    ));
    Ok(())
}

/// The location of the crates of the service.
enum Source {
    /// A folder.
    Path(PathBuf),
    /// A git repository, and a commit.
    Git(String, String),
}

impl Source {
    fn of(wanted: &NewType) -> Result<Self, Failure> {
        if let (Some(address), Some(commit)) = (&wanted.git, &wanted.rev) {
            return Ok(Self::Git(address.clone(), commit.clone()));
        }
        let folder = wanted.path.clone().unwrap_or_default();
        let folder = fs::canonicalize(&folder)
            .map_err(|error| format!("can't find {}: {error}", folder.display()))?;
        let missing = |it: &&&str| !folder.join(it).join("Cargo.toml").is_file();
        if let Some(missing) = CRATES.iter().find(missing) {
            let folder = folder.display();
            return Err(
                format!("{folder} is no checkout of the service: it has no {missing}").into(),
            );
        }
        Ok(Self::Path(folder))
    }

    /// Returns the entry of the crate in `folder` for a manifest.
    fn entry(&self, folder: &str) -> String {
        let text = |it: &str| toml::Value::String(it.to_owned());
        match self {
            Self::Git(address, commit) => {
                format!("git = {}, rev = {}", text(address), text(commit))
            }
            Self::Path(checkout) => {
                let path = checkout.join(folder).display().to_string();
                format!("path = {}", text(&path))
            }
        }
    }
}

fn check_name(name: &str) -> Result<(), Failure> {
    let is_legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_split = name.split('-').any(str::is_empty);
    if !name.starts_with(|c: char| c.is_ascii_lowercase())
        || !name.chars().all(is_legal)
        || is_split
    {
        return Err(format!(
            "`{name}` is no name of a type: use lower case letters, digits and single `-` between them, a letter first"
        )
        .into());
    }
    if TAKEN.contains(&name) || RESERVED_PREFIXES.contains(&name) {
        return Err(format!("`{name}` means something else: choose another name").into());
    }
    Ok(())
}

fn package(prefix: &str) -> String {
    format!("lectern-{prefix}")
}

/// Puts names into a text.
fn fill(text: &str, prefix: &str, source: &Source) -> String {
    let package = package(prefix);
    let words: Vec<&str> = prefix.split('-').collect();
    let title = |word: &&str| {
        let mut letters = word.chars();
        let first = letters.next().map(|it| it.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    let mut text = text
        .replace("{{library}}", &package.replace('-', "_"))
        .replace("{{package}}", &package)
        .replace("{{prefix}}", prefix)
        .replace("{{table}}", &package.replace('-', "_"))
        .replace("{{type}}", &words.iter().map(title).collect::<String>())
        .replace("{{words}}", &words.join(" "));
    for folder in CRATES {
        text = text.replace(&format!("{{{{source:{folder}}}}}"), &source.entry(folder));
    }
    text
}

/// Writes a new file. One that is there stays as it is.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let told = |error| format!("can't write {}: {error}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(told)?;
    }
    let mut file = fs::File::create_new(path).map_err(told)?;
    file.write_all(text.as_bytes()).map_err(told)?;
    Ok(())
}

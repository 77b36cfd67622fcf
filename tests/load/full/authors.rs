//! The messages of the compiler to the author of a provider: none if it is right, advice if it is wrong.
//!
//! Each file of `entity-core/tests/ui` is such a provider, and the messages about it are in a file beside it.
//! `OVERWRITE=1` writes these files anew.

use std::env;
use std::fs;
use std::path::Path;
use std::thread;

use load::artefacts::Artefacts;
use load::process::root;
use tempfile::TempDir;

const CASES: &str = "entity-core/tests/ui";
/// The beginnings of the lines with which the compiler ends.
const SUMMARIES: [&str; 3] = [
    "error: aborting due to",
    "For more information about",
    "Some errors have detailed",
];
/// The beginnings of the compiler's notes about files of its own.
const ASIDE: [&str; 2] = [
    "the full name for the type has been written to",
    "consider using `--verbose`",
];

#[test]
fn a_wrong_provider_is_told_what_to_do() {
    let artefacts = Artefacts::of_workspace();
    let files = fs::read_dir(root().join(CASES)).expect("the folder of the cases");
    let files = files.map(|it| it.expect("an entry").path());
    let cases: Vec<_> = files
        .filter(|it| it.extension().is_some_and(|it| it == "rs"))
        .collect();
    assert!(cases.len() > 10, "these are not the cases: {cases:?}");
    let complaints: Vec<String> = thread::scope(|scope| {
        let halves = cases.chunks(cases.len().div_ceil(2)).map(|half| {
            scope.spawn(move || {
                let complaints = half.iter().filter_map(|it| complaint(artefacts, it));
                complaints.collect::<Vec<_>>()
            })
        });
        let halves: Vec<_> = halves.collect();
        let halves = halves.into_iter().map(|it| it.join().expect("no panic"));
        halves.flatten().collect()
    });
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

/// Returns the difference of the compiler's messages about `case` from the expected ones.
fn complaint(artefacts: &Artefacts, case: &Path) -> Option<String> {
    let name = case.file_name()?.to_str()?;
    let folder = TempDir::new().expect("a folder for temporary files can be made");
    let arguments = ["--emit=metadata", "--cap-lints=allow"].map(ToOwned::to_owned);
    let output = artefacts.compile(&format!("{CASES}/{name}"), folder.path(), &arguments);
    let said = essence(&String::from_utf8_lossy(&output.stderr));
    let file = case.with_extension("stderr");
    if env::var_os("OVERWRITE").is_some() && !output.status.success() {
        fs::write(&file, &said).expect("room for what the compiler says");
    }
    let expected = fs::read_to_string(&file).unwrap_or_default();
    if output.status.success() != expected.is_empty() {
        return Some(format!("{name}: {}\n{said}", output.status));
    }
    (said != expected).then(|| format!("{name}: the compiler says\n{said}\ninstead of\n{expected}"))
}

/// Returns the messages of the compiler without parts that are not of the case: numbers of lines of our own sources,
/// the width of the margin, and the number of errors.
fn essence(said: &str) -> String {
    let root = format!("{}/", root().display());
    let mut essence = String::new();
    let mut is_of_case = true;
    for line in said.replace(&root, "").lines() {
        let line = line.trim_end();
        let end = line.find(['|', '=', '-']).unwrap_or_default();
        let (margin, rest) = line.split_at(end);
        let is_margin = end > 0 && margin.trim().chars().all(|it| it.is_ascii_digit());
        let line = match rest.strip_prefix("--> ") {
            Some(place) if is_margin => {
                is_of_case = place.starts_with(CASES);
                let file = place.split(':').next().unwrap_or_default();
                format!("  --> {}", if is_of_case { place } else { file })
            }
            _ if is_margin => {
                let number = if is_of_case { margin.trim() } else { "" };
                format!("{number:>3} {rest}")
            }
            // How many depends on what the crate is built with.
            _ if line.trim_start().starts_with("and ") => "    and others".to_owned(),
            _ => line.to_owned(),
        };
        let is_summary = SUMMARIES.iter().any(|it| line.starts_with(it));
        if !is_summary && !ASIDE.iter().any(|it| line.contains(it)) {
            essence.push_str(&line);
            essence.push('\n');
        }
    }
    let text = essence.trim_end();
    if text.is_empty() {
        return String::new();
    }
    format!("{text}\n")
}

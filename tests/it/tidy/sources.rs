//! Conventions of source files.

use std::fs;
use std::path::PathBuf;

use super::{assert_none, files_below, root, shown};

const LONGEST_FILE: usize = 500;
const LONGEST_MEDIAN: usize = 150;

/// The Rust files of the repository with their text.
fn sources() -> Vec<(PathBuf, String)> {
    files_below(root())
        .into_iter()
        .filter(|it| it.extension().is_some_and(|it| it == "rs"))
        .map(|it| (fs::read_to_string(&it).expect("text"), it))
        .map(|(text, path)| (path, text))
        .collect()
}

/// One complaint for each source file that `is_wrong`.
fn complaints(is_wrong: impl Fn(&PathBuf, &str) -> bool) -> Vec<String> {
    sources()
        .iter()
        .filter(|(path, text)| is_wrong(path, text))
        .map(|(path, _)| shown(path))
        .collect()
}

/// A source that a test gives to the compiler to refuse is a text, and its lines are counted in the answer.
#[test]
fn every_file_begins_with_what_it_is() {
    assert_none(&complaints(|path, text| {
        !text.starts_with("//! ") && !path.components().any(|it| it.as_os_str() == "ui")
    }));
}

#[test]
fn no_file_is_named_mod() {
    assert_none(&complaints(|path, _| {
        path.file_name().is_some_and(|it| it == "mod.rs")
    }));
}

#[test]
fn no_file_is_too_long() {
    assert_none(&complaints(|_, text| text.lines().count() > LONGEST_FILE));
}

#[test]
fn half_of_the_files_are_short() {
    let mut lengths = sources()
        .iter()
        .map(|(_, text)| text.lines().count())
        .collect::<Vec<_>>();
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2];
    assert!(median <= LONGEST_MEDIAN, "the median is {median} lines");
}

#[test]
fn no_test_is_ignored() {
    let attribute = ["#[", "ignore"].concat();
    assert_none(&complaints(|_, text| text.contains(&attribute)));
}

/// Tasks in the background are supervised, so that they do not end unnoticed.
#[test]
fn no_task_of_the_service_is_started_on_its_own() {
    let call = ["tokio::", "spawn("].concat();
    assert_none(&complaints(|path, text| {
        let name = shown(path);
        let is_test = name.contains("/tests/") || name.ends_with("tests.rs");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        name.starts_with("server/src/")
            && !is_test
            && name != "server/src/base/supervise.rs"
            && code.contains(&call)
    }));
}

/// Docs begin with a noun or a verb, and not with a question.
#[test]
fn docs_begin_with_what_a_thing_is() {
    let is_question = |line: &str| {
        let text = ["/// ", "//! "]
            .iter()
            .find_map(|it| line.trim_start().strip_prefix(it));
        let first = text.and_then(|it| it.split(' ').next());
        ["What", "How", "Whether", "Who"].map(Some).contains(&first)
    };
    assert_none(&complaints(|_, text| text.lines().any(is_question)));
}

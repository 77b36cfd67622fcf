//! The commands that documents name are those of the programs: `lectern`, cargo and the checks.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use tests::process::{root, service, without_settings};

use super::{CONTRIBUTING, DOCUMENTS, OPERATING, lines_in, read, rows, spans};

/// The words before the program in commands.
const BEFORE: [&str; 5] = [
    "docker exec -it lectern ",
    "sudo -u lectern ",
    "cargo run --release -- ",
    "cargo run -- ",
    "ExecStart=/usr/local/bin/",
];

/// Runs the program to its end. Its standard output, if it succeeds.
fn lectern(arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new(service(false));
    without_settings(&mut command);
    let output = command.args(arguments).output().expect("the program runs");
    let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(text(&output.stderr)),
    }
}

/// The arguments of the program in a line, if it is one that calls the program.
fn arguments(line: &str) -> Option<String> {
    let line = line.split(" #").next().unwrap_or(line).trim();
    let stripped = BEFORE
        .iter()
        .find_map(|it| Some((it, line.strip_prefix(it)?)));
    let line = match stripped {
        Some((before, rest)) if before.starts_with("cargo") => return Some(rest.to_owned()),
        Some((_, rest)) => rest,
        None => line,
    };
    match line.split_once(' ') {
        Some(("lectern", rest)) => Some(rest.to_owned()),
        None if line == "lectern" => Some(String::new()),
        _ => None,
    }
}

/// The arguments of every call of the program in a document, with its place.
fn calls() -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    for document in DOCUMENTS {
        let lines = lines_in(document, &["console", "ini", "sh"]).into_iter();
        let all = lines.chain(spans(document)).collect::<Vec<_>>();
        let calls = all.iter().filter_map(|it| arguments(it));
        found.extend(calls.map(|it| (document, it)));
    }
    found
}

/// An argument as a command can be given it, without the marks for one that may be left out.
fn given(word: &str) -> &str {
    match word.trim_start_matches('[').trim_end_matches(']') {
        "N" => "1",
        other => other,
    }
}

/// The commands that the help of `path` lists, those below them included.
fn commands(path: &[&str], found: &mut BTreeMap<String, String>) {
    let help = lectern(&[path, &["--help"]].concat()).expect("the program's help");
    let Some((_, list)) = help.split_once("Commands:\n") else {
        found.insert(path.join(" "), help);
        return;
    };
    let lines = list.lines().take_while(|it| it.starts_with("  "));
    let names = lines.filter_map(|it| it.strip_prefix("  ")?.split(' ').next());
    for name in names.filter(|it| !it.is_empty() && *it != "help") {
        commands(&[path, &[name]].concat(), found);
    }
}

/// The options that a help tells of.
fn options(help: &str) -> BTreeSet<&str> {
    let words = help.split(|c: char| c.is_whitespace() || ",`[]".contains(c));
    let options = words.filter(|it| it.starts_with("--") && it.len() > 2);
    options.collect()
}

#[test]
fn every_call_of_the_program_is_understood() {
    let calls = calls();
    assert!(calls.len() > 40, "{calls:?}");
    let distinct: BTreeMap<_, _> = calls.into_iter().map(|it| (it.1, it.0)).collect();
    for (call, document) in distinct {
        let words = call.split(' ').filter(|it| !it.is_empty()).map(given);
        let mut words = words.collect::<Vec<_>>();
        // The help is written where it is asked for, after all that stands before it was understood.
        words.push("--help");
        let help = lectern(&words).unwrap_or_else(|error| panic!("{document}: `{call}`: {error}"));
        let asked = words
            .iter()
            .take_while(|it| it.starts_with(|c: char| c.is_ascii_lowercase()));
        let usage = help.split_once("Usage: lectern").unwrap_or_default().1;
        let command = asked.copied().next().unwrap_or_default();
        let is_named =
            usage.starts_with(&format!(" {command} ")) || command.is_empty() || command == "help";
        assert!(is_named, "{document}: `{call}`: {help}");
    }
}

#[test]
fn the_table_of_commands_has_every_command_with_its_options() {
    let mut expected = BTreeMap::new();
    commands(&[], &mut expected);
    let table = rows(OPERATING, &["Command"]);
    let named = |row: &Vec<String>, command: &str| {
        let spans = row[0].split('`').skip(1).step_by(2);
        let mut calls = spans.filter_map(arguments);
        calls.any(|it| it == command || it.starts_with(&format!("{command} ")))
    };
    let manual = read(OPERATING);
    let of_all = lectern(&["doctor", "--help"]).expect("the program's help");
    let of_all = options(&of_all)
        .into_iter()
        .filter(|it| !["--help", "--integrity", "--all"].contains(it));
    let of_all = of_all.collect::<BTreeSet<_>>();
    for option in &of_all {
        assert!(
            manual.contains(&format!("`{option} ")),
            "{option} is missing"
        );
    }
    for (command, help) in &expected {
        let row = table.iter().find(|it| named(it, command));
        let row = row
            .unwrap_or_else(|| panic!("`lectern {command}` is missing"))
            .join(" ");
        for option in options(help)
            .difference(&of_all)
            .filter(|it| **it != "--help")
        {
            assert!(
                row.contains(*option),
                "`lectern {command}` lacks `{option}`: {row}"
            );
        }
    }
    let is_there = |it: &Vec<String>| expected.keys().any(|command| named(it, command));
    let strangers = table.iter().filter(|it| !is_there(it)).collect::<Vec<_>>();
    assert!(strangers.is_empty(), "{strangers:?}");
}

/// The names behind `--bin`, `--profile` and `-p` in calls of cargo.
#[test]
fn every_call_of_cargo_names_what_there_is() {
    let load = "tests/load/Cargo.toml";
    let manifests = ["Cargo.toml", "server/Cargo.toml", "tests/Cargo.toml", load].map(read);
    let manifests = manifests.join("\n");
    let mut count = 0;
    for document in DOCUMENTS {
        let lines = lines_in(document, &["console"]).into_iter();
        let calls = lines.chain(spans(document));
        let calls = calls.filter(|it| it.starts_with("cargo "));
        for call in calls {
            count += 1;
            let words = call.split(' ').collect::<Vec<_>>();
            for pair in words.windows(2) {
                let is_there = match pair[0] {
                    "--bin" => manifests.contains(&format!("[[bin]]\nname = \"{}\"", pair[1])),
                    "--profile" => manifests.contains(&format!("[profile.{}]", pair[1])),
                    "-p" => {
                        root().join(pair[1]).join("Cargo.toml").is_file()
                            || manifests.contains(&format!("[package]\nname = \"{}\"", pair[1]))
                    }
                    _ => true,
                };
                assert!(is_there, "{document}: {call}");
            }
        }
    }
    assert!(count > 8, "{count}");
}

#[test]
fn every_part_of_the_long_check_that_is_named_is_one() {
    let list = Command::new(root().join(".ci/full")).arg("--list").output();
    let list = String::from_utf8(list.expect("bash runs").stdout).expect("names");
    let parts = list.lines().collect::<Vec<_>>();
    let named = DOCUMENTS.into_iter().flat_map(|document| {
        let lines = lines_in(document, &["console"]).into_iter();
        lines.chain(spans(document)).collect::<Vec<_>>()
    });
    let named = named.filter_map(|it| it.strip_prefix(".ci/full ").map(ToOwned::to_owned));
    let named = named.filter(|it| it != "--list").collect::<BTreeSet<_>>();
    assert!(!named.is_empty());
    for part in named {
        assert!(parts.contains(&&*part), "there is no part {part}");
    }
}

/// The further measurements of `bench` that the manual names.
#[test]
fn every_measurement_that_is_named_is_one() {
    let program = read("tests/load/src/bin/bench.rs") + &read("tests/load/src/bench.rs");
    let lines = lines_in(CONTRIBUTING, &["console"]).into_iter();
    let named = lines.filter_map(|it| Some(it.split_once("--bin bench -- ")?.1.to_owned()));
    let named = named.collect::<Vec<_>>();
    assert_eq!(named.len(), 4, "{named:?}");
    for it in named {
        assert!(program.contains(&format!("\"{it}\"")), "{it}");
    }
}

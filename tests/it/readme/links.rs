//! Targets that documents name are there: files, parts of other documents, listings, messages of the program.

use std::fs;
use std::path::{Path, PathBuf};

use tests::process::root;

use super::{DOCUMENTS, OPERATING, README, blocks, blocks_in, prose, read, rows, spans};

/// The most lines that the first page has.
const MOST_LINES: usize = 250;

/// The headings of the parts of a document, in order: each with how far its entry in the contents is indented.
fn headings(document: &str) -> Vec<(&'static str, String)> {
    let prose = prose(document);
    let parts = prose.lines().filter_map(|it| {
        let (level, title) = it.split_once(' ')?;
        match level {
            "##" => Some(("", title.to_owned())),
            "###" => Some(("  ", title.to_owned())),
            _ => None,
        }
    });
    parts.collect()
}

/// The name by which links lead to a heading.
fn anchor(heading: &str) -> String {
    let kept = heading
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// The texts and the targets of the links of a document.
fn links(document: &str) -> Vec<(String, String)> {
    let prose = prose(document);
    let parts = prose.match_indices("](").map(|(at, _)| prose.split_at(at));
    let links = parts.filter_map(|(before, behind)| {
        let text = before.rsplit('[').next()?;
        let target = behind.strip_prefix("](")?.split(')').next()?;
        Some((text.to_owned(), target.to_owned()))
    });
    links.collect()
}

#[test]
fn the_listings_of_the_documents_are_the_files_of_the_third_party() {
    let folder = root().join("tests/third-party/src");
    let files = ["lib.rs", "main.rs"].map(|it| fs::read_to_string(folder.join(it)));
    let files = files.map(|it| it.expect("the third party's file"));
    assert_eq!(blocks_in(README, "rust"), files);
    for document in DOCUMENTS {
        for block in blocks(document)
            .into_iter()
            .filter(|it| it.language == "rust")
        {
            let path = block
                .caption
                .strip_prefix("<!-- ")
                .and_then(|it| it.strip_suffix(" -->"));
            let path = path.unwrap_or_else(|| panic!("{document}: no path stands above a listing"));
            assert_eq!(block.text, read(path), "{document}");
        }
    }
}

#[test]
fn every_file_that_a_document_names_exists() {
    let folders = ["entity-", "server/", "tests/", ".ci/", ".github/"];
    let mut count = 0;
    for document in DOCUMENTS {
        let spans = spans(document);
        let paths = spans
            .iter()
            .filter(|it| folders.iter().any(|folder| it.starts_with(folder)));
        // What follows are arguments.
        let paths = paths
            .filter_map(|it| it.split(' ').next())
            .collect::<Vec<_>>();
        count += paths.len();
        let missing = paths.iter().filter(|it| !root().join(it).exists());
        assert_eq!(
            missing.collect::<Vec<_>>(),
            Vec::<&&str>::new(),
            "{document}"
        );
    }
    assert!(count > 60, "{count}");
}

#[test]
fn every_link_leads_somewhere() {
    let mut count = 0;
    for document in DOCUMENTS {
        for (text, target) in links(document) {
            if target.starts_with("https://") {
                continue;
            }
            count += 1;
            let (path, part) = target.split_once('#').unwrap_or((&target, ""));
            let place = match path {
                "" => PathBuf::from(document),
                path => Path::new(document).parent().expect("a folder").join(path),
            };
            assert!(
                root().join(&place).is_file(),
                "{document}: [{text}]({target})"
            );
            let place = place.display().to_string();
            let parts = headings(&place);
            let is_there = part.is_empty() || parts.iter().any(|it| anchor(&it.1) == part);
            assert!(is_there, "{document}: [{text}]({target})");
        }
    }
    assert!(count > 50, "{count}");
}

#[test]
fn every_manual_begins_with_its_contents() {
    for document in DOCUMENTS.into_iter().filter(|it| *it != README) {
        let headings = headings(document);
        assert_eq!(headings[0].1, "Contents", "{document}");
        let text = read(document);
        let (_, rest) = text.split_once("## Contents\n\n").expect("a heading");
        let list = rest.split("\n\n").next().unwrap_or_default();
        let expected = headings.iter().skip(1);
        let expected = expected.map(|it| format!("{}- [{}](#{})", it.0, it.1, anchor(&it.1)));
        let expected = expected.collect::<Vec<_>>();
        assert_eq!(list.lines().collect::<Vec<_>>(), expected, "{document}");
    }
}

#[test]
fn the_readme_is_one_page_and_leads_to_every_manual() {
    let length = read(README).lines().count();
    assert!(length <= MOST_LINES, "{length}");
    let links = links(README);
    for document in DOCUMENTS.into_iter().filter(|it| *it != README) {
        assert!(links.iter().any(|it| it.1 == document), "{document}");
    }
}

/// The Rust code of the service, with the texts in it on one line each.
fn sources() -> String {
    let mut folders = ["server/src", "entity-providers/src"]
        .map(|it| root().join(it))
        .to_vec();
    let mut text = String::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let code = fs::read_to_string(path).expect("text");
                let lines = code.split("\\\n").map(str::trim_start);
                text.extend(lines);
            }
        }
    }
    text
}

/// Messages are quoted with `…` in the places that the program fills in.
#[test]
fn every_message_that_operators_are_told_of_is_one_of_the_program() {
    let sources = sources();
    let rows = rows(OPERATING, &["Symptom"]);
    assert!(rows.len() >= 10, "{rows:?}");
    let mut count = 0;
    for row in rows {
        for message in row[0]
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|it| it.contains(' '))
        {
            let parts = message
                .split('…')
                .map(|it| it.trim_matches([' ', '`', '(', ')']));
            for part in parts.filter(|it| it.len() > 2) {
                count += 1;
                // A value of the program, such as the profile, stands between.
                assert!(sources.contains(part), "nothing says `{part}`: {row:?}");
            }
        }
    }
    assert!(count > 10, "{count}");
}

//! The README and the manuals tell the truth: commands are run; listings, settings and labels are those of the program.

mod commands;
mod deployment;
mod links;
mod pages;
mod settings;
mod tours;

use std::fs;

use tests::process::root;

/// The document that a newcomer reads first.
const README: &str = "README.md";
/// For those who write programs.
const INTEGRATING: &str = "server/docs/integrating.md";
/// For those who run a service.
const OPERATING: &str = "server/docs/operating.md";
/// For students and teachers.
const USING: &str = "server/docs/using.md";
/// For those who change the service.
const CONTRIBUTING: &str = ".github/CONTRIBUTING.md";

/// All of them.
const DOCUMENTS: [&str; 5] = [README, INTEGRATING, OPERATING, USING, CONTRIBUTING];

/// The languages of blocks. Each has a test.
const LANGUAGES: [&str; 7] = [
    "console",
    "dockerfile",
    "ini",
    "nginx",
    "rust",
    "sh",
    "toml",
];

/// Code that stands on lines of its own.
struct Block {
    language: String,
    /// The line above it.
    caption: String,
    text: String,
}

fn read(document: &str) -> String {
    let text = fs::read_to_string(root().join(document));
    text.unwrap_or_else(|error| panic!("{document}: {error}"))
}

/// The blocks of code of a document, in order.
fn blocks(document: &str) -> Vec<Block> {
    let text = read(document);
    let mut found = Vec::new();
    let mut above = "";
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let inside = lines.by_ref().take_while(|it| *it != "```");
            found.push(Block {
                language: language.to_owned(),
                caption: above.to_owned(),
                text: inside.flat_map(|it| [it, "\n"]).collect(),
            });
        }
        above = line;
    }
    found
}

/// The texts of the blocks in this language, in order.
fn blocks_in(document: &str, language: &str) -> Vec<String> {
    let found = blocks(document).into_iter();
    let found = found.filter(|it| it.language == language);
    found.map(|it| it.text).collect()
}

/// The only block in this language.
fn block_in(document: &str, language: &str) -> String {
    let [block] = &*blocks_in(document, language) else {
        panic!("{document} has one block in {language}");
    };
    block.clone()
}

/// The lines of the blocks in these languages, in order.
fn lines_in(document: &str, languages: &[&str]) -> Vec<String> {
    let found = blocks(document).into_iter();
    let texts = found.filter(|it| languages.contains(&&*it.language));
    let lines = texts.flat_map(|it| it.text.lines().map(ToOwned::to_owned).collect::<Vec<_>>());
    lines.collect()
}

/// A document without its blocks of code.
fn prose(document: &str) -> String {
    let text = read(document);
    text.split("```").step_by(2).collect()
}

/// Returns the texts between single backticks in a document.
fn spans(document: &str) -> Vec<String> {
    let prose = prose(document);
    let found = prose.split('`').skip(1).step_by(2);
    found.map(ToOwned::to_owned).collect()
}

/// The rows of the tables of a document whose first column has one of these titles: the cells of each.
fn rows(document: &str, titles: &[&str]) -> Vec<Vec<String>> {
    let prose = prose(document);
    let mut found = Vec::new();
    let mut is_inside = false;
    for line in prose.lines() {
        let Some(row) = line.strip_prefix("| ").and_then(|it| it.strip_suffix(" |")) else {
            is_inside &= line.starts_with("|---");
            continue;
        };
        let cells = row.split('|').map(|it| it.trim().to_owned());
        let cells = cells.collect::<Vec<_>>();
        match is_inside {
            true => found.push(cells),
            false => is_inside = titles.contains(&&*cells[0]),
        }
    }
    found
}

#[test]
fn every_block_has_a_language_that_a_test_knows() {
    for document in DOCUMENTS {
        for block in blocks(document) {
            let Block { language, text, .. } = block;
            assert!(
                LANGUAGES.contains(&&*language),
                "{document}: {language}: {text}"
            );
        }
    }
}

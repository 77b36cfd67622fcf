//! Words that do not belong into the repository: names of tools and paths of the machines it is written on.
//!
//! They are kept as fingerprints, because a list of them would be the first file to break the rule.

use std::fs;
use std::path::Path;

use super::{assert_none, files_below, root, shown};

/// A word's length and [`fingerprint`]. To add one, put what [`entry`] makes of it here.
type Entry = (usize, u64);

const UNWANTED: &[Entry] = &[
    (9, 0x3bb5_64bd_a052_6bab),
    (6, 0x6cc1_29dd_f274_4e51),
    (5, 0x1f92_008d_c875_3ba3),
    (11, 0xde1e_1a64_59a1_2c33),
    (9, 0x2524_b426_1996_11b3),
    (16, 0xa42d_7024_74b6_d6b6),
    (15, 0x3943_1eb6_6834_47bd),
    (7, 0x7f7a_7547_86a6_64b8),
    (6, 0x2391_9480_3edf_98f7),
    (7, 0xa113_d274_5d70_6ce3),
    (12, 0x2c5c_7fa1_25a8_2c43),
    (15, 0x2713_0606_4940_39f3),
    (19, 0xdfe9_825a_d00a_f20b),
    (11, 0xe273_30a1_1d08_52b5),
    (8, 0x6eaf_4d5b_ceca_7325),
    (7, 0x1a4e_6ea0_f1de_c1ba),
    (12, 0x7a50_be43_734c_b263),
    (6, 0x8a1b_8f4a_0a91_3503),
    (14, 0x3e73_8723_d1c9_6470),
    (27, 0x158a_aea4_da5e_2309),
    (8, 0xd539_a675_5b82_b381),
];

/// The letters that begin the numbers of paragraphs in documents that readers of the repository do not have.
const PARAGRAPHS: [u8; 4] = *b"DEST";

/// The file that may name a place outside of the repository: it uses what lies there when something does.
const MAY_LOOK_OUTSIDE: &str = ".ci/full";

/// FNV-1a of the word in lower case.
fn fingerprint(word: &[u8]) -> u64 {
    word.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0000_01b3)
    })
}

fn entry(word: &str) -> Entry {
    (word.len(), fingerprint(word.as_bytes()))
}

/// The words of `entries` in `text`, each from the start of a word to the end of one.
fn find<'a>(text: &'a str, entries: &[Entry]) -> Vec<&'a str> {
    let bytes = text.as_bytes();
    let is_inside = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
    let mut found = Vec::new();
    for start in (0..bytes.len()).filter(|it| *it == 0 || !is_inside(it - 1)) {
        for (length, expected) in entries {
            let end = start + length;
            let word = bytes.get(start..end);
            if word.is_some_and(|it| !is_inside(end) && fingerprint(it) == *expected) {
                found.extend(text.get(start..end));
            }
        }
    }
    found
}

/// The numbers of paragraphs that the comments of a Rust file cite.
fn cited_paragraphs(text: &str) -> Vec<&str> {
    text.lines()
        .filter_map(|it| it.trim_start().strip_prefix("//"))
        .flat_map(|it| it.split(|c: char| !c.is_ascii_alphanumeric()))
        .filter(|it| {
            let (letter, number) = it.as_bytes().split_at(it.len().min(1));
            letter.first().is_some_and(|it| PARAGRAPHS.contains(it))
                && (1..=2).contains(&number.len())
                && number.iter().all(u8::is_ascii_digit)
        })
        .collect()
}

fn complain(path: &Path, words: Vec<&str>) -> impl Iterator<Item = String> {
    words.into_iter().map(|it| format!("{}: {it}", shown(path)))
}

#[test]
fn no_file_names_our_tools_or_machines() {
    let mut complaints = Vec::new();
    for path in files_below(root()) {
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        if shown(&path) != MAY_LOOK_OUTSIDE {
            complaints.extend(complain(&path, find(&text, UNWANTED)));
        }
        if path.extension().is_some_and(|it| it == "rs") {
            complaints.extend(complain(&path, cited_paragraphs(&text)));
        }
    }
    assert_none(&complaints);
}

#[test]
fn an_unwanted_word_would_be_seen() {
    let entries = [entry("secret-tool"), entry("/some/where")];
    assert_eq!(find("// Secret-Tool made it", &entries), ["Secret-Tool"]);
    assert_eq!(find("at \"/some/where/else\"", &entries), ["/some/where"]);
    assert!(find("secret-tools, at x/some/where", &entries).is_empty());
    let text = ["// see E", "7.\nlet a = E", "7;"].concat();
    assert_eq!(cited_paragraphs(&text).len(), 1);
}

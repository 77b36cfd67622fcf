//! Rules that have one place: where a text shows that a rule is written out, no second file has it.

use std::fs;

use super::{files_below, root, shown};

/// A text that only the place of a rule has, and that place.
const PLACES: [(&str, &str); 2] = [
    (".to_bits() >> 64", "server/src/base/network.rs"),
    (
        "\"/portal/site/{}",
        "entity-providers/src/people/site/address.rs",
    ),
];

#[test]
fn each_rule_has_one_place() {
    let crates = [
        "entity-core",
        "entity-formats",
        "entity-providers",
        "server",
    ];
    let files = crates.iter().flat_map(|it| files_below(&root().join(it)));
    let mut found: Vec<(&str, Vec<String>)> = PLACES.iter().map(|it| (it.0, Vec::new())).collect();
    for file in files {
        let is_source = file.extension().is_some_and(|it| it == "rs");
        let is_test = shown(&file).contains("test");
        if !is_source || is_test {
            continue;
        }
        let text = fs::read_to_string(&file).expect("a source");
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (rule, places) in &mut found {
            if text.contains(*rule) {
                places.push(shown(&file));
            }
        }
    }
    for ((rule, places), (_, place)) in found.iter().zip(PLACES) {
        assert_eq!(places, &[place], "`{rule}` is written out elsewhere");
    }
}

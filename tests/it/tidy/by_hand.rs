//! Nothing that the author's tier does is written by hand in a type.

use std::collections::BTreeMap;
use std::fs;

use super::{files_below, root, shown};

/// Something that types used to write by hand, the text that shows it, and the number of places that are left in the
/// types that are not [`RICH`]. The number may only fall: whoever removes a place lowers it.
struct Burden {
    name: &'static str,
    is_shown_by: fn(&str) -> bool,
    left: usize,
}

/// The types that write none of it.
const RICH: [&str; 3] = ["assignment", "calendar", "gradebook"];

const BURDENS: [Burden; 3] = [
    Burden {
        name: "a field that repeats another one: `#[standard(alias(…), iso(…), constant(…))]`",
        is_shown_by: |line| {
            let line = line.trim();
            let copies = |end: &str| {
                let field = line.strip_prefix("#[entity(computed = |it, _| it.");
                let field = field.and_then(|it| it.strip_suffix(end));
                field.is_some_and(|it| it.chars().all(|it| it.is_alphanumeric() || it == '_'))
            };
            copies(")]") || copies(".clone())]")
        },
        left: 0,
    },
    Burden {
        name: "a row that is read column by column: `#[derive(Row)]`, `db::columns`",
        is_shown_by: |line| line.contains("row.take("),
        left: 48,
    },
    Burden {
        name: "a link to the rest of a list: `Outcome::part_of`",
        is_shown_by: |line| line.contains("rel=\\\"next") || line.contains("\"Link\""),
        left: 0,
    },
];

/// The number of lines of types that show a burden, by the type.
fn found(burden: &Burden) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for path in files_below(&root().join("entity-providers/src")) {
        let name = shown(&path);
        let is_test = name.contains("/tests/") || name.ends_with("tests.rs");
        if is_test || path.extension().is_none_or(|it| it != "rs") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("text");
        let count = text.lines().filter(|it| (burden.is_shown_by)(it)).count();
        // Behind the floor.
        let names = name.trim_start_matches("entity-providers/src/");
        let kind = names.split(['/', '.']).nth(1);
        *found
            .entry(kind.unwrap_or_default().to_owned())
            .or_default() += count;
    }
    found.retain(|_, count| *count > 0);
    found
}

#[test]
fn rich_types_write_nothing_by_hand_and_the_others_no_more_than_before() {
    for burden in &BURDENS {
        let found = found(burden);
        let rich = RICH.iter().filter_map(|it| found.get(*it)).sum::<usize>();
        let others = found.values().sum::<usize>() - rich;
        assert_eq!(
            (rich, others),
            (0, burden.left),
            "{}: {found:?}",
            burden.name
        );
    }
}

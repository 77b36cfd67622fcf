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
        left: 34,
    },
    Burden {
        name: "a link to the rest of a list: `Outcome::part_of`",
        is_shown_by: |line| line.contains("rel=\\\"next") || line.contains("\"Link\""),
        left: 0,
    },
];

/// The statements that are text, which no compiler checks, outside of `db`, storage and migrations. The number may only
/// fall.
const STATEMENTS: usize = 114;

/// The files with a model of a table that is written by hand, because the table is that of no record.
const MODELS: [&str; 9] = [
    "entity-providers/src/storage/db/authorization_epoch.rs",
    "entity-providers/src/storage/db/demo_password.rs",
    "entity-providers/src/storage/db/group_member.rs",
    "entity-providers/src/storage/db/membership.rs",
    "entity-providers/src/storage/db/realm_grant.rs",
    "entity-providers/src/storage/db/site_likeness.rs",
    "server/src/guard/auth/throttle.rs",
    "server/src/guard/session/table.rs",
    "server/src/operate/jobs.rs",
];

/// Returns the files of Rust below `folder`, but for tests, each with its name and text.
fn sources(folder: &str) -> Vec<(String, String)> {
    let files = files_below(&root().join(folder)).into_iter();
    let sources = files.filter(|it| it.extension().is_some_and(|it| it == "rs"));
    let sources = sources.map(|it| {
        let text = fs::read_to_string(&it).expect("text");
        (shown(&it), text)
    });
    sources
        .filter(|(name, _)| !name.contains("/tests/") && !name.ends_with("tests.rs"))
        .collect()
}

/// The number of lines of types that show a burden, by the type.
fn found(burden: &Burden) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for (name, text) in sources("entity-providers/src") {
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
        assert!(
            rich == 0 && others <= burden.left,
            "{}: {found:?}",
            burden.name
        );
    }
}

#[test]
fn statements_are_text_in_no_more_places_than_before() {
    let verbs = ["SELECT ", "INSERT ", "UPDATE ", "DELETE FROM ", "WITH "];
    let is_statement = |line: &str| {
        let mut texts = line.split('"').skip(1).step_by(2);
        texts.any(|text| verbs.iter().any(|verb| text.trim_start().starts_with(verb)))
    };
    let mut found = BTreeMap::new();
    for (name, text) in [sources("entity-providers/src"), sources("server/src")].concat() {
        let lines = text.lines().filter(|it| !it.trim().starts_with("//"));
        let count = lines.filter(|it| is_statement(it)).count();
        if count > 0 && !name.contains("/storage/") && !name.contains("/demo/") {
            found.insert(name, count);
        }
    }
    let count: usize = found.values().sum();
    assert!(count <= STATEMENTS, "{count}: {found:#?}");
}

#[test]
fn no_table_of_a_record_is_described_twice() {
    let sources = ["entity-core/src", "entity-providers/src", "server/src"].map(sources);
    let models = sources.iter().flatten();
    let models = models.filter(|it| it.1.contains("DeriveEntityModel"));
    let mut models: Vec<&str> = models.map(|it| it.0.as_str()).collect();
    models.sort_unstable();
    models.retain(|it| !MODELS.contains(it));
    assert_eq!(models, [""; 0]);
}

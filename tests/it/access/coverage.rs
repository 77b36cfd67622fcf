//! Nothing that the service offers is missing in the policy, and the policy speaks of nothing else.

use std::collections::BTreeSet;

use entity_core::Registry;
use entity_core::catalog::{Catalog, TypeEntry};
use server::web::api::Endpoints;

use super::policy;

/// Operations that are no capability of their own: forms, and fields with a rule of their own.
const FURTHER: [&str; 4] = ["form", "search", "retype", "shut"];

/// Type and operation, for everything that is registered.
fn offered() -> BTreeSet<(String, String)> {
    let registry = Registry::from_inventory().expect("types that go together");
    let types = Catalog::of(
        &registry,
        &entity_formats::standard().expect("formats that go together"),
    )
    .types;
    let endpoints = Endpoints::from_inventory().expect("endpoints that go together");
    let endpoints = endpoints.iter().map(|it| (it.verb, it.path));
    let addresses = server::pages::portal::ADDRESSES.iter();
    let others = endpoints
        .chain(addresses.map(|it| (it.verb, it.path)))
        .map(|(verb, path)| ("api".to_owned(), format!("{}:{path}", verb.name())));
    types.iter().flat_map(of_type).chain(others).collect()
}

fn of_type(entry: &TypeEntry) -> impl Iterator<Item = (String, String)> {
    // Those that take files are creations, changes and actions, which stand for themselves.
    let is_apart = |it: &&&str| !matches!(**it, "actions" | "files");
    let capabilities = entry.capabilities.iter().filter(is_apart);
    let capabilities = capabilities.map(|it| (*it).to_owned());
    let actions = entry
        .actions
        .iter()
        .map(|it| format!("{}:{}", it.method, it.name));
    capabilities
        .chain(actions)
        .map(|it| (entry.prefix.to_owned(), it))
}

/// Type and operation, for every line.
fn decided() -> BTreeSet<(String, String)> {
    let mut decided = BTreeSet::new();
    for line in policy::lines() {
        for operation in line.operations {
            let kind = if operation.contains(":/") {
                "api"
            } else {
                line.kind
            };
            decided.insert((kind.to_owned(), operation.to_owned()));
        }
    }
    decided
}

#[test]
fn the_policy_decides_everything_that_is_offered() {
    let decided = decided();
    let missing: Vec<_> = offered()
        .into_iter()
        .filter(|it| !decided.contains(it))
        .collect();
    assert!(
        missing.is_empty(),
        "add lines to policy.txt for {missing:?}"
    );
}

#[test]
fn the_policy_speaks_of_nothing_that_is_not_offered() {
    let offered = offered();
    let stale: Vec<_> = decided()
        .into_iter()
        .filter(|it| !FURTHER.contains(&it.1.as_str()) && !offered.contains(it))
        .collect();
    assert!(stale.is_empty(), "remove from policy.txt {stale:?}");
}

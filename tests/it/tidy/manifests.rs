//! Dependencies between crates, and conventions of manifests.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use super::{assert_none, files_below, root, shown};

/// A crate, the crates of the workspace that it may use, and others that it must not use.
struct Rule {
    name: &'static str,
    ours: &'static [&'static str],
    never: &'static [&'static str],
}

/// Names that only the rim of the service may know.
const RIM: [&str; 8] = [
    "axum",
    "cookie",
    "http",
    "hyper",
    "hyper-util",
    "tower",
    "tower-cookies",
    "tower-http",
];

/// The crates that nothing but tests is built with.
const OF_TESTS: [&str; 3] = ["lectern-testing", "load", "tests"];

const RULES: [Rule; 5] = [
    Rule {
        name: "entity-core-derive",
        ours: &[],
        never: &["sea-orm", "tokio", "quick-xml", "askama"],
    },
    Rule {
        name: "entity-core",
        ours: &["entity-core-derive"],
        never: &["tokio", "quick-xml", "askama"],
    },
    Rule {
        name: "entity-formats",
        ours: &["entity-core"],
        never: &["sea-orm", "tokio"],
    },
    Rule {
        name: "entity-providers",
        ours: &["entity-core"],
        never: &["quick-xml", "askama"],
    },
    Rule {
        name: "server",
        ours: &["entity-core", "entity-formats", "entity-providers"],
        never: &["rusqlite", "quick-xml", "askama"],
    },
];

/// The names of the crates that `package` is built with. Those of its tests do not count.
fn built_with(package: &Value) -> Vec<(String, bool)> {
    let dependencies = package["dependencies"].as_array().expect("a list");
    dependencies
        .iter()
        .filter(|it| it["kind"] != "dev")
        .map(|it| {
            let name = it["name"].as_str().expect("a name").to_owned();
            (name, it["path"].is_string())
        })
        .collect()
}

fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
        ])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let packages = metadata.get("packages").and_then(Value::as_array);
    packages.expect("a list").clone()
}

#[test]
fn dependencies_point_in_one_direction() {
    let packages = packages();
    let mut complaints = Vec::new();
    for rule in &RULES {
        let package = packages
            .iter()
            .find(|it| it["name"] == rule.name)
            .unwrap_or_else(|| panic!("there is a crate named {}", rule.name));
        for (name, is_ours) in built_with(package) {
            let is_stranger = is_ours && !rule.ours.contains(&name.as_str());
            let is_rim = rule.name != "server" && RIM.contains(&name.as_str());
            if is_stranger || is_rim || rule.never.contains(&name.as_str()) {
                complaints.push(format!("{} must not depend on {name}", rule.name));
            }
        }
    }
    assert_none(&complaints);
}

#[test]
fn every_crate_has_its_rule() {
    let strangers = packages()
        .iter()
        .map(|it| it["name"].as_str().expect("a name").to_owned())
        .filter(|name| !OF_TESTS.contains(&name.as_str()))
        .filter(|name| !RULES.iter().any(|it| it.name == name))
        .collect::<Vec<_>>();
    assert_none(&strangers);
}

/// The manifests of the workspace.
fn manifests() -> Vec<PathBuf> {
    let mut found = files_below(root());
    found.retain(|it| it.file_name().is_some_and(|name| name == "Cargo.toml"));
    found
}

/// The lines of each list of dependencies in a manifest, in their order.
fn dependency_lists(manifest: &str) -> Vec<Vec<&str>> {
    let mut lists = Vec::new();
    let mut is_list = false;
    for line in manifest.lines().filter(|it| !it.starts_with('#')) {
        if line.starts_with('[') {
            is_list = line.ends_with("dependencies]");
            lists.extend(is_list.then(Vec::new));
        } else if is_list && line.starts_with(|it: char| it.is_ascii_alphanumeric()) {
            lists.last_mut().expect("it was just begun").push(line);
        }
    }
    lists
}

/// The name that a line of a list of dependencies begins with.
fn name_of(line: &str) -> &str {
    line.split([' ', '.', '=']).next().unwrap_or_default()
}

#[test]
fn lists_of_dependencies_are_sorted() {
    let mut complaints = Vec::new();
    for path in manifests() {
        let text = fs::read_to_string(&path).expect("text");
        for list in dependency_lists(&text) {
            for (one, next) in list.iter().zip(list.iter().skip(1)) {
                if name_of(one) >= name_of(next) {
                    complaints.push(format!(
                        "{}: {} before {}",
                        shown(&path),
                        name_of(next),
                        name_of(one)
                    ));
                }
            }
        }
    }
    assert_none(&complaints);
}

#[test]
fn versions_are_in_the_manifest_of_the_workspace_only() {
    let example = root().join("tests/third-party");
    let mut complaints = Vec::new();
    for path in manifests() {
        if path.parent() == Some(root()) || path.starts_with(&example) {
            continue;
        }
        let text = fs::read_to_string(&path).expect("text");
        for line in dependency_lists(&text).concat() {
            if !line.contains("workspace = true") {
                complaints.push(format!("{}: {line}", shown(&path)));
            }
        }
    }
    assert_none(&complaints);
}

#[test]
fn a_list_out_of_order_would_be_seen() {
    let lists = dependency_lists(
        "[dependencies]\nb = \"1\"\n# why\na.workspace = true\n\n[features]\nc = []\n",
    );
    assert_eq!(lists, [["b = \"1\"", "a.workspace = true"]]);
    assert_eq!(name_of("a.workspace = true"), "a");
}

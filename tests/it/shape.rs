//! Shapes: the keys of an object and the type of each value, and whether XML tells the same as JSON.

use roxmltree::{Document, Node};
use serde_json::Value;

/// The metadata of every entity.
pub(crate) const METADATA: &str =
    "entityReference text, entityURL url, entityId text, entityTitle text";

/// Fails unless `value` is an object with exactly the keys of `shape`, each of its type.
///
/// A shape is a list of keys with types: `title text, props object, owner text?`. The types are `text`, `url`
/// (absolute), `whole` (a whole number), `number`, `flag`, `list`, `object`, `instant` (ISO 8601), `moment` (an instant in all
/// its forms) and `null`; a question mark allows null as well.
#[track_caller]
pub(crate) fn assert_shape(value: &Value, shapes: &[&str]) {
    assert_keys(value, shapes);
    let fields = value.as_object().expect("an object");
    let unexpected = fields
        .keys()
        .filter(|key| keys(shapes).all(|(name, _)| name != *key))
        .collect::<Vec<_>>();
    assert!(unexpected.is_empty(), "nobody expects {unexpected:?}");
}

/// Fails unless `value` is an object with at least the keys of `shapes`, each of its type.
#[track_caller]
pub(crate) fn assert_keys(value: &Value, shapes: &[&str]) {
    let fields = value.as_object().expect("an object");
    for (name, kind) in keys(shapes) {
        let value = fields
            .get(name)
            .unwrap_or_else(|| panic!("`{name}` is missing: {value}"));
        assert!(is_of(value, kind), "`{name}` is no {kind}: {value}");
    }
}

/// The keys of `shapes`, each with its type.
fn keys<'a>(shapes: &'a [&'a str]) -> impl Iterator<Item = (&'a str, &'a str)> {
    let keys = shapes.iter().flat_map(|it| it.split(','));
    keys.filter_map(|it| it.trim().split_once(' '))
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "text" => value.is_string(),
        "url" => value
            .as_str()
            .is_some_and(|it| it.starts_with("http://127.0.0.1:8080/")),
        "whole" => value.is_i64(),
        "number" => value.is_number(),
        "flag" => value.is_boolean(),
        "list" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        "instant" => value.as_str().is_some_and(is_instant),
        "moment" => is_moment(value),
        other => match other.strip_suffix('?') {
            Some(kind) => value.is_null() || is_of(value, kind),
            None => panic!("there is no type `{other}`"),
        },
    }
}

/// Returns whether `text` is like `2026-11-21T10:00:00Z`.
pub(crate) fn is_instant(text: &str) -> bool {
    text.len() == 20 && text.ends_with('Z') && chrono::DateTime::parse_from_rfc3339(text).is_ok()
}

fn is_moment(value: &Value) -> bool {
    let seconds = value["epochSecond"].as_i64();
    let millis = value["time"].as_i64();
    seconds.is_some()
        && seconds == millis.map(|it| it.div_euclid(1000))
        && value["nano"] == 0
        && value["display"].is_string()
}

/// Fails unless the XML document `xml` tells what the JSON document `json` tells.
#[track_caller]
pub(crate) fn assert_same(xml: &str, json: &Value) {
    let document = Document::parse(xml).expect("well-formed XML");
    let root = document.root_element();
    match root.attribute("entityPrefix") {
        Some(prefix) => {
            let name = format!("{prefix}_collection");
            assert_eq!(root.tag_name().name(), name);
            assert_eq!(json["entityPrefix"], prefix);
            assert_items(root, json[&name].as_array().expect("a collection"));
        }
        None => assert_node(root, json),
    }
}

#[track_caller]
fn assert_items(parent: Node<'_, '_>, items: &[Value]) {
    let nodes = parent
        .children()
        .filter(Node::is_element)
        .collect::<Vec<_>>();
    assert_eq!(
        nodes.len(),
        items.len(),
        "items of {}",
        parent.tag_name().name()
    );
    for (node, item) in nodes.into_iter().zip(items) {
        assert_node(node, item);
    }
}

#[track_caller]
fn assert_node(node: Node<'_, '_>, value: &Value) {
    let text = node.text().unwrap_or_default();
    match value {
        Value::Null => assert_eq!(text, ""),
        Value::Bool(it) => assert_eq!(text, it.to_string()),
        Value::Number(it) => assert_eq!(text, it.to_string()),
        Value::String(it) => assert_eq!(text, it),
        Value::Array(items) => assert_items(node, items),
        Value::Object(fields) => {
            for (name, value) in fields {
                let child = node.children().find(|it| it.has_tag_name(name.as_str()));
                assert_node(
                    child.unwrap_or_else(|| panic!("`{name}` is missing")),
                    value,
                );
            }
        }
    }
}

//! The form of instants, and whether XML tells the same as JSON.

use roxmltree::{Document, Node};
use serde_json::Value;

/// Returns whether `text` is like `2026-11-21T10:00:00Z`.
pub(crate) fn is_instant(text: &str) -> bool {
    text.len() == 20 && text.ends_with('Z') && chrono::DateTime::parse_from_rfc3339(text).is_ok()
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
        // What JSON has as an instant, XML has as a number, and as an instant beside it.
        Value::String(it) => assert_eq!(node.attribute("date").unwrap_or(text), it),
        Value::Array(items) => assert_items(node, items),
        Value::Object(fields) => {
            // Keys that are ids or titles are no names of elements.
            let is_name = |it: &str| {
                it.starts_with(|first: char| first.is_ascii_alphabetic())
                    && it.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            };
            for (name, value) in fields.iter().filter(|(name, _)| is_name(name)) {
                let child = node.children().find(|it| it.has_tag_name(name.as_str()));
                assert_node(
                    child.unwrap_or_else(|| panic!("`{name}` is missing")),
                    value,
                );
            }
        }
    }
}

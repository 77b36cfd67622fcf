//! The fields of an entity as a form and as XML, without characters that either would write in another way.

use serde_json::{Value, json};

fn text(value: &Value) -> String {
    let text = value.as_str();
    text.map_or_else(|| value.to_string(), ToOwned::to_owned)
}

fn pairs(fields: &Value) -> impl Iterator<Item = (&String, String)> {
    let fields = fields.as_object().into_iter().flatten();
    fields.map(move |(name, value)| (name, text(value)))
}

pub(super) fn to_form(fields: &Value) -> String {
    let pairs = pairs(fields).map(|(name, value)| format!("{name}={value}"));
    pairs.collect::<Vec<_>>().join("&").replace(' ', "+")
}

pub(super) fn to_xml(root: &str, fields: &Value) -> String {
    let element = |(name, value): (&String, &Value)| match value.as_array() {
        Some(items) => {
            let items = items.iter().map(|it| format!("<item>{}</item>", text(it)));
            format!(
                "<{name} type=\"collection\">{}</{name}>",
                items.collect::<String>()
            )
        }
        None => format!("<{name}>{}</{name}>", text(value)),
    };
    let elements = fields.as_object().into_iter().flatten().map(element);
    format!("<{root}>{}</{root}>", elements.collect::<String>())
}

/// A merge patch as operations.
pub(super) fn to_operations(fields: &Value) -> Value {
    let fields = fields.as_object().into_iter().flatten();
    let operations = fields
        .map(|(name, value)| json!({"op": "add", "path": format!("/{name}"), "value": value}));
    operations.collect()
}

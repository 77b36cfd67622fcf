//! The text form of lists and objects in HTML forms: one item on each line, or one pair `name=value`.
//!
//! ```text
//! lab                                       term=3
//! second floor                              term_eid=2026 fall
//! {"name":"map.pdf","url":"/access/map"}
//! ```
//!
//! An item of a list that is an object is written as JSON on its line, and so is text that would not be read back
//! unchanged, such as `"{"`. A list or an object with other values than these is written as JSON as a whole: `[1, 2]`.
//! Whatever [`write()`] writes, the form's decoder reads back equal.

use serde_json::{Map, Value};

use crate::model::schema::{Field, Kind};
use crate::primitives::error::{Error, Result};

/// Returns a list or an object as text that a person can edit. Other values are returned as plain text, null as empty
/// text.
pub fn write(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.iter().all(is_item) => {
            let lines: Vec<String> = items.iter().map(write_item).collect();
            lines.join("\n")
        }
        Value::Object(fields) if fields.values().all(Value::is_string) => {
            let lines: Vec<String> = fields
                .iter()
                .map(|(name, text)| format!("{}={}", write_name(name), write_text(text)))
                .collect();
            lines.join("\n")
        }
        Value::Array(_) | Value::Object(_) => {
            serde_json::to_string_pretty(value).unwrap_or_else(|_unwritable| value.to_string())
        }
        other => other.to_string(),
    }
}

/// Parses the text that a form has for a list or an object.
///
/// # Errors
/// Returns an error if the text is malformed; it names the field and, where a single line is malformed, that line.
pub(crate) fn read(field: &Field, text: &str) -> Result<Value> {
    let wrong = |message: String| Error::field(field.name, message);
    match field.kind {
        Kind::Object if text.trim_start().starts_with('{') => whole(text)
            .filter(Value::is_object)
            .ok_or_else(|| wrong("must be a JSON object, for it begins like one".to_owned())),
        Kind::Object => read_object(text).map_err(wrong),
        _ if text.trim_start().starts_with('[') => whole(text)
            .filter(Value::is_array)
            .ok_or_else(|| wrong("must be a JSON list, for it begins like one".to_owned())),
        _ => read_list(text).map_err(wrong),
    }
}

/// Returns the lines that are not blank, trimmed, with their numbers counted from 1.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(text.lines().map(str::trim));
    lines.filter(|(_, line)| !line.is_empty())
}

fn whole(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

fn read_list(text: &str) -> Result<Value, String> {
    let item = |(number, line): (usize, &str)| match line.starts_with(['{', '"']) {
        true => whole(line)
            .ok_or_else(|| format!("must be JSON in line {number}, which begins like it")),
        false => Ok(Value::from(line)),
    };
    lines(text).map(item).collect()
}

/// Returns the list of what a form sent under one name: lines of text, and parts that are objects as JSON.
pub fn read_items(items: &[Value]) -> Value {
    let read = |item: &Value| match item {
        Value::String(text) if text.starts_with('{') => {
            let object = whole(text).filter(Value::is_object);
            vec![object.unwrap_or_else(|| item.clone())]
        }
        Value::String(text) if text.contains('\n') => {
            lines(text).map(|(_, line)| Value::from(line)).collect()
        }
        Value::String(text) if text.is_empty() => Vec::new(),
        other => vec![other.clone()],
    };
    Value::Array(items.iter().flat_map(read).collect())
}

/// Returns the lists and objects in what a form sent under one name: the text as a whole, or lines of it.
pub(crate) fn structures(sent: &Value) -> Vec<Value> {
    let is_json = |it: &&str| it.trim_start().starts_with(['{', '[']);
    match sent {
        Value::String(text) => {
            let texts = std::iter::once(text.as_str()).chain(text.lines());
            texts.filter(is_json).filter_map(whole).collect()
        }
        Value::Array(items) => items.iter().flat_map(structures).collect(),
        _ => Vec::new(),
    }
}

fn read_object(text: &str) -> Result<Value, String> {
    let mut fields = Map::new();
    for (number, line) in lines(text) {
        let (name, value) = pair(line).ok_or_else(|| {
            format!("must be `name=value` on each line, which line {number} is not")
        })?;
        if fields.contains_key(&name) {
            return Err(format!("must not have `{name}` twice"));
        }
        fields.insert(name, Value::String(value));
    }
    Ok(Value::Object(fields))
}

fn pair(line: &str) -> Option<(String, String)> {
    let (name, rest) = if line.starts_with('"') {
        let mut texts = serde_json::Deserializer::from_str(line).into_iter::<String>();
        let name = texts.next()?.ok()?;
        let rest = line.get(texts.byte_offset()..)?.trim_start();
        (name, rest.strip_prefix('=')?)
    } else {
        let (name, rest) = line.split_once('=')?;
        (name.trim().to_owned(), rest)
    };
    let value = match rest.trim() {
        json if json.starts_with('"') => serde_json::from_str(json).ok()?,
        plain => plain.to_owned(),
    };
    Some((name, value))
}

/// Returns whether an item of a list can be written on a line of its own.
fn is_item(item: &Value) -> bool {
    matches!(item, Value::String(_) | Value::Object(_))
}

fn write_item(item: &Value) -> String {
    match item {
        Value::String(text) if is_plain(text) && !text.is_empty() => text.clone(),
        other => other.to_string(),
    }
}

fn write_name(name: &str) -> String {
    match is_plain(name) && !name.contains('=') && !name.is_empty() {
        true => name.to_owned(),
        false => Value::from(name).to_string(),
    }
}

fn write_text(text: &Value) -> String {
    match text.as_str() {
        Some(text) if is_plain(text) => text.to_owned(),
        _ => text.to_string(),
    }
}

/// Returns whether `text`, written on a line, is read back unchanged.
fn is_plain(text: &str) -> bool {
    text.trim() == text && !text.contains(char::is_control) && !text.starts_with(['{', '[', '"'])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const LIST: Field = Field::new("words", Kind::List, "");
    const OBJECT: Field = Field::new("props", Kind::Object, "");

    #[test]
    fn people_write_one_item_on_a_line() {
        for (field, text, expected) in [
            (LIST, "", json!([])),
            (
                LIST,
                " lab \r\n\r\nsecond floor\n",
                json!(["lab", "second floor"]),
            ),
            (LIST, "a\n{\"b\": 1}\n\"{\"", json!(["a", {"b": 1}, "{"])),
            (LIST, " [1, [2]]\n", json!([1, [2]])),
            (OBJECT, " \n", json!({})),
            (OBJECT, "a = b = c\nd=", json!({"a": "b = c", "d": ""})),
            (OBJECT, "\"a=\" = \" b\"", json!({"a=": " b"})),
            (OBJECT, "{\"a\": {\"b\": null}}", json!({"a": {"b": null}})),
        ] {
            assert_eq!(read(&field, text).unwrap(), expected, "{text:?}");
        }
    }

    #[test]
    fn a_line_that_is_wrong_is_named() {
        for (field, text, expected) in [
            (LIST, "a\n\n{b", "line 3"),
            (LIST, "[1", "JSON list"),
            (OBJECT, "a=b\nc", "line 2"),
            (OBJECT, "\"a", "line 1"),
            (OBJECT, "a=b\na=c", "`a` twice"),
            (OBJECT, "{", "JSON object"),
        ] {
            let error = read(&field, text).unwrap_err();
            let message = &error.field_errors()[0].message;
            assert!(message.contains(expected), "{text:?}: {message}");
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let text = prop_oneof!["[ a-c=\"{}\\[\\]\r\n\\\\]{0,5}", "\\PC{0,4}"];
        let leaf = prop_oneof![
            4 => text.clone().prop_map(Value::String),
            1 => any::<bool>().prop_map(Value::Bool),
            1 => any::<i64>().prop_map(Value::from),
            1 => Just(Value::Null),
        ];
        leaf.prop_recursive(2, 8, 3, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
                prop::collection::btree_map(text.clone(), inner, 0..3)
                    .prop_map(|it| Value::Object(it.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn what_is_written_reads_back_equal(items in prop::collection::vec(value(), 0..4)) {
            let list = Value::Array(items.clone());
            prop_assert_eq!(read(&LIST, &write(&list)).unwrap(), list);
            let fields = items.into_iter().enumerate();
            let object = Value::Object(fields.map(|(index, it)| (format!("{index}="), it)).collect());
            prop_assert_eq!(read(&OBJECT, &write(&object)).unwrap(), object);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[ab={}\"\\[\\]\n\r ]{0,20}") {
            let _ = (read(&LIST, &text), read(&OBJECT, &text));
        }
    }
}

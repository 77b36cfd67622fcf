//! Values out of the fields that a client sent, which were checked against the schema before.

use std::collections::BTreeMap;

use entity_core::db::{self, ColumnValue, Row};
use entity_core::{Context, Error, ErrorKind, Fields, Read, Result, Version, gate};
use serde::Serialize;
use serde_json::Value;

/// The maximum number of bytes of all properties together.
const MOST_PROPERTIES: usize = 10_000;
/// The maximum number of properties.
const MOST_KEYS: usize = 100;
/// The maximum number of characters of the key of a property.
const LONGEST_KEY: usize = 64;

/// The text `name`: `None` if it was not sent, `Some(None)` if it is to be empty.
#[expect(
    clippy::option_option,
    reason = "not sent and sent empty are different, and both are plain"
)]
pub(crate) fn text(fields: &Fields, name: &str) -> Option<Option<String>> {
    match fields.0.get(name)? {
        Value::String(text) => Some(Some(text.clone())),
        _ => Some(None),
    }
}

/// Returns the entity `id` that a field names, if the caller sees it; otherwise the error `unseen` about that field.
pub(crate) async fn named<P: Read>(
    cx: &Context,
    id: &str,
    unseen: impl FnOnce() -> Error,
) -> Result<P::Entity> {
    let found = gate::read::<P>(cx, id).await;
    found.map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::Forbidden => unseen(),
        _ => error,
    })
}

/// Returns a version of everything that the caller sees of `entity`, for types of which callers see different parts: a
/// counter in the row would tell them of changes that they do not see.
pub(crate) fn seen<T: Serialize>(entity: &T) -> Version {
    Version::of(&serde_json::to_string(entity).unwrap_or_default())
}

/// Properties of an entity: an object of texts. Null leaves them as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Properties(pub BTreeMap<String, String>);

impl ColumnValue for Properties {
    type Sent = BTreeMap<String, String>;

    fn receive(_cx: &Context, sent: Self::Sent) -> Result<Self, String> {
        check(sent).map(Self)
    }

    fn sent(_cx: &Context, fields: &mut Fields, name: &'static str) -> Result<Option<Self>> {
        let sent = properties(fields, name)?;
        fields.0.remove(name);
        Ok(sent.map(Self))
    }

    fn to_value(&self) -> sea_orm::Value {
        db::json_value(&self.0)
    }

    fn read(_cx: &Context, row: &mut Row<'_>) -> Result<Self> {
        db::read_json(row).map(Self)
    }
}

/// The object of texts `name`.
///
/// # Errors
/// A value is no text; a key is none that a program would choose; it is too much.
pub(crate) fn properties(fields: &Fields, name: &str) -> Result<Option<BTreeMap<String, String>>> {
    let Some(value) = fields.0.get(name).filter(|it| !it.is_null()) else {
        return Ok(None);
    };
    let properties = serde_json::from_value(value.clone())
        .map_err(|error| Error::field(name, "must hold texts only").with_source(error))?;
    let checked = check(properties);
    checked.map(Some).map_err(|fault| Error::field(name, fault))
}

fn check(properties: BTreeMap<String, String>) -> Result<BTreeMap<String, String>, String> {
    let size: usize = properties
        .iter()
        .map(|(key, text)| key.len() + text.len())
        .sum();
    if let Some(key) = properties.keys().find(|it| !is_key(it)) {
        let shown: String = key.escape_default().take(LONGEST_KEY).collect();
        return Err(format!(
            "must have keys of a letter or `_` and at most 63 letters, digits, `_`, `.` or `-`, not `{shown}`"
        ));
    }
    let is_dirty = |text: &String| text.chars().any(char::is_control);
    let fault = if properties.len() > MOST_KEYS {
        "must not have more than 100 properties"
    } else if properties.values().any(is_dirty) {
        "must not have control characters"
    } else if size > MOST_PROPERTIES {
        "is too large"
    } else {
        return Ok(properties);
    };
    Err(fault.to_owned())
}

fn is_key(key: &str) -> bool {
    let is_first = |it: u8| it.is_ascii_alphabetic() || it == b'_';
    let is_other = |it: u8| is_first(it) || it.is_ascii_digit() || matches!(it, b'.' | b'-');
    let is_long = key.len() > LONGEST_KEY;
    !is_long && key.bytes().next().is_some_and(is_first) && key.bytes().all(is_other)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: Value) -> Result<Option<BTreeMap<String, String>>> {
        properties(
            &Fields([("props".to_owned(), value)].into_iter().collect()),
            "props",
        )
    }

    #[test]
    fn sec_properties_have_keys_that_are_names_and_are_bounded() {
        for key in ["term", "_x", "term_eid", "a.b-c9", &"k".repeat(64)] {
            assert!(read(json!({key: "x"})).is_ok(), "{key}");
        }
        for key in [
            "",
            "9a",
            "-a",
            "a b",
            "a=b",
            "\u{e4}",
            "a\u{202e}",
            "a\n",
            &"k".repeat(65),
        ] {
            assert!(read(json!({key: "x"})).is_err(), "{key}");
        }
        let many = |it: usize| -> Value {
            (0..it)
                .map(|it| (format!("k{it}"), Value::from("x")))
                .collect()
        };
        assert!(read(many(100)).is_ok() && read(many(101)).is_err());
        assert!(read(json!({"k": "x".repeat(MOST_PROPERTIES)})).is_err());
    }
}

//! Values out of the fields that a client sent, which were checked against the schema before.

use std::collections::BTreeMap;

use entity_core::{Error, Fields, Result};
use serde_json::Value;

/// Most characters of all properties together.
const MOST_PROPERTIES: usize = 10_000;

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

/// The truth value `name`.
pub(crate) fn flag(fields: &Fields, name: &str) -> Option<bool> {
    fields.0.get(name)?.as_bool()
}

/// The object of texts `name`.
///
/// # Errors
/// A value is no text; it is too much.
pub(crate) fn properties(fields: &Fields, name: &str) -> Result<Option<BTreeMap<String, String>>> {
    let Some(value) = fields.0.get(name).filter(|it| !it.is_null()) else {
        return Ok(None);
    };
    let properties: BTreeMap<String, String> = serde_json::from_value(value.clone())
        .map_err(|error| Error::field(name, "must hold texts only").with_source(error))?;
    let size: usize = properties
        .iter()
        .map(|(key, text)| key.len() + text.len())
        .sum();
    let is_dirty = |text: &str| text.chars().any(char::is_control);
    if properties
        .iter()
        .any(|(key, text)| is_dirty(key) || is_dirty(text))
    {
        return Err(Error::field(name, "must not have control characters"));
    }
    match size > MOST_PROPERTIES {
        true => Err(Error::field(name, "is too large")),
        false => Ok(Some(properties)),
    }
}

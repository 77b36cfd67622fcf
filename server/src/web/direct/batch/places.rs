//! Results of earlier operations of a batch, put in where later ones name them.

use std::collections::HashMap;

use entity_core::{Error, Result, encode_segment};
use serde_json::Value;

use super::result::Outcome;

/// A placeholder that is no id of any entity.
const UNKNOWN: &str = "-";

/// The result of an operation that later ones may refer to.
pub(super) struct Made {
    entity_id: String,
    entity_reference: String,
}

impl Made {
    /// Returns the placeholders of a result before it is made.
    pub(super) fn unknown() -> Self {
        Self {
            entity_id: UNKNOWN.to_owned(),
            entity_reference: UNKNOWN.to_owned(),
        }
    }
}

/// The results of the earlier operations, by their ids; nothing of those that failed.
pub(super) type Results<'a> = HashMap<&'a str, Option<Made>>;

/// Returns the entity that a good answer is about: from its headers, or else from its body.
pub(super) fn made(outcome: &Outcome) -> Option<Made> {
    if !super::is_good(outcome.status) {
        return None;
    }
    let body: Value = serde_json::from_str(&outcome.body).unwrap_or_default();
    let text = |name: &str| {
        body.get(name)
            .and_then(Value::as_str)
            .map(ToOwned::to_owned)
    };
    let decoded = |name: &str| {
        let value = outcome.headers.get(name)?.to_str().ok()?;
        let decoded = percent_encoding::percent_decode_str(value).decode_utf8();
        Some(decoded.ok()?.into_owned())
    };
    Some(Made {
        entity_id: decoded("entityid").or_else(|| text("entityId"))?,
        entity_reference: decoded("entityreference").or_else(|| text("entityReference"))?,
    })
}

/// Fills `$<id>.entityId` and `$<id>.entityReference` in `path` from the results of earlier operations.
pub(super) fn fill_path(path: &str, results: &Results<'_>) -> Result<String> {
    let (address, query) = path
        .split_once('?')
        .map_or((path, None), |(path, query)| (path, Some(query)));
    let filled: Vec<String> = address
        .split('/')
        .map(|segment| match place(segment) {
            Some((id, what)) => look_up(id, what, results).map(encode_segment),
            None => Ok(segment.to_owned()),
        })
        .collect::<Result<_>>()?;
    let query = query.map(|it| fill_query(it, results)).transpose()?;
    let query = query.map(|it| format!("?{it}")).unwrap_or_default();
    Ok(format!("{}{query}", filled.join("/")))
}

/// The same in the values of a query or of a form.
pub(super) fn fill_query(query: &str, results: &Results<'_>) -> Result<String> {
    let filled: Vec<String> = query
        .split('&')
        .map(|pair| match pair.split_once('=') {
            Some((name, value)) => match place(value) {
                Some((id, what)) => {
                    let value = entity_formats::encode(look_up(id, what, results)?);
                    Ok(format!("{name}={value}"))
                }
                None => Ok(pair.to_owned()),
            },
            None => Ok(pair.to_owned()),
        })
        .collect::<Result<_>>()?;
    Ok(filled.join("&"))
}

/// Fills the texts in `value` that are nothing but a placeholder from the results of earlier operations.
pub(super) fn fill(value: &Value, results: &Results<'_>) -> Result<Value> {
    Ok(match value {
        Value::String(text) => match place(text) {
            Some((id, what)) => Value::from(look_up(id, what, results)?),
            None => value.clone(),
        },
        Value::Array(items) => Value::Array(
            items
                .iter()
                .map(|it| fill(it, results))
                .collect::<Result<_>>()?,
        ),
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(name, it)| Ok((name.clone(), fill(it, results)?)))
                .collect::<Result<_>>()?,
        ),
        other => other.clone(),
    })
}

/// Parses a placeholder: the id of the earlier operation, and the name of its property. It may have an extension, as a
/// path's last segment does.
fn place(text: &str) -> Option<(&str, &str)> {
    let (id, what) = text.strip_prefix('$')?.split_once('.')?;
    matches!(what, "entityId" | "entityReference").then_some((id, what))
}

fn look_up<'a>(id: &str, what: &str, results: &'a Results<'_>) -> Result<&'a str> {
    let made = results
        .get(id)
        .ok_or_else(|| Error::bad_request(format!("`${id}` is the id of no earlier operation")))?;
    let made = made.as_ref().ok_or_else(|| {
        Error::conflict(format!("the operation `{id}` made nothing to go on with"))
    })?;
    Ok(match what {
        "entityId" => &made.entity_id,
        _ => &made.entity_reference,
    })
}

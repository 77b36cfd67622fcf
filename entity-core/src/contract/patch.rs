//! Patch documents: changes that are described as differences to the present state of an entity.
//!
//! Both kinds are resolved to the fields that they change, with their new values, which are then treated like any other
//! input.

use json_patch::{PatchErrorKind, PatchOperation};
use serde_json::{Map, Value};

use crate::contract::input::Input;
use crate::model::schema::{Schema, Writable};
use crate::primitives::error::{Error, FieldError, Result};

/// The maximum number of operations in one document.
const MAX_OPERATIONS: usize = 200;
/// The maximum number of bytes that all `copy` operations of a document may add to an entity together.
const MAX_COPIED: usize = 1 << 20;

/// A well-formed patch document.
#[derive(Clone, Debug, PartialEq)]
pub enum Patch {
    /// A merge patch: fields with new values, where null stands for no value (RFC 7396).
    Merge(Map<String, Value>),
    /// A JSON Patch: operations on the entity as clients read it (RFC 6902).
    Operations(Vec<PatchOperation>),
}

impl Patch {
    /// Parses a merge patch.
    ///
    /// # Errors
    /// Returns an error if `document` is not an object.
    pub fn merge(document: Value) -> Result<Self> {
        match document {
            Value::Object(fields) => Ok(Self::Merge(fields)),
            _ => Err(Error::bad_request("a merge patch must be a JSON object")),
        }
    }

    /// Parses a JSON Patch.
    ///
    /// # Errors
    /// Returns an error if `document` is not a list of operations, or if there are too many.
    pub fn operations(document: Value) -> Result<Self> {
        let operations: Vec<PatchOperation> =
            serde_json::from_value(document).map_err(|error| {
                Error::bad_request(
                    "a JSON Patch must be a list of operations, each with `op`, `path` and what the `op` takes: `value` or `from`",
                )
                .with_source(error)
            })?;
        match operations.len() > MAX_OPERATIONS {
            true => Err(Error::bad_request(format!(
                "a JSON Patch must not have more than {MAX_OPERATIONS} operations"
            ))),
            false => Ok(Self::Operations(operations)),
        }
    }

    /// Returns the fields that the patch changes in `current`, an entity of `schema` as clients read it, with their new
    /// values.
    ///
    /// # Errors
    /// Returns an error if an operation does not fit the entity, copies too much, or changes a field that can't be
    /// changed.
    pub(crate) fn resolve(&self, current: Map<String, Value>, schema: &Schema) -> Result<Input> {
        let fields = match self {
            Self::Merge(patch) => merged(current, patch),
            Self::Operations(operations) => changed(&current, operations, schema)?,
        };
        Ok(Input {
            fields,
            ..Input::default()
        })
    }
}

/// Returns the new values of the fields that `patch` names.
fn merged(mut current: Map<String, Value>, patch: &Map<String, Value>) -> Map<String, Value> {
    patch
        .iter()
        .map(|(name, change)| {
            let mut value = current.remove(name).unwrap_or_default();
            json_patch::merge(&mut value, change);
            (name.clone(), value)
        })
        .collect()
}

/// Returns the fields that differ after the operations, with their new values; null for removed fields.
fn changed(
    current: &Map<String, Value>,
    operations: &[PatchOperation],
    schema: &Schema,
) -> Result<Map<String, Value>> {
    let mut after = Value::Object(current.clone());
    let mut copied = 0_usize;
    for (index, operation) in operations.iter().enumerate() {
        copied = copied.saturating_add(size_of_copy(&after, operation));
        if copied > MAX_COPIED {
            return Err(Error::bad_request("the patch copies too much"));
        }
        json_patch::patch(&mut after, std::slice::from_ref(operation))
            .map_err(|error| refuse(index, operation, &error.kind))?;
    }
    let Value::Object(after) = after else {
        return Err(Error::bad_request("the patch must leave an object"));
    };
    let removed = current
        .keys()
        .filter(|it| !after.contains_key(*it))
        .map(|it| (it.clone(), Value::Null));
    let removed: Vec<_> = removed.collect();
    let changed: Map<_, _> = after
        .into_iter()
        .filter(|(name, value)| current.get(name) != Some(value))
        .chain(removed)
        .collect();
    refuse_read_only(&changed, schema)?;
    Ok(changed)
}

/// Refuses changes of fields that can't be changed. A JSON Patch names each field on purpose, so such a field is not
/// left out silently.
fn refuse_read_only(changed: &Map<String, Value>, schema: &Schema) -> Result<()> {
    let errors: Vec<FieldError> = changed
        .keys()
        .filter(|name| {
            schema
                .field(name)
                .is_some_and(|it| it.writable != Writable::Always)
        })
        .map(|name| FieldError {
            name: name.clone(),
            message: "can't be changed".to_owned(),
        })
        .collect();
    match errors.is_empty() {
        true => Ok(()),
        false => Err(Error::fields(errors)),
    }
}

/// Returns the value that the operation writes, with the path of its field, unless it copies data.
pub(crate) fn written(operation: &PatchOperation) -> Option<(&str, &Value)> {
    let (path, value) = match operation {
        PatchOperation::Add(it) => (&it.path, &it.value),
        PatchOperation::Replace(it) => (&it.path, &it.value),
        _ => return None,
    };
    Some((path.as_str().strip_prefix('/')?, value))
}

/// Returns the number of bytes of JSON that the operation copies. Without a limit, repeated copies of a growing value
/// would grow without end.
fn size_of_copy(document: &Value, operation: &PatchOperation) -> usize {
    match operation {
        PatchOperation::Copy(copy) => document
            .pointer(copy.from.as_str())
            .map_or(0, |it| it.to_string().len()),
        _ => 0,
    }
}

fn refuse(index: usize, operation: &PatchOperation, kind: &PatchErrorKind) -> Error {
    let path = operation.path();
    Error::conflict(match kind {
        PatchErrorKind::TestFailed => {
            format!("the entity has another value at `{path}` than operation {index} expects")
        }
        _ => format!("operation {index} can't be done at `{path}`: the entity has no such place"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::schema::{Field, Kind};
    use crate::primitives::error::ErrorKind;

    const SCHEMA: Schema = Schema {
        doc: "",
        fields: &[
            Field::new("id", Kind::Text(99), ""),
            Field::new("site", Kind::Text(99), "").on_create(),
            Field::new("title", Kind::Text(99), "").writable(),
            Field::new("tags", Kind::List, "").writable(),
            Field::new("extra", Kind::Object, "").writable(),
        ],
        has_feed: false,
        has_events: false,
        has_site: false,
        look: crate::model::look::Look::PLAIN,
    };

    fn current() -> Map<String, Value> {
        let current = json!({"id": "1", "site": "s", "title": "t", "tags": ["a", "b"], "extra": {"x": 1, "y": {"z": 2}}});
        current.as_object().unwrap().clone()
    }

    fn resolve(patch: Result<Patch>) -> Result<Value> {
        Ok(Value::Object(patch?.resolve(current(), &SCHEMA)?.fields))
    }

    /// The example of RFC 7396, appendix A, within one field.
    #[test]
    fn a_merge_patch_replaces_fields_and_merges_objects() {
        for (patch, expected) in [
            (json!({"title": "n"}), json!({"title": "n"})),
            (json!({"title": null}), json!({"title": null})),
            (json!({"tags": ["c"]}), json!({"tags": ["c"]})),
            (
                json!({"extra": {"x": null, "y": {"w": 3}}}),
                json!({"extra": {"y": {"z": 2, "w": 3}}}),
            ),
            (
                json!({"new": {"a": {"b": null}}}),
                json!({"new": {"a": {}}}),
            ),
            (json!({}), json!({})),
        ] {
            assert_eq!(
                resolve(Patch::merge(patch.clone())).unwrap(),
                expected,
                "{patch}"
            );
        }
        assert!(Patch::merge(json!([1])).is_err());
    }

    #[test]
    fn operations_come_down_to_the_fields_that_they_change() {
        for (patch, expected) in [
            (
                json!([{"op": "replace", "path": "/title", "value": "n"}]),
                json!({"title": "n"}),
            ),
            (
                json!([{"op": "add", "path": "/tags/1", "value": "c"}]),
                json!({"tags": ["a", "c", "b"]}),
            ),
            (
                json!([{"op": "remove", "path": "/extra"}]),
                json!({"extra": null}),
            ),
            (
                json!([{"op": "move", "from": "/tags/0", "path": "/title"}]),
                json!({"title": "a", "tags": ["b"]}),
            ),
            (
                json!([{"op": "test", "path": "/title", "value": "t"}]),
                json!({}),
            ),
            (
                json!([{"op": "replace", "path": "/id", "value": "1"}]),
                json!({}),
            ),
        ] {
            assert_eq!(
                resolve(Patch::operations(patch.clone())).unwrap(),
                expected,
                "{patch}"
            );
        }
    }

    #[test]
    fn what_does_not_fit_is_told_apart() {
        use ErrorKind::{BadRequest, Conflict};
        for (patch, expected) in [
            (json!({"op": "add"}), BadRequest),
            (json!([{"op": "nonsense", "path": "/title"}]), BadRequest),
            (
                json!([{"op": "test", "path": "/title", "value": "other"}]),
                Conflict,
            ),
            (json!([{"op": "remove", "path": "/nothing"}]), Conflict),
            (
                json!([{"op": "replace", "path": "/id", "value": "2"}]),
                BadRequest,
            ),
            (
                json!([{"op": "replace", "path": "/site", "value": "2"}]),
                BadRequest,
            ),
            (
                json!([{"op": "replace", "path": "", "value": 3}]),
                BadRequest,
            ),
        ] {
            let error = resolve(Patch::operations(patch.clone())).unwrap_err();
            assert_eq!(error.kind(), expected, "{patch}");
        }
    }

    #[test]
    fn copies_of_copies_come_to_an_end() {
        let bomb: Vec<Value> = (0..60)
            .map(|it| json!({"op": "copy", "from": "/extra", "path": format!("/extra/{it}")}))
            .collect();
        let error = resolve(Patch::operations(Value::Array(bomb))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadRequest);
        let many = vec![json!({"op": "test", "path": "/id", "value": "1"}); MAX_OPERATIONS + 1];
        assert!(Patch::operations(Value::Array(many)).is_err());
    }
}

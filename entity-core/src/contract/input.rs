//! The body of a request as data, which is checked against a schema and decoded into a type of the provider.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::contract::blob::Upload;
use crate::contract::patch::{self, Patch};
use crate::contract::wall_clock::{self, WallClock};
use crate::model::lines;
use crate::model::measure;
use crate::model::schema::{Field, Kind, Role, Schema, Writable};
use crate::model::shape;
use crate::primitives::error::{Error, FieldError, Result};
use crate::primitives::recurrence::Tz;

/// The suffix of the name of a list, behind the prefix of its type.
pub(crate) const COLLECTION: &str = "_collection";
/// The metadata keys that every entity has on the wire. Clients can't write them.
pub(crate) const METADATA: [&str; 4] = ["entityReference", "entityURL", "entityId", "entityTitle"];

/// A body, parsed and not yet checked. A missing body is an empty input.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Input {
    /// The fields that were sent.
    pub fields: Map<String, Value>,
    /// True if the format has only text, so that numbers and other values are still to be parsed from it.
    pub is_textual: bool,
    /// True if the body came from an HTML form.
    pub is_form: bool,
    /// The zone by whose clock a form sends the times of an entity that names none; UTC, if there is none.
    pub zone: Option<Tz>,
    /// True if fields that can't be written are refused instead of left out.
    pub is_strict: bool,
    /// The patch document, if the body is one instead of fields.
    pub patch: Option<Patch>,
    /// The name of the root element of the body, if its format has one.
    pub root: Option<String>,
    /// The files that came with the fields.
    pub uploads: Vec<Upload>,
}

/// The fields of a body that the caller may write, each of its declared kind.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(transparent)]
pub struct Fields(pub Map<String, Value>);

/// Creates an input of fields, each a name and a value, as if a client had sent them.
impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Input {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(fields: I) -> Self {
        let fields = fields.into_iter();
        Self {
            fields: fields.map(|(name, it)| (name.into(), it.into())).collect(),
            ..Self::default()
        }
    }
}

impl Input {
    /// Resolves a patch against `stored`, the fields of an entity with this schema, into the fields that it changes. Returns
    /// an input without a patch as it is.
    ///
    /// # Errors
    /// Returns an error if the patch does not fit `stored`.
    pub(crate) fn resolve(&self, schema: &'static Schema, stored: &Value) -> Result<Cow<'_, Self>> {
        let Some(patch) = &self.patch else {
            return Ok(Cow::Borrowed(self));
        };
        let Value::Object(stored) = stored else {
            return Err(Error::internal("an entity is not an object"));
        };
        let resolved = patch.resolve(stored.clone(), schema)?;
        Ok(Cow::Owned(Self {
            is_strict: self.is_strict,
            ..resolved
        }))
    }

    /// Returns what the body says by itself: its fields, or the values in its patch, each with the path of its field. What
    /// a patch copies is left out.
    pub(crate) fn said(&self) -> Vec<(&str, &Value)> {
        let fields = match &self.patch {
            Some(Patch::Operations(operations)) => {
                return operations.iter().filter_map(patch::written).collect();
            }
            Some(Patch::Merge(fields)) => fields,
            None => &self.fields,
        };
        let fields = fields.iter();
        fields.map(|(name, it)| (name.as_str(), it)).collect()
    }

    /// Unwraps the fields of the root, if the input has a single field, which is named `prefix` and holds an object.
    #[must_use]
    pub fn unwrap_root(mut self, prefix: &str) -> Self {
        if self.fields.len() == 1
            && let Some(Value::Object(inner)) = self.fields.get_mut(prefix)
        {
            self.fields = std::mem::take(inner);
        }
        self
    }

    /// Checks the fields against `schema` and returns those that may be written. On creation, adds the default values
    /// of fields that were not sent. Times without an offset are by the clock of the time zone that is sent with them, if
    /// the schema has a field that names one, else in UTC.
    ///
    /// A declared field that the client may not write is left out or, if the input is strict, refused. An undeclared
    /// field is refused.
    ///
    /// # Errors
    /// Returns an error if there are unknown fields, values of the wrong kind or missing required fields; it names them
    /// all.
    pub fn check(&self, schema: &Schema, on_create: bool) -> Result<Fields> {
        self.check_by(&WallClock::of_new(self, schema), schema, on_create)
    }

    /// Checks the fields as [`check`](Self::check) does, for a change of an entity with the fields `stored`, whose time zone
    /// counts if none is sent.
    pub(crate) fn check_change(&self, schema: &Schema, stored: &Value) -> Result<Fields> {
        self.check_by(&WallClock::of_present(self, schema, stored), schema, false)
    }

    fn check_by(&self, clock: &WallClock, schema: &Schema, on_create: bool) -> Result<Fields> {
        let mut checked = Map::new();
        let mut errors = Vec::new();
        let sent = match self.is_form {
            true => measure::read(&self.fields, schema, self.zone).map_err(Error::fields)?,
            false => Cow::Borrowed(&self.fields),
        };
        for (name, value) in &*sent {
            let field = schema.field(name);
            let placed = field.and_then(|it| clock.place(schema, it, value));
            let value = placed.as_ref().unwrap_or(value);
            match self.check_field(schema, on_create, name, value) {
                Ok(Some(value)) => {
                    checked.insert(name.clone(), value);
                }
                Ok(None) => {}
                Err(error) => errors.push(error),
            }
        }
        if on_create {
            errors.extend(missing(schema, &sent));
            fill(schema, &mut checked);
        }
        match errors.is_empty() {
            true => Ok(Fields(checked)),
            false => Err(Error::fields(errors)),
        }
    }

    fn check_field(
        &self,
        schema: &Schema,
        on_create: bool,
        name: &str,
        value: &Value,
    ) -> Result<Option<Value>, FieldError> {
        let left_out = || match self.is_strict {
            true => Err(FieldError {
                name: name.to_owned(),
                message: "can't be written".to_owned(),
            }),
            false => Ok(None),
        };
        if METADATA.contains(&name) {
            return left_out();
        }
        let Some(field) = schema.field(name) else {
            return Err(FieldError {
                name: name.to_owned(),
                message: "is not a field of this type".to_owned(),
            });
        };
        if !field.may_be_written(on_create) {
            return left_out();
        }
        // A form sends all its fields; an id that is left empty is made.
        if on_create && field.role == Some(Role::Id) && self.is_nothing(value) {
            return Ok(None);
        }
        if is_scalar(field.kind) && !field.is_nullable && self.is_nothing(value) {
            return nothing(field, on_create);
        }
        let checked = match value {
            Value::String(text) if self.is_form && is_structure(field.kind) => {
                lines::read(field, text)
            }
            // Where there is text only, nothing else says null.
            Value::String(_)
                if self.is_nothing(value) && (field.is_nullable || !is_text(field.kind)) =>
            {
                crate::model::value::check(field, Value::Null)
            }
            // Its shape, if it has one, says what it is.
            other if self.is_textual && !self.is_form && is_shaped(field, other) => {
                Ok(other.clone())
            }
            Value::String(text) if self.is_textual => field.parse(text),
            Value::Array(both) if self.is_form && is_tick(field.kind, both) => {
                Ok(Value::Bool(true))
            }
            Value::Array(items) if self.is_form && field.kind == Kind::List => {
                crate::model::value::check(field, lines::read_items(items))
            }
            Value::Array(_) if self.is_form => Err(Error::field(name, "is given more than once")),
            other => crate::model::value::check(field, other.clone()),
        };
        let checked = checked.and_then(|it| match crate::model::value::is_chosen(field, &it) {
            true => Ok(it),
            false => Err(Error::field(
                field.name,
                format!("must be {}", field.choices.join(" or ")),
            )),
        });
        let checked = checked.map_err(|error| FieldError {
            name: name.to_owned(),
            message: error
                .field_errors()
                .first()
                .map_or_else(|| error.message().to_owned(), |it| it.message.clone()),
        })?;
        wall_clock::check_zone(field, &checked)?;
        shape::bring(field, checked, self.is_textual).map(Some)
    }
}

impl Input {
    /// Returns whether `value` clears a field: null or, where there is only text, empty text.
    fn is_nothing(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.is_textual && text.trim().is_empty(),
            other => other.is_null(),
        }
    }
}

impl Fields {
    /// Decodes the fields into a type that the provider declares.
    ///
    /// # Errors
    /// Returns an error if a field is missing or can't be decoded; the error names it.
    pub fn decode<T: DeserializeOwned>(self) -> Result<T> {
        shape::deserialize(Value::Object(self.0))
    }

    /// Returns the text of a field, if it was sent and is text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }
}

/// The outcome of clearing `field`, which has no empty value: refused by name, unless an entity is created, for then it
/// says nothing.
fn nothing(field: &Field, on_create: bool) -> Result<Option<Value>, FieldError> {
    let message = match (field.is_required, on_create) {
        (true, _) => crate::model::value::REQUIRED,
        (false, true) => return Ok(None),
        (false, false) => "must not be empty",
    };
    Err(FieldError {
        name: field.name.to_owned(),
        message: message.to_owned(),
    })
}

/// Returns whether values of the kind have no empty value besides null.
fn is_scalar(kind: Kind) -> bool {
    !is_text(kind) && !is_structure(kind)
}

fn is_text(kind: Kind) -> bool {
    matches!(kind, Kind::Text(_) | Kind::Html(_))
}

/// Returns whether `value` is not null and the field declares a shape for it besides its kind.
fn is_shaped(field: &Field, value: &Value) -> bool {
    field.shape.is_some() && !value.is_null()
}

/// Returns whether forms represent values of the kind as lines of text.
fn is_structure(kind: Kind) -> bool {
    matches!(kind, Kind::List | Kind::Object)
}

/// Returns whether a check box was ticked. A browser sends nothing for an unticked box, so pages send `false` in front
/// of each box, and a ticked box adds `true` behind it.
fn is_tick(kind: Kind, values: &[Value]) -> bool {
    kind == Kind::Boolean && values == ["false", "true"]
}

/// Adds the default values of the fields that the client left out or sent as null.
fn fill(schema: &Schema, checked: &mut Map<String, Value>) {
    for field in schema.writable(true) {
        let is_said = checked.get(field.name).is_some_and(|it| !it.is_null());
        let value = field.default.and_then(|it| field.parse(it).ok());
        if let (false, Some(value)) = (is_said, value) {
            checked.insert(field.name.to_owned(), value);
        }
    }
}

fn missing(schema: &Schema, sent: &Map<String, Value>) -> Vec<FieldError> {
    schema
        .fields
        .iter()
        .filter(|it| {
            it.is_required && it.writable != Writable::Never && !sent.contains_key(it.name)
        })
        .map(|it| FieldError {
            name: it.name.to_owned(),
            message: "is required".to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SCHEMA: Schema = Schema {
        doc: "",
        fields: &[
            Field::new("id", Kind::Text(99), ""),
            Field::new("site", Kind::Text(99), "")
                .on_create()
                .required(),
            Field::new("points", Kind::Integer, "").writable(),
        ],
        has_feed: false,
        has_events: false,
        has_site: false,
        look: crate::model::look::Look::PLAIN,
    };

    fn input(value: Value, is_textual: bool) -> Input {
        let Value::Object(fields) = value else {
            panic!("an object")
        };
        Input {
            fields,
            is_textual,
            is_form: is_textual,
            ..Input::default()
        }
    }

    #[test]
    fn only_what_may_be_written_comes_through() {
        let sent = input(
            json!({"id": "x", "site": "s", "points": "5", "entityURL": "u"}),
            true,
        );
        assert_eq!(
            sent.check(&SCHEMA, true).unwrap().0,
            *json!({"site": "s", "points": 5}).as_object().unwrap()
        );
        assert_eq!(
            sent.check(&SCHEMA, false).unwrap().0,
            *json!({"points": 5}).as_object().unwrap()
        );
    }

    #[test]
    fn every_wrong_field_is_named() {
        let error = input(json!({"points": "x", "nonsense": 1}), true)
            .check(&SCHEMA, true)
            .unwrap_err();
        let names: Vec<_> = error
            .field_errors()
            .iter()
            .map(|it| it.name.as_str())
            .collect();
        assert_eq!(names, ["points", "nonsense", "site"]);
    }

    #[test]
    fn a_root_named_after_the_type_is_unwrapped() {
        let sent = input(json!({"room": {"points": 1}}), false).unwrap_root("room");
        assert_eq!(
            sent.check(&SCHEMA, false).unwrap().0,
            *json!({"points": 1}).as_object().unwrap()
        );
    }

    const CHOOSY: Schema = Schema {
        doc: "",
        fields: &[
            Field::new("kind", Kind::Text(9), "")
                .writable()
                .nullable()
                .choices(&["course", "project"]),
            Field::new("open", Kind::Boolean, "")
                .writable()
                .default("true"),
            Field::new("words", Kind::List, "").writable(),
            Field::new("props", Kind::Object, "").writable(),
        ],
        has_feed: false,
        has_events: false,
        has_site: false,
        look: crate::model::look::Look::PLAIN,
    };

    #[test]
    fn a_form_has_check_boxes_and_lines() {
        for (sent, expected) in [
            (json!({"open": "false"}), json!({"open": false})),
            (json!({"kind": ""}), json!({"kind": null})),
            (json!({"open": ["false", "true"]}), json!({"open": true})),
            (json!({"words": ""}), json!({"words": []})),
            (json!({"words": "a\r\nb"}), json!({"words": ["a", "b"]})),
            (json!({"words": ["a", "b"]}), json!({"words": ["a", "b"]})),
            (json!({"props": "a=b"}), json!({"props": {"a": "b"}})),
        ] {
            let checked = input(sent, true).check(&CHOOSY, false);
            assert_eq!(Value::Object(checked.unwrap().0), expected);
        }
        for sent in [
            json!({"open": ["true", "false"]}),
            json!({"open": ["true", "true"]}),
            json!({"open": ["false", "true", "true"]}),
            json!({"props": "a"}),
        ] {
            let checked = input(sent.clone(), true).check(&CHOOSY, false);
            assert!(checked.is_err(), "{sent}");
        }
        let lines = input(json!({"words": "a\nb"}), false);
        assert!(lines.check(&CHOOSY, false).is_err());
    }

    #[test]
    fn only_what_is_offered_can_be_chosen() {
        let check = |kind: &str| input(json!({"kind": kind}), false).check(&CHOOSY, false);
        assert!(check("course").is_ok() && check("").is_ok());
        let error = check("lecture").unwrap_err();
        assert_eq!(error.field_errors()[0].message, "must be course or project");
    }

    #[test]
    fn new_entities_have_what_is_declared_unless_the_client_says_otherwise() {
        let check = |sent, on_create| {
            let checked = input(sent, false).check(&CHOOSY, on_create);
            checked.unwrap().0.get("open").cloned()
        };
        assert_eq!(check(json!({}), true), Some(json!(true)));
        assert_eq!(check(json!({"open": null}), true), Some(json!(true)));
        assert_eq!(check(json!({"open": false}), true), Some(json!(false)));
        assert_eq!(check(json!({}), false), None);
    }
}

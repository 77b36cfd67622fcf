//! The shape of data that is not an entity: JSON Schema, generated from Rust types.
//!
//! Types provide it by `#[derive(schemars::JsonSchema)]`, which reads their doc comments and serde attributes.

mod field;
mod read;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use self::field::{children, chosen, read, written};
use self::read::{Reader, Wrong};
use crate::model::schema::Field;
use crate::primitives::error::{Error, FieldError, Result};

/// A function that generates the schema of a type. Types that it mentions become definitions of the generator.
pub type Shape = fn(&mut SchemaGenerator) -> Schema;

/// Generates the schema of `T`. This function is the [`Shape`] of `T`.
pub fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// Generates the schema of data that is of one of two types. This function is the [`Shape`] of such data.
pub fn either<A: JsonSchema, B: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let shapes = [
        generator.subschema_for::<A>(),
        generator.subschema_for::<B>(),
    ];
    schemars::json_schema!({ "anyOf": shapes })
}

/// Creates a generator for the schemas of serialised data; definitions are placed where `definitions`
/// (`/components/schemas`) points.
pub fn generator(definitions: &'static str) -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings
        .with(|it| it.definitions_path = definitions.into())
        .into_generator()
}

/// The shape of data that clients send. Two values are equal if they generate the same schema.
#[derive(Clone, Copy, Debug)]
pub struct Sent(pub Shape);

impl Sent {
    /// Returns the complete schema, which contains no references to definitions unless the type is recursive.
    pub fn schema(self) -> Schema {
        let settings = SchemaSettings::draft2020_12().for_deserialize();
        let settings = settings.with(|it| it.inline_subschemas = true);
        (self.0)(&mut settings.into_generator())
    }
}

impl PartialEq for Sent {
    fn eq(&self, other: &Self) -> bool {
        self.schema() == other.schema()
    }
}

impl Eq for Sent {}

/// Converts the value that a client sent for `field` to the shape that the field declares, at every depth. If the
/// format has text only (`is_textual`), other values are parsed from text.
///
/// # Errors
/// Returns an error if a part has another shape; the error names the part by its path: `attachments[0].url`.
pub(crate) fn bring(field: &Field, value: Value, is_textual: bool) -> Result<Value, FieldError> {
    match (field.shape, value) {
        (Some(shape), value) if !value.is_null() => Reader { is_textual }
            .read(shape.schema().as_value(), value)
            .map_err(|it| it.below(field.name)),
        (_, value) => Ok(value),
    }
}

/// Decodes JSON that a client sent as a `T`.
///
/// # Errors
/// Returns an error if the data has another shape. The error is worded for clients and names the part that is wrong.
pub fn decode<T: JsonSchema + DeserializeOwned>(value: Value) -> Result<T> {
    let value = Reader { is_textual: false }
        .read(Sent(of::<T>).schema().as_value(), value)
        .map_err(Wrong::into_error)?;
    deserialize(value)
}

/// Deserialises a `T` from data whose shape was already checked. A remaining error is reported without the message of
/// the decoder, which is about Rust.
pub(crate) fn deserialize<T: DeserializeOwned>(value: Value) -> Result<T> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let refused = match path.as_str() {
            "." => Error::bad_request(format!("the body {UNREADABLE}")),
            _ => Error::field(path, UNREADABLE),
        };
        refused.with_source(error)
    })
}

/// Deserialises the value of the field `name`, and reports errors as [`deserialize`] does.
#[cfg(feature = "sea-orm")]
pub(crate) fn deserialize_field<T: DeserializeOwned>(name: &str, value: Value) -> Result<T> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = match error.path().to_string().as_str() {
            "." => name.to_owned(),
            path if path.starts_with('[') => format!("{name}{path}"),
            path => format!("{name}.{path}"),
        };
        Error::field(path, UNREADABLE).with_source(error)
    })
}

const UNREADABLE: &str = "is of another form than is taken here, or out of its range";

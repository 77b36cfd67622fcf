//! The shape of data that is no entity: JSON Schema, made from the Rust types that are written.
//!
//! Types say it by `#[derive(schemars::JsonSchema)]`, which reads their doc comments and what serde is told of them.

mod read;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;

use self::read::{Reader, Wrong};
use crate::error::{Error, FieldError, Result};
use crate::schema::Field;

/// Makes the schema of a type. Types that it mentions become definitions of the generator.
pub type Shape = fn(&mut SchemaGenerator) -> Schema;

/// The [`Shape`] of `T`.
pub fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// The [`Shape`] of data that is either of two types.
pub fn either<A: JsonSchema, B: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let shapes = [
        generator.subschema_for::<A>(),
        generator.subschema_for::<B>(),
    ];
    schemars::json_schema!({ "anyOf": shapes })
}

/// Makes the schemas of data as it is written; definitions go where `definitions` (`/components/schemas`) points.
pub fn generator(definitions: &'static str) -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings
        .with(|it| it.definitions_path = definitions.into())
        .into_generator()
}

/// The shape of data as it is sent. Two are equal if they make the same schema.
#[derive(Clone, Copy, Debug)]
pub struct Sent(pub Shape);

impl Sent {
    /// Its schema, whole: it refers to nothing else, unless the data may hold data of its own kind.
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

/// Brings what a client sent for `field` to the shape that the field declares, at every depth. What has text only
/// says everything else by it.
///
/// # Errors
/// Something is of another shape; the error names it by its path: `attachments[0].url`.
pub(crate) fn bring(field: &Field, value: Value, is_textual: bool) -> Result<Value, FieldError> {
    match (field.shape, value) {
        (Some(shape), value) if !value.is_null() => Reader { is_textual }
            .read(shape.schema().as_value(), value)
            .map_err(|it| it.below(field.name)),
        (_, value) => Ok(value),
    }
}

/// Reads JSON that a client sent as a `T`.
///
/// # Errors
/// It is of another shape. The error says so in words of its own, and names what is wrong.
pub fn decode<T: JsonSchema + DeserializeOwned>(value: Value) -> Result<T> {
    let value = Reader { is_textual: false }
        .read(Sent(of::<T>).schema().as_value(), value)
        .map_err(Wrong::into_error)?;
    deserialize(value)
}

/// Makes a `T` of data of which the shape was looked at. Whatever is still wrong with it is told without the words of
/// the decoder, which are about Rust.
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

const UNREADABLE: &str = "is of another form than is taken here, or out of its range";

//! The shape of data that is no entity: JSON Schema, made from the Rust types that are written.
//!
//! Types say it by `#[derive(schemars::JsonSchema)]`, which reads their doc comments and what serde is told of them.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};

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

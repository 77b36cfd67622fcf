//! Answers as trees, for the formats that need to look at data before they write it.

use entity_core::reply::Item;
use entity_core::{Error, Result};
use serde::Serialize;
use serde_json::Value;

use crate::primitives::buffer::Buffer;
use crate::render::json;

/// The entity's fields and its metadata, exactly as JSON has them.
pub(crate) fn of_entity(item: &Item, base_url: &str) -> Result<Value> {
    let mut buffer = Buffer::unlimited();
    json::write_entity(&mut buffer, item, base_url)?;
    read(buffer.bytes())
}

/// The data, exactly as JSON has it.
///
/// The way over JSON's bytes keeps one set of limits: writing stops at data that is too deep for a tree.
pub(crate) fn of_value<T: Serialize + ?Sized>(data: &T) -> Result<Value> {
    let mut buffer = Buffer::unlimited();
    json::write_value(&mut buffer, data)?;
    read(buffer.bytes())
}

/// Those of the entity's fields that are named, none of which is deep.
pub(crate) fn of_fields(item: &Item, names: &[&'static str]) -> Result<Value> {
    serde_json::to_value(item.some_data(names)).map_err(Error::internal)
}

fn read(buffer: &[u8]) -> Result<Value> {
    serde_json::from_slice(buffer).map_err(Error::internal)
}

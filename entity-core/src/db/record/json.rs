//! Fields that a column holds as JSON.

use sea_orm::Value;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::db::Row;
use crate::primitives::error::Result;

/// Returns the value with which a column stores `data`: the JSON as text. For
/// [`ColumnValue::to_value`](super::ColumnValue::to_value).
pub fn json_value(data: &impl Serialize) -> Value {
    serde_json::to_string(data).unwrap_or_default().into()
}

/// Reads the next column of a row, in which [`json_value`] stored something. A text that is none of this type, such as
/// the empty one of a column that was added later, counts as the default value. For
/// [`ColumnValue::read`](super::ColumnValue::read).
///
/// # Errors
/// Returns an error if the column does not hold text.
pub fn read_json<T: DeserializeOwned + Default>(row: &mut Row<'_>) -> Result<T> {
    let text: String = row.take()?;
    Ok(serde_json::from_str(&text).unwrap_or_default())
}

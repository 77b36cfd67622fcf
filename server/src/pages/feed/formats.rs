//! The formats of a private feed.

use entity_core::db::{ColumnValue, Row};
use entity_core::{Context, Result};
use serde::Serialize;

/// The names of formats, stored as one text with commas between them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct FormatNames(pub Vec<String>);

impl ColumnValue for FormatNames {
    type Sent = Vec<String>;

    fn receive(_cx: &Context, sent: Vec<String>) -> Result<Self, String> {
        Ok(Self(sent))
    }

    fn to_value(&self) -> sea_orm::Value {
        self.0.join(",").into()
    }

    fn read(_cx: &Context, row: &mut Row<'_>) -> Result<Self> {
        let text: String = row.take()?;
        Ok(Self(text.split(',').map(ToOwned::to_owned).collect()))
    }
}

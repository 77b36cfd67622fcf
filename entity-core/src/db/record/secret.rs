//! Text that is stored and never shown.

use sea_orm::Value;

use super::ColumnValue;
use crate::contract::context::Context;
use crate::db::{Column, ColumnType, Row};
use crate::primitives::error::Result;

/// Text that is stored and never shown, such as the hash of a password; perhaps there is none. Neither a log nor an
/// answer contains it.
#[derive(derive_more::Debug, Clone, Default, PartialEq, Eq)]
#[debug("Secret")]
pub struct Secret(Option<String>);

impl Secret {
    /// Creates a secret of `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Some(text.into()))
    }

    /// Returns the text, if there is one.
    pub fn expose(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl ColumnValue for Secret {
    type Sent = String;
    const TYPE: ColumnType = ColumnType::Text;
    const IS_NULLABLE: bool = true;

    fn receive(_cx: &Context, _sent: String) -> Result<Self, String> {
        Err("is written by the service alone".to_owned())
    }

    fn to_value(&self) -> Value {
        Column::to_value(&self.0)
    }

    fn read(_cx: &Context, row: &mut Row<'_>) -> Result<Self> {
        Ok(Self(row.take()?))
    }
}

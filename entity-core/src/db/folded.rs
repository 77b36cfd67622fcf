//! The columns with folded text, beside the columns that lists search.

use sea_orm::Value;

use crate::model::schema::{Field, Schema};

/// Returns the value of the folded column of `field` when `value` is in the field's own column.
pub(super) fn fold_value(field: &Field, value: &Value) -> Value {
    Value::String(match value {
        Value::String(Some(text)) => Some(field.folded(text)),
        _ => None,
    })
}

/// Returns the fields whose text is also stored folded, each with its own column and the one with the folded text.
pub(super) fn folded_fields(
    schema: &Schema,
) -> impl Iterator<Item = (&'static Field, &'static str, String)> + use<> {
    let fields = schema.fields.iter();
    fields.filter_map(|it| Some((it, it.column?, it.folded_column()?)))
}

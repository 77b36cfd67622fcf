//! Fields in SQL.

use crate::model::schema::Field;

/// Returns the SQL of a field: the expression that it declares, or its column. The code that made the filter or the
/// order has checked that the field has one.
pub(super) fn expression(field: &Field, table: &str) -> String {
    match field.sql {
        Some(expression) => expression.to_owned(),
        None => format!("{table}.\"{}\"", field.column.unwrap_or(field.name)),
    }
}

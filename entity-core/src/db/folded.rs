//! The columns with folded text, beside the columns that lists search.

use std::str::FromStr as _;

use sea_orm::{ActiveModelTrait, ActiveValue, EntityTrait, IntoActiveModel, Value};

use crate::model::schema::{Field, Schema};
use crate::words::error::{Error, Result};

/// Returns `row` with its folded columns set: for each column that the row sets and that `schema` declares as `search`,
/// the column with the folded text is set as well.
///
/// # Errors
/// Returns an error if the table lacks a column that the schema needs: see [`Field::folded_column`].
pub fn folded<A: ActiveModelTrait>(row: impl IntoActiveModel<A>, schema: &Schema) -> Result<A> {
    let mut row = row.into_active_model();
    for (field, column, name) in folded_fields(schema) {
        if let ActiveValue::Set(value) | ActiveValue::Unchanged(value) =
            row.get(named::<A>(column)?)
        {
            row.try_set(named::<A>(&name)?, fold_value(field, &value))?;
        }
    }
    Ok(row)
}

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

fn named<A: ActiveModelTrait>(name: &str) -> Result<<A::Entity as EntityTrait>::Column> {
    <A::Entity as EntityTrait>::Column::from_str(name).map_err(|_unknown| {
        let table = A::Entity::default();
        let table = sea_orm::EntityName::table_name(&table);
        Error::internal(format!("the table `{table}` has no column `{name}`"))
    })
}

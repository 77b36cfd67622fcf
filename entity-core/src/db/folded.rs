//! The columns with folded text, beside those that lists look into.

use std::str::FromStr as _;

use sea_orm::{ActiveModelTrait, ActiveValue, EntityTrait, IntoActiveModel, Value};

use crate::error::{Error, Result};
use crate::schema::{Field, Schema};

/// `row` as it is to be written: beside each column that it sets and that the type with this `schema` declares
/// `search`, the column with the text folded is set.
///
/// # Errors
/// The table lacks a column that the schema needs: see [`Field::folded_column`].
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

/// What is in the folded column of `field` when `value` is in its own.
pub(super) fn fold_value(field: &Field, value: &Value) -> Value {
    Value::String(match value {
        Value::String(Some(text)) => Some(field.folded(text)),
        _ => None,
    })
}

/// The fields whose text is kept folded: each with its own column and the one with the folded text.
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

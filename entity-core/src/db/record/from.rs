//! The tables of which a statement about a record reads.

use super::definition::{PARENT, Record, THIS};
use crate::contract::context::Context;
use crate::db::sql::{Sql, Variables};

/// Appends ` FROM …`: the own table, that of the parent, and those that the type joins.
pub(crate) fn write_from<T: Record>(cx: &Context, sql: &mut Sql) {
    sql.push(" FROM \"").push(T::TABLE).push("\" ").push(THIS);
    write_joins::<T>(cx, sql);
}

/// Appends ` JOIN …`: the table of the parent, and those that the type joins.
pub(crate) fn write_joins<T: Record>(cx: &Context, sql: &mut Sql) {
    if let Some(parent) = T::PARENT.filter(|it| it.is_joined) {
        sql.push(if parent.is_optional {
            " LEFT JOIN \""
        } else {
            " JOIN \""
        });
        sql.push(parent.table).push("\" ").push(PARENT).push(" ON ");
        sql.column(PARENT, parent.key).push(" = ");
        sql.column(THIS, parent.column);
    }
    sql.expression(T::JOINS, Variables::of(cx));
}

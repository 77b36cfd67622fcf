//! The tables of which a statement about a record reads.

use sea_orm::{DbBackend, Statement};

use super::constants::{Constants, Declared as _};
use super::definition::{PARENT, Record, THIS};
use crate::contract::context::Context;
use crate::db::sql::{Sql, Variables};

/// Appends ` FROM …`: the own table, that of the parent, and those that the type joins.
pub(crate) fn write_from(of: &Constants, cx: &Context, sql: &mut Sql) {
    write_own(of, sql);
    join(of, Variables::of(cx), sql);
}

fn write_own(of: &Constants, sql: &mut Sql) {
    match of.source {
        Some(query) => sql.push(" FROM (").push(query).push(") "),
        None => sql.push(" FROM \"").push(of.table).push("\" "),
    };
    sql.push(THIS);
}

/// Appends ` JOIN …`: the table of the parent, and those that the type joins.
pub(crate) fn write_joins(of: &Constants, cx: &Context, sql: &mut Sql) {
    join(of, Variables::of(cx), sql);
}

/// Returns the statement that reads these `expressions` of no row at all, as those do that read records.
pub(crate) fn trial<T: Record>(backend: DbBackend, expressions: &[&str]) -> Statement {
    trial_of(T::CONSTANTS, backend, expressions)
}

fn trial_of(of: &Constants, backend: DbBackend, expressions: &[&str]) -> Statement {
    let variables = Variables { caller: "", now: 0 };
    let mut sql = Sql::new(backend, "SELECT ");
    sql.expression(&expressions.join(", "), variables);
    write_own(of, &mut sql);
    join(of, variables, &mut sql);
    sql.push(" WHERE 1 = 0");
    sql.into_statement()
}

fn join(of: &Constants, variables: Variables<'_>, sql: &mut Sql) {
    if let Some(parent) = of.parent.filter(|it| it.is_joined) {
        sql.push(if parent.is_optional {
            " LEFT JOIN \""
        } else {
            " JOIN \""
        });
        sql.push(parent.table).push("\" ").push(PARENT).push(" ON ");
        sql.column(PARENT, parent.key).push(" = ");
        sql.column(THIS, parent.column);
    }
    sql.expression(of.joins, variables);
}

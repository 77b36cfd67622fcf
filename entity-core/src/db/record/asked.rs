//! Queries for records that are written with sea-orm: their conditions, order and part, in a statement of the framework.

use std::fmt::{self, Write};

use sea_orm::sea_query::{
    Expr, PostgresQueryBuilder, QueryBuilder, SelectStatement, SqlWriter, SqliteQueryBuilder,
};
use sea_orm::{DbBackend, Value};

use crate::contract::context::Context;
use crate::db::Sql;
use crate::db::record::definition::THIS;
use crate::primitives::error::{Error, Result};

/// Appends the joins, conditions, order and part of `select`, a query for `table`, to a statement in which the row is
/// called `this`.
///
/// # Errors
/// Returns an error if a subquery of `select` has the table of the record under its own name: a defect.
pub(super) fn write_asked(table: &str, sql: &mut Sql, select: &SelectStatement) -> Result<()> {
    let backend = sql.backend();
    let mut rendered = Rendered {
        sql,
        text: String::with_capacity(512),
    };
    match backend {
        DbBackend::Postgres => {
            PostgresQueryBuilder.prepare_select_statement(select, &mut rendered);
        }
        _ => SqliteQueryBuilder.prepare_select_statement(select, &mut rendered),
    }
    let text = rendered.text;
    let table = format!("\"{table}\"");
    let from = format!(" FROM {table}");
    let Some((_, behind)) = text.split_once(&from) else {
        return Err(Error::internal(format!("no query for {table}: {text}")));
    };
    let mut others = behind.split(&from).skip(1);
    if others.any(|it| !it.starts_with(" AS ")) {
        return Err(Error::internal(format!(
            "a subquery must give {table} an alias: {text}"
        )));
    }
    sql.push(&behind.replace(&format!("{table}."), &format!("{THIS}.")));
    Ok(())
}

/// Returns the condition that `expression`, such as a column, has one of the values `items`, which are bound as one value however many they are:
/// the statement is the same for any number, so that the database plans it once.
///
/// # Errors
/// Returns an error if the service has no database.
pub fn among<T: AsRef<str>>(cx: &Context, expression: Expr, items: &[T]) -> Result<Expr> {
    let mut list = cx.db()?.sql("");
    list.bind_few(items)?;
    let text = match list.backend() {
        DbBackend::Postgres => "$1 $2",
        _ => "? ?",
    };
    Ok(Expr::cust_with_exprs(
        text,
        [expression, list.into_expression()],
    ))
}

/// The text of a query, whose values are bound in the statement of which it becomes a part.
#[derive(derive_more::Display)]
#[display("{}", self.text)]
struct Rendered<'a> {
    sql: &'a mut Sql,
    text: String,
}

impl Write for Rendered<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text.push_str(text);
        Ok(())
    }
}

impl SqlWriter for Rendered<'_> {
    fn push_param<B: QueryBuilder>(&mut self, value: Value, _builder: &B) {
        self.sql.bind_in(&mut self.text, value);
    }

    fn as_writer(&mut self) -> &mut dyn Write {
        self
    }
}

//! Translation of a search to SQL: filters, words, order and window, for any statement that selects from a table.
//!
//! Text columns must be compared byte by byte on PostgreSQL (`COLLATE "C"`), as SQLite does, so that both find the same
//! rows in the same order. A field that `_search` looks into has a column with its folded text beside its own: see
//! [`Field::folded_column`].

use sea_orm::Value;

use super::Sql;
use super::contains::write_contains;
use super::redaction::Columns;
use crate::contract::context::Context;
use crate::contract::search::{Cell, Filter, Needle, Order, Search, Test, is_searched};
use crate::model::schema::{Field, Schema};
use crate::primitives::error::{Error, Result};

/// Returns the number that `statement` selects.
pub(super) async fn counted(cx: &Context, statement: sea_orm::Statement) -> Result<u64> {
    let counts = cx.db()?.scan(statement, crate::db::columns::<i64>).await?;
    let count = counts.first().and_then(|it| u64::try_from(*it).ok());
    count.ok_or_else(|| Error::internal("the database does not count"))
}

/// Appends the filters and words of `search`, each as ` AND …`, of rows with these columns.
pub(super) fn write_matches(
    sql: &mut Sql,
    search: &Search,
    schema: &Schema,
    columns: &Columns<'_>,
) -> Result<()> {
    for filter in &search.filters {
        sql.push(" AND ");
        write_filter(sql, filter, columns)?;
    }
    for word in &search.words {
        let needle = Needle::new(word);
        let mut before = " AND (";
        for field in schema.fields.iter().filter(|it| is_searched(it)) {
            sql.push(before);
            write_contains(sql, &needle, field, columns)?;
            before = " OR ";
        }
        sql.push(match before {
            " OR " => ")",
            _nothing_is_searched => " AND FALSE",
        });
    }
    Ok(())
}

/// Appends ` AND …`, the condition that a row comes after the position at which a walk continues, if there is one.
pub(super) fn write_behind(sql: &mut Sql, search: &Search, columns: &Columns<'_>) -> Result<()> {
    let Some(keys) = search.after() else {
        return Ok(());
    };
    let keys: Vec<(Order, &Cell)> = search.order.iter().copied().zip(keys).collect();
    if let Some((key, cell)) = keys.first() {
        // Follows from the rest, and leads the database to the place by an index.
        sql.push(" AND ");
        write_reaches(sql, *key, cell, columns)?;
    }
    let mut before = " AND (";
    for (index, (key, cell)) in keys.iter().enumerate() {
        if key.is_descending && cell.is_null() {
            // No row comes after a missing value, which is the last one.
            continue;
        }
        sql.push(before);
        for (same, cell) in keys.iter().take(index) {
            write_equal(sql, same.field, cell, columns)?;
            sql.push(" AND ");
        }
        write_greater(sql, *key, cell, columns)?;
        before = " OR ";
    }
    sql.push(match before {
        " OR " => ")",
        _no_row_can => " AND FALSE",
    });
    Ok(())
}

/// Appends ` ORDER BY …`, if there is an order.
pub(super) fn write_order(sql: &mut Sql, order: &[Order], columns: &Columns<'_>) -> Result<()> {
    write_order_of(sql, order, |sql, _, field| columns.write(sql, field))
}

/// Appends ` ORDER BY …`, if there is an order, with what `write` appends for each key, which it is given with its place.
pub(super) fn write_order_of(
    sql: &mut Sql,
    order: &[Order],
    write: impl Fn(&mut Sql, usize, &Field) -> Result<()>,
) -> Result<()> {
    let mut before = " ORDER BY ";
    for (place, key) in order.iter().enumerate() {
        write(sql.push(before), place, key.field)?;
        if key.is_descending {
            sql.push(" DESC");
        }
        // An index of PostgreSQL has its nulls elsewhere, and serves an order that does not mention them.
        if key.field.is_column_nullable {
            sql.push(match key.is_descending {
                true => " NULLS LAST",
                false => " NULLS FIRST",
            });
        }
        before = ", ";
    }
    Ok(())
}

fn write_filter(sql: &mut Sql, filter: &Filter, columns: &Columns<'_>) -> Result<()> {
    let field = filter.field;
    match &filter.test {
        Test::Equal(it) => write_equal(sql, field, it, columns),
        Test::NotEqual(it) => write_or_null(sql, field, "<>", it, columns),
        Test::Greater(it) => write_comparison(sql, field, ">", it, columns),
        Test::GreaterOrEqual(it) => write_comparison(sql, field, ">=", it, columns),
        Test::Less(it) => write_comparison(sql, field, "<", it, columns),
        Test::LessOrEqual(it) => write_comparison(sql, field, "<=", it, columns),
        Test::Like(text) => write_contains(sql, &Needle::new(text), field, columns),
        Test::In(cells) => write_in(sql, field, cells, columns),
        Test::Null(true) => write_then(sql, field, " IS NULL", columns),
        Test::Null(false) => write_then(sql, field, " IS NOT NULL", columns),
    }
}

fn write_in(sql: &mut Sql, field: &Field, cells: &[Cell], columns: &Columns<'_>) -> Result<()> {
    if cells.is_empty() {
        sql.push("FALSE");
        return Ok(());
    }
    columns.write(sql, field)?;
    let texts: Option<Vec<&str>> = cells.iter().map(text).collect();
    if let Some(texts) = texts {
        sql.bind_list(&texts)?;
        return Ok(());
    }
    let mut before = " IN (";
    for cell in cells {
        sql.push(before).bind(value(cell));
        before = ", ";
    }
    sql.push(")");
    Ok(())
}

/// Appends the condition that a row comes after `cell` in this key, where a row can.
fn write_greater(sql: &mut Sql, key: Order, cell: &Cell, columns: &Columns<'_>) -> Result<()> {
    match (cell, key.is_descending) {
        (Cell::Null, _) => write_then(sql, key.field, " IS NOT NULL", columns),
        (cell, false) => write_comparison(sql, key.field, ">", cell, columns),
        (cell, true) => write_or_null(sql, key.field, "<", cell, columns),
    }
}

/// Appends the condition that a row is at `cell` or comes after it in this key.
fn write_reaches(sql: &mut Sql, key: Order, cell: &Cell, columns: &Columns<'_>) -> Result<()> {
    match (cell, key.is_descending) {
        (Cell::Null, true) => write_then(sql, key.field, " IS NULL", columns),
        (Cell::Null, false) => {
            sql.push("TRUE");
            Ok(())
        }
        (cell, false) => write_comparison(sql, key.field, ">=", cell, columns),
        (cell, true) => write_or_null(sql, key.field, "<=", cell, columns),
    }
}

fn write_equal(sql: &mut Sql, field: &Field, cell: &Cell, columns: &Columns<'_>) -> Result<()> {
    match cell {
        Cell::Null => write_then(sql, field, " IS NULL", columns),
        cell => write_comparison(sql, field, "=", cell, columns),
    }
}

fn write_then(sql: &mut Sql, field: &Field, end: &str, columns: &Columns<'_>) -> Result<()> {
    columns.write(sql, field)?;
    sql.push(end);
    Ok(())
}

fn write_comparison(
    sql: &mut Sql,
    field: &Field,
    operator: &str,
    cell: &Cell,
    columns: &Columns<'_>,
) -> Result<()> {
    columns.write(sql, field)?;
    sql.push(" ").push(operator).push(" ").bind(value(cell));
    Ok(())
}

fn write_or_null(
    sql: &mut Sql,
    field: &Field,
    operator: &str,
    cell: &Cell,
    columns: &Columns<'_>,
) -> Result<()> {
    if !field.is_column_nullable {
        return write_comparison(sql, field, operator, cell, columns);
    }
    sql.push("(");
    write_comparison(sql, field, operator, cell, columns)?;
    sql.push(" OR ");
    write_then(sql, field, " IS NULL)", columns)
}

fn text(cell: &Cell) -> Option<&str> {
    match cell {
        Cell::Text(it) => Some(it),
        _ => None,
    }
}

fn value(cell: &Cell) -> Value {
    match cell {
        Cell::Null => Value::String(None),
        Cell::Boolean(it) => (*it).into(),
        Cell::Integer(it) => (*it).into(),
        Cell::Number(it) => (*it).into(),
        Cell::Text(it) => it.as_str().into(),
    }
}

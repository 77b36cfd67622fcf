//! Translation of a search to SQL: filters, words, order and window, for any statement that selects from a table.
//!
//! Text columns must be compared byte by byte on PostgreSQL (`COLLATE "C"`), as SQLite does, so that both find the same
//! rows in the same order. A field that `_search` looks into has a column with its folded text beside its own: see
//! [`Field::folded_column`].

use sea_orm::sea_query::{
    Alias, Asterisk, Cond, Condition, Expr, ExprTrait, Func, IntoColumnRef, LikeExpr, NullOrdering,
    Order as Direction, Query, SelectStatement,
};
use sea_orm::{ConnectionTrait, Value};

use super::Row;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::schema::{Field, Schema};
use crate::search::{Cell, Filter, Needle, Order, Search, Test, is_searched};

/// Adds the filters, words, cursor, order and window of `search` to `statement`, which selects from `table`.
pub fn apply(statement: &mut SelectStatement, search: &Search, schema: &Schema, table: &str) {
    statement.cond_where(condition(search, schema, table));
    if let Some(keys) = search.after() {
        statement.cond_where(behind(&search.order, keys, table));
    }
    order(statement, &search.order, table);
    statement.limit(search.fetch()).offset(search.start);
}

/// Returns the filters and words of `search` as a condition: it holds for all matches, whatever part of them is wanted.
pub fn condition(search: &Search, schema: &Schema, table: &str) -> Condition {
    let mut condition = Cond::all();
    for filter in &search.filters {
        condition = condition.add(holds(filter, table));
    }
    for word in &search.words {
        let fields = schema.fields.iter().filter(|it| is_searched(it));
        let any = fields.fold(Cond::any(), |any, it| any.add(contains(word, it, table)));
        condition = condition.add(any);
    }
    condition
}

/// Returns the number of rows that `statement` selects, which must have neither an order nor a window.
///
/// # Errors
/// Returns an error if the database can't be read.
pub async fn count_rows(cx: &Context, mut statement: SelectStatement) -> Result<u64> {
    statement.clear_selects().expr(Expr::val(1));
    let mut counting = Query::select();
    counting
        .expr(Func::count(Expr::col(Asterisk)))
        .from_subquery(statement, Alias::new("counted"));
    let db = cx.db()?;
    let counting = db.get_database_backend().build(&counting);
    let read = |row: &mut Row<'_>| Ok(row.take::<i64>()?);
    let counts = db.scan(counting, read).await?;
    let count = counts.first().and_then(|it| u64::try_from(*it).ok());
    count.ok_or_else(|| Error::internal("the database does not count"))
}

fn order(statement: &mut SelectStatement, order: &[Order], table: &str) {
    for key in order {
        let (direction, nulls) = match key.is_descending {
            true => (Direction::Desc, NullOrdering::Last),
            false => (Direction::Asc, NullOrdering::First),
        };
        let column = column(key.field, table);
        // An index of PostgreSQL has its nulls elsewhere, and serves an order that does not mention them.
        match key.field.is_column_nullable {
            true => statement.order_by_expr_with_nulls(column, direction, nulls),
            false => statement.order_by_expr(column, direction),
        };
    }
}

fn holds(filter: &Filter, table: &str) -> Condition {
    let field = filter.field;
    let column = column(field, table);
    match &filter.test {
        Test::Equal(it) => equal(field, it, table),
        Test::NotEqual(it) => or_null(field, column.clone().ne(value(it)), column),
        Test::Greater(it) => one(column.gt(value(it))),
        Test::GreaterOrEqual(it) => one(column.gte(value(it))),
        Test::Less(it) => one(column.lt(value(it))),
        Test::LessOrEqual(it) => one(column.lte(value(it))),
        Test::Like(text) => one(contains(text, field, table)),
        Test::In(cells) => one(column.is_in(cells.iter().map(value))),
        Test::Null(true) => one(column.is_null()),
        Test::Null(false) => one(column.is_not_null()),
    }
}

/// Returns the condition that a row comes after the one that has `keys`: in its first key or, where that is equal, in
/// the next.
fn behind(order: &[Order], keys: &[Cell], table: &str) -> Condition {
    let mut any = Cond::any();
    let mut same = Cond::all();
    for (key, cell) in order.iter().zip(keys) {
        if let Some(greater) = greater(*key, cell, table) {
            any = any.add(same.clone().add(greater));
        }
        same = same.add(equal(key.field, cell, table));
    }
    match (order.first(), keys.first()) {
        // Follows from the rest, and leads the database to the place by an index.
        (Some(key), Some(cell)) => Cond::all().add(reaches(*key, cell, table)).add(any),
        _ => any,
    }
}

/// Returns the condition that a row comes after `cell` in this key; `None` if no row can.
fn greater(key: Order, cell: &Cell, table: &str) -> Option<Condition> {
    let column = column(key.field, table);
    match (cell, key.is_descending) {
        (Cell::Null, true) => None,
        (Cell::Null, false) => Some(one(column.is_not_null())),
        (cell, false) => Some(one(column.gt(value(cell)))),
        (cell, true) => Some(or_null(key.field, column.clone().lt(value(cell)), column)),
    }
}

/// Returns the condition that a row is at `cell` or comes after it in this key.
fn reaches(key: Order, cell: &Cell, table: &str) -> Condition {
    let column = column(key.field, table);
    match (cell, key.is_descending) {
        (Cell::Null, true) => one(column.is_null()),
        (Cell::Null, false) => Cond::all(),
        (cell, false) => one(column.gte(value(cell))),
        (cell, true) => or_null(key.field, column.clone().lte(value(cell)), column),
    }
}

fn equal(field: &Field, cell: &Cell, table: &str) -> Condition {
    let column = column(field, table);
    match cell {
        Cell::Null => one(column.is_null()),
        cell => one(column.eq(value(cell))),
    }
}

fn or_null(field: &Field, test: Expr, column: Expr) -> Condition {
    match field.is_column_nullable {
        true => Cond::any().add(test).add(column.is_null()),
        false => one(test),
    }
}

fn one(test: Expr) -> Condition {
    Cond::all().add(test)
}

/// Returns the condition that the field contains `text`, whatever the case of the letters. If the field's text is not
/// stored folded, the letters that are searched for are folded row by row: the grammar of lists bounds their number.
fn contains(text: &str, field: &Field, table: &str) -> Expr {
    let needle = Needle::new(text);
    let folded = if let Some(name) = field.folded_column() {
        Expr::col((Alias::new(table), Alias::new(name)).into_column_ref())
    } else {
        let lowered = Expr::expr(Func::lower(column(field, table)));
        let replacements = needle.replacements().into_iter();
        replacements.fold(lowered, |it, (variant, letter)| {
            let replace = Func::cust("replace").arg(it);
            Expr::expr(replace.arg(variant.to_string()).arg(letter.to_string()))
        })
    };
    let pattern = format!("%{}%", escape_like(needle.text()));
    folded.like(LikeExpr::new(pattern).escape('\\'))
}

/// Escapes `%`, `_` and the escape character, so that they stand for themselves.
fn escape_like(text: &str) -> String {
    text.chars()
        .fold(String::with_capacity(text.len()), |mut escaped, c| {
            if matches!(c, '%' | '_' | '\\') {
                escaped.push('\\');
            }
            escaped.push(c);
            escaped
        })
}

/// Returns the column of a field. The code that made the filter or the order has checked that the field has one.
fn column(field: &Field, table: &str) -> Expr {
    let name = field.column.unwrap_or(field.name);
    Expr::col((Alias::new(table), Alias::new(name)).into_column_ref())
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

//! Search → SQL: filters, words, order and window, on any statement that selects from a table.

use sea_orm::sea_query::{
    Alias, Cond, Condition, Expr, ExprTrait, Func, IntoColumnRef, LikeExpr, Order, SelectStatement,
};

use crate::schema::{Kind, Schema};
use crate::search::{Filter, Search};

/// Adds everything that `search` says to `statement`, which selects from `table`; ties are broken by
/// the column `tie_break`.
pub fn apply(
    statement: &mut SelectStatement,
    search: &Search,
    schema: &Schema,
    table: &str,
    tie_break: &str,
) {
    statement.cond_where(condition(search, schema, table));
    for key in &search.order {
        if let Some(column) = key.field.column {
            statement.order_by(
                (Alias::new(table), Alias::new(column)),
                direction(key.is_descending),
            );
        }
    }
    statement.order_by((Alias::new(table), Alias::new(tie_break)), Order::Asc);
    statement.limit(search.fetch()).offset(search.start);
}

/// The filters and words of `search` as a condition.
pub fn condition(search: &Search, schema: &Schema, table: &str) -> Condition {
    let mut condition = Cond::all();
    for filter in &search.filters {
        if let Some(expression) = equality(filter, table) {
            condition = condition.add(expression);
        }
    }
    for word in &search.words {
        condition = condition.add(contains(word, schema, table));
    }
    condition
}

fn equality(filter: &Filter, table: &str) -> Option<Expr> {
    let column = column(table, filter.field.column?);
    let value = &filter.value;
    Some(match filter.field.kind {
        Kind::Integer | Kind::Millis | Kind::Moment => column.eq(value.as_i64()?),
        Kind::Instant => column.eq(instant_millis(value.as_str()?)?),
        Kind::Number => column.eq(value.as_f64()?),
        Kind::Boolean => column.eq(value.as_bool()?),
        Kind::Text(_) | Kind::Html(_) => column.eq(value.as_str()?),
        Kind::List | Kind::Object => return None,
    })
}

fn instant_millis(text: &str) -> Option<i64> {
    chrono::DateTime::parse_from_rfc3339(text)
        .ok()
        .map(|it| it.timestamp_millis())
}

/// One of the searchable fields holds `word`, in whatever case.
fn contains(word: &str, schema: &Schema, table: &str) -> Condition {
    let pattern = format!("%{}%", escape_like(&word.to_lowercase()));
    schema
        .fields
        .iter()
        .filter(|it| it.is_searchable)
        .filter_map(|it| it.column)
        .fold(Cond::any(), |any, name| {
            let lower = Expr::expr(Func::lower(column(table, name)));
            any.add(lower.like(LikeExpr::new(pattern.clone()).escape('\\')))
        })
}

/// `%`, `_` and the escape character stand for themselves.
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

fn column(table: &str, name: &str) -> Expr {
    Expr::col((Alias::new(table), Alias::new(name)).into_column_ref())
}

fn direction(is_descending: bool) -> Order {
    match is_descending {
        true => Order::Desc,
        false => Order::Asc,
    }
}

//! Filling columns with folded text, in tables whose rows were written before there were such columns.

use entity_core::schema::Field;
use sea_orm::sea_query::{Alias, Expr, ExprTrait, Order, Query};
use sea_orm::{ConnectionTrait, DbErr};

/// Most rows that are read at once to be filled.
const FILLED_AT_ONCE: u64 = 500;

/// Folds the text of `fields` in all rows of `table`, some hundred rows at a time in the order of its `key`.
///
/// # Errors
/// The database refuses a statement.
pub(crate) async fn fill_folded(
    connection: &impl ConnectionTrait,
    table: &str,
    key: &str,
    fields: &[&Field],
) -> Result<(), DbErr> {
    let columns: Vec<(&Field, &str, String)> = fields
        .iter()
        .filter_map(|it| Some((*it, it.column?, it.folded_column()?)))
        .collect();
    let mut last: Option<String> = None;
    loop {
        let mut part = Query::select();
        part.column(Alias::new(key))
            .columns(columns.iter().map(|it| Alias::new(it.1)))
            .from(Alias::new(table))
            .and_where_option(last.take().map(|it| Expr::col(Alias::new(key)).gt(it)))
            .order_by(Alias::new(key), Order::Asc)
            .limit(FILLED_AT_ONCE);
        for row in connection.query_all(&part).await? {
            let id: String = row.try_get_by_index(0)?;
            let mut statement = Query::update();
            statement.table(Alias::new(table));
            for (number, (field, _, folded)) in (1..).zip(&columns) {
                let text: Option<String> = row.try_get_by_index(number)?;
                let text = text.map(|it| field.folded(&it));
                statement.value(Alias::new(folded.as_str()), text);
            }
            statement.and_where(Expr::col(Alias::new(key)).eq(&id));
            connection.execute(&statement).await?;
            last = Some(id);
        }
        if last.is_none() {
            return Ok(());
        }
    }
}

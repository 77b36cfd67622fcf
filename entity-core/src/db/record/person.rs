//! The rows that are about an account, and are deleted with it.

use sea_orm::ConnectionTrait as _;

use crate::contract::context::Context;
use crate::contract::registry::Registry;
use crate::primitives::error::Result;

/// Deletes the entities of all registered types that are about the account `user`: those with its internal id in a field
/// declared as `person`. Their children and the rows below them are deleted with them.
pub async fn delete_of_person(cx: &Context, user: &str) -> Result<()> {
    let registry = cx.service::<Registry>()?;
    let tables = registry.routes().filter_map(|it| it.table.map(|it| it()));
    let columns = tables.flat_map(|table| table.persons.iter().map(move |it| (table.name, *it)));
    let columns: Vec<_> = columns.collect();
    let db = cx.db()?;
    for (table, column) in columns {
        let mut sql = db.sql("DELETE FROM \"");
        sql.push(table).push("\" WHERE \"").push(column);
        sql.push("\" = ").bind(user);
        db.execute_raw(sql.into_statement()).await?;
    }
    Ok(())
}

//! Locks on rows, which end with the transaction.

use sea_orm::{ConnectionTrait, DbBackend};

use crate::contract::context::Context;
use crate::db::record::constants::{Constants, Declared as _};
use crate::db::record::definition::Record;
use crate::primitives::error::Result;

/// Lets the units of work that lock these rows, or change them, come one after the other. Rows that are not there are
/// passed over. What was read before may have changed since: whoever counts on it reads it again.
///
/// On SQLite all units of work that write come one after the other, and there is nothing to do.
pub async fn lock<T: Record>(cx: &Context, keys: &[&str]) -> Result<()> {
    select(T::CONSTANTS, cx, keys, " FOR NO KEY UPDATE").await
}

/// Lets the units of work that lock this text for the type come one after the other: for a rule about what has no row yet, such
/// as a thing that nobody has borrowed. Otherwise as [`lock`]. Who locks several texts does so in their order.
pub async fn lock_text<T: Record>(cx: &Context, text: &str) -> Result<()> {
    let db = cx.db()?;
    if db.get_database_backend() != DbBackend::Postgres {
        return Ok(());
    }
    let mut sql = db.sql("SELECT pg_advisory_xact_lock(hashtextextended(");
    sql.bind(format!("{}/{text}", T::TABLE)).push(", 0))");
    db.execute_raw(sql.into_statement()).await?;
    Ok(())
}

/// Keeps these rows from being deleted until the unit of work ends; others may change them. Otherwise as [`lock`].
pub async fn pin<T: Record>(cx: &Context, keys: &[&str]) -> Result<()> {
    select(T::CONSTANTS, cx, keys, " FOR KEY SHARE").await
}

/// Selects rows in the order of their keys, so that no two units of work wait for each other.
async fn select(of: &Constants, cx: &Context, keys: &[&str], strength: &str) -> Result<()> {
    let db = cx.db()?;
    if db.get_database_backend() != DbBackend::Postgres || keys.is_empty() {
        return Ok(());
    }
    let mut sql = db.sql("SELECT \"");
    sql.push(of.key).push("\" FROM \"").push(of.table);
    sql.push("\" WHERE \"").push(of.key).push("\"");
    sql.bind_list(keys)?;
    sql.push(" ORDER BY \"")
        .push(of.key)
        .push("\"")
        .push(strength);
    db.execute_raw(sql.into_statement()).await?;
    Ok(())
}

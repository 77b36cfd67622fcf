//! Removing rows that are over.

use sea_orm::{ConnectionTrait as _, Value};

use crate::contract::context::Context;
use crate::primitives::error::Result;

/// A table whose rows are over some time after an instant that one of its columns tells.
#[derive(Clone, Copy, Debug)]
pub struct ExpiringTable {
    /// The name of the table.
    pub table: &'static str,
    /// The columns of its primary key, separated by commas.
    pub key: &'static str,
    /// The column that tells the instant.
    pub column: &'static str,
}

impl ExpiringTable {
    /// Removes rows from before `end`, at most `most` at once, and returns how many those are. An index of the column makes
    /// this cheap where there are none.
    pub async fn sweep(&self, cx: &Context, end: impl Into<Value>, most: u64) -> Result<u64> {
        let Self { table, key, column } = self;
        let db = cx.db()?;
        let mut sql = db.sql(&format!(
            "DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {table} WHERE {column} < "
        ));
        sql.bind(end).push(" LIMIT ");
        sql.bind(i64::try_from(most).unwrap_or(i64::MAX)).push(")");
        let done = db.execute_raw(sql.into_statement()).await?;
        Ok(done.rows_affected())
    }
}

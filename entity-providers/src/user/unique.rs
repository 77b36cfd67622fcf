//! A word by which people log in means one account: nobody takes an address that somebody else has.
//!
//! That is no constraint of the table, because it may hold such addresses already, and because administrators may let
//! people share one: whoever shares it logs in with the external id.

use entity_core::{Context, Error, Result};
use sea_orm::{ConnectionTrait, DbBackend};

use super::tries::{Guess, TryService};
use entity_core::db::Sql;

/// Insists that no account but `own` has `word` for an e-mail address or an external id, if it is an address: it is
/// to be the `field` of the account. Super users are not asked.
///
/// # Errors
/// Another account has it; the caller has asked too often, whatever the answers were.
pub(super) async fn require_free(cx: &Context, field: &str, word: &str, own: &str) -> Result<()> {
    // Of external ids that are no address the table takes care.
    if !word.contains('@') || cx.authorizer().is_superuser(cx).await? {
        return Ok(());
    }
    let tries = cx.service::<TryService>()?;
    let account = cx.caller().user_id().unwrap_or_default();
    tries.0.ask(Guess::Address, account, cx.steady())?;
    let word = word.to_ascii_lowercase();
    let connection = cx.db()?;
    let backend = connection.get_database_backend();
    if backend == DbBackend::Postgres {
        // Those who want the same word come one after the other. On SQLite all writers do.
        let mut lock = Sql::new(backend, "SELECT pg_advisory_xact_lock(hashtextextended(");
        lock.bind(word.as_str()).push(", 0))");
        connection.query_one_raw(lock.into_statement()).await?;
    }
    let mut sql = Sql::new(backend, "SELECT 1 FROM user_account WHERE id <> ");
    sql.bind(own);
    sql.push(" AND (lower(email) = ").bind(word.as_str());
    sql.push(" OR lower(eid) = ").bind(word.as_str());
    sql.push(") LIMIT 1");
    match connection.query_one_raw(sql.into_statement()).await? {
        None => Ok(()),
        Some(_other) => Err(Error::taken(
            field,
            "belongs to another account: use another one",
        )),
    }
}

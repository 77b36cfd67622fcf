//! Limits of one account and of one site, as the settings of the service say.

use std::sync::Arc;

use entity_core::{Context, Result};
use sea_orm::{ConnectionTrait, DbBackend};

use entity_core::db::Sql;

/// The limits of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The number of sites an account may have made that may not make courses.
    pub sites_per_account: u64,
    /// The number of invitations to one site that may be open.
    pub invitations_per_site: u64,
    /// The number of invitations of one account that may be open.
    pub invitations_per_account: u64,
    /// The number of bytes the files of one site may have; 0 for any number.
    pub file_bytes_per_site: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            sites_per_account: 10,
            invitations_per_site: 500,
            invitations_per_account: 500,
            file_bytes_per_site: 1 << 30,
        }
    }
}

/// The limits that are in force.
pub(crate) fn of(cx: &Context) -> Result<Arc<Limits>> {
    cx.service()
}

/// Lets requests of the account `id` that are counted come one after the other, so that two at once can't both be
/// the last that is allowed. On SQLite all writers come one after the other.
pub(crate) async fn lock_account(cx: &Context, id: &str) -> Result<()> {
    lock(cx, "SELECT id FROM user_account WHERE id = ", id).await
}

/// The same for requests that count what the site `id` has.
pub(crate) async fn lock_site(cx: &Context, id: &str) -> Result<()> {
    lock(cx, "SELECT id FROM site WHERE id = ", id).await
}

async fn lock(cx: &Context, select: &str, id: &str) -> Result<()> {
    let connection = cx.db()?;
    if connection.get_database_backend() != DbBackend::Postgres {
        return Ok(());
    }
    let mut sql = Sql::new(DbBackend::Postgres, select);
    sql.bind(id).push(" FOR NO KEY UPDATE");
    connection.query_one_raw(sql.into_statement()).await?;
    Ok(())
}

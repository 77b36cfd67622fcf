//! Notes which entities name which attached files, of those that were written before this was noted.

use entity_core::db::attached::{AttachedFileService, uses};
use entity_core::db::{Db, Sql};
use entity_core::{Registry, Result};
use sea_orm::ConnectionTrait;

use super::migrate::begin_alone;

/// Looks at all rows of the registered types once, after the table was made.
///
/// # Errors
/// The database refuses a statement; others keep a table for too long.
pub async fn note_attached(
    db: &Db,
    registry: &Registry,
    files: &AttachedFileService,
) -> Result<()> {
    if !is_owed(&db.reader).await? {
        return Ok(());
    }
    let (transaction, watch) = begin_alone(db).await?;
    let work = async {
        // Another process may have been faster.
        if is_owed(&transaction).await? {
            uses::note_rows(&transaction, registry, files, None).await?;
            let done = "DELETE FROM attached_use WHERE file = ''";
            transaction.execute_unprepared(done).await?;
        }
        Ok(())
    };
    watch.over(work).await?;
    Ok(transaction.commit().await?)
}

async fn is_owed(connection: &impl ConnectionTrait) -> Result<bool> {
    let backend = connection.get_database_backend();
    let sql = Sql::new(backend, "SELECT 1 FROM attached_use WHERE file = ''");
    let found = connection.query_one_raw(sql.into_statement()).await?;
    Ok(found.is_some())
}

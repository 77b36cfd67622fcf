//! Maintenance of the files of SQLite: free pages are given back, the journal is checkpointed into the file when the
//! service stops, and damage is found.

use std::time::Duration;

use entity_core::Result;
use sea_orm::{ConnectionTrait as _, DatabaseConnection, DbBackend, Statement};

use super::Storage;

/// The number of pages that are given back at once: a megabyte, so that writers hardly wait.
const PAGES: i64 = 256;
/// The time for which writers have the database to themselves between two steps.
const PAUSE: Duration = Duration::from_millis(10);

impl Storage {
    /// The files of SQLite; none on PostgreSQL.
    fn files(&self) -> impl Iterator<Item = &DatabaseConnection> {
        let all = [&self.content.writer, self.audit_of_reads.db()];
        all.into_iter()
            .filter(|it| it.get_database_backend() == DbBackend::Sqlite)
    }

    /// Gives the space back that nothing is stored in any more, a little at a time. Files that were made before the
    /// service could do so stay as large as they are.
    pub(crate) async fn shrink(&self) -> Result<()> {
        for file in self.files() {
            let mut free = number(file, "PRAGMA freelist_count").await?;
            while free > PAGES {
                file.execute_unprepared(&format!("PRAGMA incremental_vacuum({PAGES})"))
                    .await?;
                let left = number(file, "PRAGMA freelist_count").await?;
                if left >= free {
                    break;
                }
                free = left;
                tokio::time::sleep(PAUSE).await;
            }
        }
        Ok(())
    }

    /// Checkpoints the journals into the files, so that each file alone is whole.
    pub async fn checkpoint(&self) -> Result<()> {
        for file in self.files() {
            if number(file, "PRAGMA wal_checkpoint(TRUNCATE)").await? > 0 {
                tracing::warn!(
                    "a reader keeps the journal of the database from being moved into its file"
                );
            }
        }
        Ok(())
    }

    /// Checkpoints the journals into the files, and closes them.
    pub async fn close(self) -> Result<()> {
        self.checkpoint().await?;
        self.audit_of_reads.db().clone().close().await?;
        self.content.reader.close().await?;
        self.content.writer.close().await?;
        Ok(())
    }
}

/// The first number that `sql` answers.
async fn number(db: &DatabaseConnection, sql: &str) -> Result<i64> {
    let statement = Statement::from_string(db.get_database_backend(), sql);
    let row = db.query_one_raw(statement).await?;
    let number = row.map(|it| it.try_get_by_index::<i64>(0)).transpose()?;
    Ok(number.unwrap_or_default())
}

//! The store belongs to the database: a service whose store holds the files of another one, or lacks its own, does not
//! start. So a node that was given a folder of its own is seen at once, and not by the first reader who misses a file.

use entity_core::blob::BlobStore;
use entity_core::db::{Db, Transaction};
use entity_core::{Error, ErrorKind, Result};
use sea_orm::{ConnectionTrait, Statement};
use uuid::Uuid;

/// Reads the one row of the table: the id that tells this database from all others.
const READ: &str = "SELECT id FROM database_identity WHERE place = 1";

/// Checks that `store`, which is at `place`, belongs to the database `content`. A new store becomes its own; so does the
/// one that is there when a database gets its identity.
///
/// # Errors
/// Returns an error if it belongs to another database, or lacks the files of this one.
pub(crate) async fn claim(store: &dyn BlobStore, place: &str, content: &Db) -> Result<()> {
    let (id, is_new) = identity(content).await?;
    match owner(store).await? {
        Some(owner) if owner == id => Ok(()),
        Some(owner) => Err(refused(format!(
            "{place} holds the files of another database ({owner}; this one is {id}): set `files.folder` or `files.url` to \
             where the files of this database are"
        ))),
        None if is_new || !has_files(content).await? => {
            store.set_owner(&id).await?;
            match owner(store).await? == Some(id) {
                true => Ok(()),
                false => Err(refused(format!(
                    "{place} was taken by another database at this moment: each needs a store of its own"
                ))),
            }
        }
        None => Err(refused(format!(
            "{place} does not hold the files of this database: set `files.folder` or `files.url` to where they are, the same \
             on all nodes; if this is the right place, write the text {id} into a file named `database` there"
        ))),
    }
}

/// Returns which database `store` belongs to.
pub(crate) async fn owner(store: &dyn BlobStore) -> Result<Option<String>> {
    let noted = store.owner().await?;
    Ok(noted.filter(|it| !it.is_empty()))
}

/// The identity of the database, and whether it has it from now on.
async fn identity(content: &Db) -> Result<(String, bool)> {
    if let Some(id) = text(&content.writer, READ).await? {
        return Ok((id, false));
    }
    let own = Uuid::now_v7().to_string();
    let insert = format!(
        "INSERT INTO database_identity (place, id) VALUES (1, '{own}') ON CONFLICT (place) DO NOTHING"
    );
    let transaction = Transaction::begin(&content.writer, &content.faults).await?;
    transaction.execute_unprepared(&insert).await?;
    transaction.commit().await?;
    let id = text(&content.writer, READ).await?;
    let id = id.ok_or_else(|| refused("the database has no identity".to_owned()))?;
    let is_new = id == own;
    Ok((id, is_new))
}

async fn has_files(content: &Db) -> Result<bool> {
    let found = text(&content.writer, "SELECT blob FROM stored_file LIMIT 1").await?;
    Ok(found.is_some())
}

/// The first column of the first row.
async fn text(db: &impl ConnectionTrait, sql: &str) -> Result<Option<String>> {
    let statement = Statement::from_string(db.get_database_backend(), sql);
    let row = db.query_one_raw(statement).await?;
    Ok(row.map(|it| it.try_get_by_index(0)).transpose()?)
}

fn refused(text: String) -> Error {
    Error::new(ErrorKind::Internal, text)
}

//! Copies of stored files, for backups and from them.

use std::path::{Path, PathBuf};

use entity_core::blob::Blobs;
use entity_core::{Error, ErrorKind, Registry, Result};
use entity_providers::storage::db::{Survey, look_at_file, offline};

use super::{DiskStore, owner};
use crate::operate::storage::with_ending;

/// The ending of the folder with the files of a backup, behind the name of its file.
const FILES: &str = ".files";

/// Returns the folder with the files of the backup in `file`.
pub fn of_backup(file: &Path) -> PathBuf {
    with_ending(file, FILES)
}

/// Copies the stored files of `store` that rows of the backup in `file` name to a folder beside it. Copies that are there
/// from an earlier backup are read, and made anew if they are damaged. Returns which files are whole neither there nor in
/// `store`. `tell` is called with the number of files that are done.
///
/// # Errors
/// Returns an error if the backup can't be read, or a copy can't be written.
pub async fn backup(
    store: &Blobs,
    file: &Path,
    registry: &Registry,
    tell: impl Fn(usize),
) -> Result<Survey> {
    let folder = DiskStore::open(of_backup(file)).await?;
    let copies = Blobs::new(folder.clone());
    let survey = complete(store, &copies, file, registry, tell).await?;
    folder.close().await;
    Ok(survey)
}

/// Copies the files that rows of the backup in `file` name into `store`, beside those that are there, and notes that the
/// store belongs to that database from now on. `replaced` is the database that the backup replaces, if there is one.
/// Returns which files are whole neither in the backup nor in `store`. `tell` is called with the number of files
/// that are done.
///
/// # Errors
/// Returns an error if the store belongs to another database, or if a file can't be written.
pub async fn restore(
    file: &Path,
    store: &Blobs,
    replaced: Option<&Path>,
    registry: &Registry,
    tell: impl Fn(usize),
) -> Result<Survey> {
    let id = offline::identity(file)?;
    let replaced = replaced.and_then(|it| offline::identity(it).ok()?);
    if let Some(owner) = owner::owner(store.store()).await?
        && !id.iter().chain(&replaced).any(|it| *it == owner)
    {
        return Err(Error::new(
            ErrorKind::Internal,
            "the files would go where those of another database are: set `files.folder` or `files.url`",
        ));
    }
    let copies = Blobs::new(DiskStore::at(of_backup(file)));
    let survey = complete(&copies, store, file, registry, tell).await?;
    store.store().set_owner(&id.unwrap_or_default()).await?;
    Ok(survey)
}

/// Copies the stored files that rows of the database in `file` name and `to` does not have whole.
async fn complete(
    from: &Blobs,
    to: &Blobs,
    file: &Path,
    registry: &Registry,
    tell: impl Fn(usize),
) -> Result<Survey> {
    let db = look_at_file(file).await?;
    let look = async |blob| from.copy(&blob, to).await;
    Survey::of(&db, registry, look, tell).await
}

//! Copies of stored files, for backups and from them.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use entity_core::blob::{Blob, Blobs};
use entity_core::{Error, ErrorKind, Result};
use entity_providers::storage::db::offline;
use futures::TryStreamExt as _;

use super::{DiskStore, disk, owner};

/// The ending of the folder with the files of a backup, behind the name of its file.
const FILES: &str = ".files";
/// The number of files that are listed at once.
const PAGE: usize = 1_000;

/// Returns the folder with the files of the backup in `file`.
pub fn of_backup(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(FILES);
    name.into()
}

/// Copies the stored files of `store` beside the backup in `file`, and checks that the backup names no other ones. Files
/// that are there already, from an earlier backup, are not copied again. Returns the number of files.
///
/// # Errors
/// Returns an error if a file can't be copied or is damaged, or if one is missing that the backup names.
pub async fn backup(store: &Blobs, file: &Path) -> Result<usize> {
    let folder = of_backup(file);
    let mut count = 0;
    if !page(store, None).await?.is_empty() {
        let copies = DiskStore::open(folder.clone()).await?;
        count = copy_all(store, &Blobs::new(copies.clone())).await?;
        copies.close().await?;
    }
    check(file, &folder)?;
    Ok(count)
}

/// Copies the files of the backup in `file` into `store`, beside those that are there, and notes that the store belongs
/// to that database from now on. `replaced` is the database that the backup replaces, if there is one. Returns the number
/// of files.
///
/// # Errors
/// Returns an error if the store belongs to another database, if a file can't be copied or is damaged, or if one is
/// missing that the backup names.
pub async fn restore(file: &Path, store: &Blobs, replaced: Option<&Path>) -> Result<usize> {
    let folder = of_backup(file);
    // What is no backup is told of where the database is restored.
    if offline::stored_files(file).is_err() {
        return Ok(0);
    }
    check(file, &folder)?;
    let id = offline::identity(file)?;
    let replaced = replaced.and_then(|it| offline::identity(it).ok()?);
    if let Some(owner) = owner::owner(store.store()).await?
        && !id.iter().chain(&replaced).any(|it| *it == owner)
    {
        return Err(refused(
            "the files would go where those of another database are: set `files.folder` or `files.url`",
        ));
    }
    let mut count = 0;
    if folder.is_dir() {
        let copies = DiskStore::open(folder).await?;
        count = copy_all(&Blobs::new(copies.clone()), store).await?;
        copies.close().await?;
    }
    store.store().set_owner(&id.unwrap_or_default()).await?;
    Ok(count)
}

/// Refuses a backup in `file` that names files which are not in `folder`.
fn check(file: &Path, folder: &Path) -> Result<()> {
    let named = offline::stored_files(file)?;
    let blobs = named.iter().filter_map(|it| Blob::parse(it));
    let is_there = |it: &Blob| {
        fs::metadata(disk::path_in(folder, it)).is_ok_and(|found| found.len() == it.size())
    };
    match blobs.filter(|it| !is_there(it)).count() {
        0 => Ok(()),
        missing => Err(refused(format!(
            "{missing} stored files are missing in {}: keep that folder together with {}",
            folder.display(),
            file.display()
        ))),
    }
}

async fn page(store: &Blobs, after: Option<&Blob>) -> Result<Vec<Blob>> {
    store.store().list(after, PAGE, Duration::ZERO).await
}

/// Copies all files of a store to another one that does not have them. Returns the number of files.
async fn copy_all(from: &Blobs, to: &Blobs) -> Result<usize> {
    let mut there = HashSet::new();
    let mut after = None;
    loop {
        let blobs = page(to, after.as_ref()).await?;
        after = blobs.last().copied();
        if after.is_none() {
            break;
        }
        there.extend(blobs);
    }
    let mut count: usize = 0;
    loop {
        let blobs = page(from, after.as_ref()).await?;
        after = blobs.last().copied();
        if after.is_none() {
            return Ok(count);
        }
        for blob in blobs {
            if !there.contains(&blob) {
                copy(from, to, &blob).await?;
            }
            count = count.saturating_add(1);
        }
    }
}

/// Copies one file, which gets its name when all of it is there and is what it was.
async fn copy(from: &Blobs, to: &Blobs, blob: &Blob) -> Result<()> {
    let mut pieces = from.open(blob, 0..blob.size()).await?;
    let mut incoming = to.begin().await?;
    while let Some(piece) = pieces.try_next().await? {
        incoming.write(piece).await?;
    }
    let received = incoming.finish().await?;
    if received.blob() != *blob {
        let digest = blob.digest();
        return Err(refused(format!(
            "the stored file {digest} is damaged: its bytes are others"
        )));
    }
    received.keep().await.map(drop)
}

fn refused(text: impl Into<String>) -> Error {
    Error::new(ErrorKind::Internal, text.into())
}

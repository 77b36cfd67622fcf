//! The store of the bytes of files, as the configuration says.

pub mod copy;
mod disk;
mod named;
pub(crate) mod owner;
mod s3;
pub(crate) mod sweep;

use std::path::PathBuf;

use entity_core::blob::Blobs;
use entity_core::{Error, ErrorKind, Result};

use crate::base::config::Config;
use crate::operate::storage;

pub use disk::DiskStore;
pub use s3::S3Store;

/// The ending of the folder beside a SQLite database, behind the name of its file.
const BESIDE: &str = ".files";
/// The folder, in the working directory, of a service whose database is no file.
const ALONE: &str = "lectern.files";

/// Returns the folder in which a service with `config` has files: all of them or, if they are in a bucket, those that
/// come; `None` if these are where the system has temporary files.
///
/// # Errors
/// Returns an error if the address of the database is none.
pub fn folder(config: &Config) -> Result<Option<PathBuf>> {
    if let Some(folder) = &config.files.folder {
        return Ok(Some(folder.into()));
    }
    if config.files.url.is_some() {
        return Ok(None);
    }
    let beside = storage::beside_content(config.database.expose(), BESIDE)?;
    Ok(Some(beside.unwrap_or_else(|| ALONE.into())))
}

/// Returns the address of the store of a service with `config`, as a person reads it.
///
/// # Errors
/// Returns an error if the address of the database is none.
pub fn place(config: &Config) -> Result<String> {
    if let Some(bucket) = &config.files.url {
        return Ok(bucket.address().to_owned());
    }
    let folder = folder(config)?.unwrap_or_default();
    Ok(folder.display().to_string())
}

/// Opens the store of a service with `config`, and does not look whether it works.
///
/// # Errors
/// Returns an error if the settings do not go together, or a folder can't be made.
pub async fn connect(config: &Config) -> Result<Blobs> {
    if let Some(bucket) = &config.files.url {
        return Ok(Blobs::new(S3Store::open(bucket, &config.files).await?));
    }
    let folder = folder(config)?.unwrap_or_default();
    let reserve = u64::try_from(config.quota.file_reserve.0).unwrap_or(u64::MAX);
    let store = DiskStore::open(folder).await?.with_reserve(reserve);
    Ok(Blobs::new(store))
}

/// Opens the store of a service with `config` and checks that it works. Where there is no room, files can be read.
///
/// # Errors
/// Returns an error if files can't be stored there for another reason.
pub async fn open(config: &Config) -> Result<Blobs> {
    let blobs = connect(config).await?;
    match blobs.store().check().await {
        Err(error) if error.kind() == ErrorKind::InsufficientStorage => {
            let place = place(config)?;
            tracing::error!(
                place,
                "there is no room for files in {place}: uploads are refused until somebody makes some"
            );
        }
        checked => checked?,
    }
    Ok(blobs)
}

/// The failure of a store for a reason that the client can't do anything about.
fn failed(what: &'static str, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::unavailable(what, crate::guard::admission::later()).with_source(error)
}

//! Where the bytes of files are stored.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::TryStreamExt as _;
use futures::stream::BoxStream;
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};

use super::Blob;
use crate::contract::context::{Context, Shared};
use crate::primitives::error::{Error, ErrorKind, Result};

/// The [code](Error::code) of the error for a stored file that is missing or has other bytes.
pub const FILE_DAMAGED: &str = "file_damaged";

/// The bytes of a file, piece by piece.
pub type ByteStream = BoxStream<'static, Result<Bytes>>;

/// A stored file that was opened.
#[derive(derive_more::Debug)]
#[debug("Opened({} bytes)", self.size)]
pub struct Opened {
    /// The number of bytes of the file, as the store has it.
    pub size: u64,
    /// The mark that changes when something writes the file.
    pub mark: String,
    /// The bytes of the part.
    pub pieces: ByteStream,
}

/// Creates the error for a stored file of which this is wrong.
pub fn damaged(what: impl Into<String>) -> Error {
    let told =
        "the file is damaged and is not sent: ask the administrators to put it back from a backup";
    let error = Error::new(ErrorKind::Unavailable, told).with_code(FILE_DAMAGED);
    error.with_source(what.into())
}

/// The files that are whole, each with the mark that it had when it was read.
type Seen = HashMap<Blob, String>;

/// A store of files by their digest. A service has one, which all its nodes share.
#[async_trait]
pub trait BlobStore: fmt::Debug + Send + Sync {
    /// Begins to store a file whose digest is not known yet. Dropping the writer removes what was written.
    ///
    /// # Errors
    /// Returns an error if nothing can be written.
    async fn begin(&self) -> Result<Box<dyn BlobWriter>>;

    /// Opens this part of a stored file. Returns `None` if the file is not there. The bytes of a file that has another
    /// number of them than `blob` says are not used.
    ///
    /// # Errors
    /// Returns an error if the file can't be read.
    async fn open(&self, blob: &Blob, range: Range<u64>) -> Result<Option<Opened>>;

    /// Removes a stored file, if it is there.
    async fn delete(&self, blob: &Blob) -> Result<()>;

    /// Returns stored files that were stored at least so long ago, ordered by digest: at most so many, all after `after`
    /// if that is given.
    async fn list(&self, after: Option<&Blob>, most: usize, age: Duration) -> Result<Vec<Blob>>;

    /// Removes what was begun at least so long ago and never kept, because the service stopped meanwhile.
    async fn clean(&self, age: Duration) -> Result<()>;

    /// Checks that files can be stored, read and removed.
    ///
    /// # Errors
    /// Returns an error that tells an operator what is wrong.
    async fn check(&self) -> Result<()>;

    /// Returns what [`set_owner`](Self::set_owner) noted last.
    async fn owner(&self) -> Result<Option<String>>;

    /// Notes in the store which database names its files. The service compares it with its own database at the start, so
    /// that no node stores files where the others do not find them.
    async fn set_owner(&self, owner: &str) -> Result<()>;
}

/// A file that is being stored.
#[async_trait]
pub trait BlobWriter: Send + Sync {
    /// Adds bytes to the file. A writer that fails is not used any further.
    ///
    /// # Errors
    /// Returns an error if the bytes can't be written: [`Error::insufficient_storage`] if there is no room.
    async fn write(&mut self, bytes: Bytes) -> Result<()>;

    /// Waits until all bytes are stored, so that only their name is missing.
    ///
    /// # Errors
    /// Returns an error if the bytes can't be stored.
    async fn finish(&mut self) -> Result<()>;

    /// Gives the file the name of `blob`. From then on it survives a crash of the machine. A file that is there already
    /// is replaced by its equal.
    ///
    /// # Errors
    /// Returns an error if the file can't be named.
    async fn keep(self: Box<Self>, blob: &Blob) -> Result<()>;
}

/// The store of a service, as its parts use it.
#[derive(Clone, Debug)]
pub struct Blobs {
    store: Arc<dyn BlobStore>,
    pub(super) seen: Arc<Mutex<Seen>>,
}

impl Blobs {
    /// Creates the access to `store`.
    pub fn new(store: impl BlobStore + 'static) -> Self {
        Self {
            store: Arc::new(store),
            seen: Arc::default(),
        }
    }

    /// Returns the store itself.
    pub fn store(&self) -> &dyn BlobStore {
        &*self.store
    }

    /// Begins to receive a file.
    ///
    /// # Errors
    /// Returns an error if nothing can be written.
    pub async fn begin(&self) -> Result<Incoming> {
        Ok(Incoming {
            writer: self.store.begin().await?,
            hash: Sha256::new(),
            size: 0,
        })
    }

    /// Reads a whole file into memory.
    ///
    /// # Errors
    /// Returns an error if the file has more than `most` bytes or can't be read.
    pub async fn read(&self, blob: &Blob, most: u64) -> Result<Vec<u8>> {
        if blob.size() > most {
            return Err(Error::insufficient_storage(format!(
                "the file has more than {most} bytes"
            )));
        }
        let pieces = self.open(blob, 0..blob.size()).await?;
        let pieces: Vec<Bytes> = pieces.try_collect().await?;
        Ok(pieces.concat())
    }
}

/// A file that is being received: its bytes are stored and counted as they come.
#[derive(derive_more::Debug)]
#[debug("Incoming({} bytes)", self.size)]
pub struct Incoming {
    writer: Box<dyn BlobWriter>,
    hash: Sha256,
    size: u64,
}

impl Incoming {
    /// Adds bytes to the file.
    ///
    /// # Errors
    /// Returns an error if the bytes can't be written.
    pub async fn write(&mut self, bytes: Bytes) -> Result<()> {
        self.hash.update(&bytes);
        let length = u64::try_from(bytes.len()).map_err(Error::internal)?;
        self.size = self.size.saturating_add(length);
        self.writer.write(bytes).await
    }

    /// Returns the number of bytes that were received.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Ends the file. It has no name yet.
    ///
    /// # Errors
    /// Returns an error if the bytes can't be stored.
    pub async fn finish(mut self) -> Result<Received> {
        self.writer.finish().await?;
        Ok(Received {
            blob: Blob::new(self.hash.finalize().into(), self.size),
            writer: self.writer,
        })
    }
}

/// A file whose bytes are stored and which is not named yet.
#[derive(derive_more::Debug)]
#[debug("Received({:?})", self.blob)]
pub struct Received {
    blob: Blob,
    writer: Box<dyn BlobWriter>,
}

impl Received {
    /// Returns the blob of the file.
    pub fn blob(&self) -> Blob {
        self.blob
    }

    /// Names the file, after the database has noted the blob: see [`db::blobs`](crate::db::blobs).
    ///
    /// # Errors
    /// Returns an error if the file can't be named.
    pub async fn keep(self) -> Result<Blob> {
        self.writer.keep(&self.blob).await?;
        Ok(self.blob)
    }
}

impl Shared {
    /// Returns the store of files.
    ///
    /// # Errors
    /// Returns an error if the service was set up without one: a defect, not the caller's fault.
    pub fn blobs(&self) -> Result<Arc<Blobs>> {
        self.service()
    }
}

impl Context {
    /// Returns the store of files.
    ///
    /// # Errors
    /// Returns an error if the service was set up without one: a defect, not the caller's fault.
    pub fn blobs(&self) -> Result<Arc<Blobs>> {
        self.service()
    }
}

//! Files in a bucket of a service that speaks the protocol of Amazon's object storage.
//!
//! A file is `files/abcd….7` below the prefix of the store: its digest and its size. While a file comes, its bytes are
//! in a file of this machine that has no name, so that an interrupted upload leaves nothing behind, whatever becomes of
//! the service. Then it is sent under its name at once, a large one in parts. Multipart uploads are noted below `new`,
//! so that their parts are removed if the service stops meanwhile.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use entity_core::blob::{Blob, BlobStore, BlobWriter, Opened};
use entity_core::{Error, Result};
use futures::{StreamExt as _, TryStreamExt as _};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::multipart::{MultipartStore as _, PartId};
use object_store::path::Path;
use object_store::{
    ClientOptions, GetOptions, GetRange, MultipartId, ObjectMeta, ObjectStore as _,
    ObjectStoreExt as _, PutPayload, RetryConfig,
};
use secrecy::ExposeSecret as _;
use tokio::fs::File;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _, AsyncWriteExt as _, BufWriter};
use tokio::sync::Semaphore;
use uuid::Uuid;

use super::{disk, failed, named};
use crate::base::config::{Bucket, FileSettings};

/// The folders of the files, and of the notes of multipart uploads.
const FILES: &str = "files";
const NEW: &str = "new";
/// The object that names the database whose files these are.
const OWNER: &str = "database";
/// The least number of bytes of a part, as the protocol has it; a file with no more is sent at once.
const PART: u64 = 5 << 20;
/// The maximum number of parts of a file, well below the limit of the protocol.
const MOST_PARTS: u64 = 9_000;
/// The number of parts that are in memory at once, of all files.
const AT_ONCE: usize = 4;
/// The number of bytes that are written to the disk at once.
const PIECE: usize = 128 << 10;
/// The maximum number of bytes of a note of ours.
const NOTE: u64 = 8 << 10;

/// The time that the other side may take to accept a connection, and how long it may be silent.
const CONNECT: Duration = Duration::from_secs(5);
const SILENCE: Duration = Duration::from_secs(20);
/// The number of retries of a request that failed for no lasting reason, and the time for them.
const RETRIES: usize = 4;
const RETRY: Duration = Duration::from_secs(20);

/// The store.
#[derive(derive_more::Debug, Clone)]
#[debug("S3Store({})", self.0.address)]
pub struct S3Store(Arc<Inner>);

struct Inner {
    client: AmazonS3,
    prefix: Path,
    /// The folder for files that come; `None` for that of the system's temporary files.
    folder: Option<PathBuf>,
    parts: Semaphore,
    /// The address of the store, as it may be shown.
    address: String,
}

impl S3Store {
    /// Opens the store in `bucket`, as `settings` say. What they leave out follows from the environment, by the variables
    /// of Amazon's own programs (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION` …).
    ///
    /// # Errors
    /// Returns an error if the settings do not go together. Whether the store can be reached is not looked at.
    pub async fn open(bucket: &Bucket, settings: &FileSettings) -> Result<Self> {
        // The library for TLS wants to be told once in a process which ciphers it uses; who told it first is right.
        drop(rustls::crypto::ring::default_provider().install_default());
        let client = ClientOptions::new()
            .with_timeout_disabled()
            .with_connect_timeout(CONNECT)
            .with_read_timeout(SILENCE);
        let retry = RetryConfig {
            max_retries: RETRIES,
            retry_timeout: RETRY,
            ..RetryConfig::default()
        };
        let mut builder = AmazonS3Builder::from_env()
            .with_client_options(client)
            .with_retry(retry)
            .with_disable_bulk_delete(true)
            .with_bucket_name(bucket.name());
        if let Some(endpoint) = &settings.endpoint {
            builder = builder
                .with_endpoint(endpoint.as_str())
                .with_allow_http(!endpoint.is_https());
        }
        if let Some(region) = &settings.region {
            builder = builder.with_region(region);
        }
        if let (Some(key), Some(secret)) = (&settings.access_key, &settings.secret_key) {
            builder = builder
                .with_access_key_id(key)
                .with_secret_access_key(secret.0.expose_secret());
        }
        let wrong = |error: object_store::Error| unusable(bucket.address(), &error);
        let folder = settings.folder.as_ref().map(PathBuf::from);
        if let Some(folder) = folder.clone() {
            disk::make_folder(folder).await?;
        }
        Ok(Self(Arc::new(Inner {
            client: builder.build().map_err(wrong)?,
            prefix: Path::from(bucket.prefix()),
            folder,
            parts: Semaphore::new(AT_ONCE),
            address: bucket.address().to_owned(),
        })))
    }

    fn path(&self, blob: &Blob) -> Path {
        self.folder(FILES).join(named::of(blob))
    }

    fn folder(&self, name: &'static str) -> Path {
        self.0.prefix.clone().join(name)
    }

    fn client(&self) -> &AmazonS3 {
        &self.0.client
    }

    /// Sends the file under its name.
    async fn send(&self, mut file: File, blob: &Blob) -> Result<()> {
        file.rewind().await.map_err(disk::unwritable)?;
        let path = self.path(blob);
        if blob.size() <= PART {
            let _held = self.hold().await?;
            let bytes = read_part(&mut file, blob.size()).await?;
            return put(self.client(), &path, bytes).await;
        }
        // Equal files take long to send once more, and no time to find.
        match self.client().head(&path).await {
            Ok(there) if there.size == blob.size() => return Ok(()),
            Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
            Err(error) => return Err(unwritable(error)),
        }
        let id = self.client().create_multipart(&path).await;
        let id = id.map_err(unwritable)?;
        let note = self.folder(NEW).join(Uuid::now_v7().to_string());
        let begun = Begun { blob: *blob, id };
        let sent = self.send_noted(file, &path, &begun, &note).await;
        if sent.is_err() {
            self.abort(&begun).await?;
        }
        self.remove(&note).await?;
        sent
    }

    /// Sends the file in parts, once it is noted that this is begun.
    async fn send_noted(
        &self,
        mut file: File,
        path: &Path,
        begun: &Begun,
        note: &Path,
    ) -> Result<()> {
        put(self.client(), note, begun.to_bytes()).await?;
        let size = begun.blob.size();
        let length = part_length(size);
        let (mut sent, mut parts) = (0, Vec::<PartId>::new());
        while sent < size {
            let _held = self.hold().await?;
            let next = length.min(size - sent);
            let bytes = read_part(&mut file, next).await?;
            let part = self
                .client()
                .put_part(path, &begun.id, parts.len(), bytes.into());
            parts.push(part.await.map_err(unwritable)?);
            sent = sent.saturating_add(next);
        }
        let done = self.client().complete_multipart(path, &begun.id, parts);
        done.await.map_err(unwritable)?;
        Ok(())
    }

    async fn hold(&self) -> Result<tokio::sync::SemaphorePermit<'_>> {
        self.0.parts.acquire().await.map_err(Error::internal)
    }

    /// Aborts a multipart upload, which removes its parts, if they are there.
    async fn abort(&self, begun: &Begun) -> Result<()> {
        let path = self.path(&begun.blob);
        let aborted = self.client().abort_multipart(&path, &begun.id);
        unless_missing(aborted.await)
    }

    async fn remove(&self, path: &Path) -> Result<()> {
        unless_missing(self.client().delete(path).await)
    }

    /// Reads a small object, if it is there.
    async fn note(&self, path: &Path) -> Result<Option<Bytes>> {
        let found = self.client().get(path).await;
        let found = match found {
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            found => found.map_err(unreadable)?,
        };
        if found.meta.size > NOTE {
            return Ok(None);
        }
        found.bytes().await.map(Some).map_err(unreadable)
    }
}

/// A multipart upload: the file, and the id that the store gave to the upload.
struct Begun {
    blob: Blob,
    id: MultipartId,
}

impl Begun {
    fn to_bytes(&self) -> Bytes {
        format!("{}\n{}", self.blob.to_column(), self.id).into()
    }

    fn parse(note: &[u8]) -> Option<Self> {
        let (blob, id) = std::str::from_utf8(note).ok()?.split_once('\n')?;
        Some(Self {
            blob: Blob::parse(blob)?,
            id: id.to_owned(),
        })
    }
}

/// The length of the parts of a file, which are equal but for the last one.
fn part_length(size: u64) -> u64 {
    size.div_ceil(MOST_PARTS).max(PART)
}

async fn read_part(file: &mut File, length: u64) -> Result<Bytes> {
    let most = usize::try_from(length).map_err(Error::internal)?;
    let mut bytes = Vec::with_capacity(most);
    let read = file.take(length).read_to_end(&mut bytes).await;
    match read.map_err(disk::unwritable)? == most {
        true => Ok(bytes.into()),
        false => Err(Error::internal("a file that came is shorter than it was")),
    }
}

async fn put(client: &AmazonS3, path: &Path, bytes: Bytes) -> Result<()> {
    let done = client.put(path, PutPayload::from_bytes(bytes)).await;
    done.map(drop).map_err(unwritable)
}

#[async_trait]
impl BlobStore for S3Store {
    async fn begin(&self) -> Result<Box<dyn BlobWriter>> {
        let folder = self.0.folder.clone();
        let file = disk::in_thread(move || match folder {
            Some(folder) => tempfile::tempfile_in(folder),
            None => tempfile::tempfile(),
        });
        let file = File::from_std(file.await.map_err(disk::unwritable)?);
        Ok(Box::new(Writer {
            store: self.clone(),
            file: BufWriter::with_capacity(PIECE, file),
        }))
    }

    async fn open(&self, blob: &Blob, range: Range<u64>) -> Result<Option<Opened>> {
        let part = (!range.is_empty()).then(|| GetRange::Bounded(range.clone()));
        let is_part = part.is_some();
        let asked = GetOptions::new().with_head(!is_part).with_range(part);
        let error = match self.client().get_opts(&self.path(blob), asked).await {
            Ok(found) => {
                return Ok(Some(Opened {
                    size: found.meta.size,
                    mark: format!("{:?} {}", found.meta.e_tag, found.meta.last_modified),
                    pieces: found.into_stream().map_err(unreadable).boxed(),
                }));
            }
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) if !is_part => return Err(unreadable(error)),
            Err(error) => error,
        };
        // A file that is shorter than it should be has no such part.
        let whole = self.open(blob, 0..0).await?;
        match whole.as_ref().is_some_and(|it| it.size == blob.size()) {
            true => Err(unreadable(error)),
            false => Ok(whole),
        }
    }

    async fn delete(&self, blob: &Blob) -> Result<()> {
        self.remove(&self.path(blob)).await
    }

    async fn list(&self, after: Option<&Blob>, most: usize, age: Duration) -> Result<Vec<Blob>> {
        let folder = self.folder(FILES);
        let found = match after {
            Some(after) => self
                .client()
                .list_with_offset(Some(&folder), &self.path(after)),
            None => self.client().list(Some(&folder)),
        };
        let blobs = found.try_filter_map(|it| {
            let blob = it.location.filename().and_then(named::parse);
            std::future::ready(Ok(blob.filter(|_| is_older(&it, age))))
        });
        blobs.take(most).try_collect().await.map_err(unreadable)
    }

    async fn clean(&self, age: Duration) -> Result<()> {
        let mut found = self.client().list(Some(&self.folder(NEW)));
        while let Some(note) = found.try_next().await.map_err(unreadable)? {
            if !is_older(&note, age) {
                continue;
            }
            let text = self.note(&note.location).await?;
            if let Some(begun) = text.and_then(|it| Begun::parse(&it)) {
                self.abort(&begun).await?;
            }
            self.remove(&note.location).await?;
        }
        Ok(())
    }

    async fn check(&self) -> Result<()> {
        const TEXT: &[u8] = b"check";
        let path = self.folder(NEW).join(Uuid::now_v7().to_string());
        let wrong = |error: object_store::Error| unusable(&self.0.address, &error);
        let stored = self.client().put(&path, PutPayload::from_static(TEXT));
        stored.await.map_err(wrong)?;
        let found = self.client().get(&path).await.map_err(wrong)?;
        let found = found.bytes().await.map_err(wrong)?;
        self.client().delete(&path).await.map_err(wrong)?;
        match &found[..] == TEXT {
            true => Ok(()),
            false => Err(Error::internal("the store of files gives other bytes back")),
        }
    }

    async fn owner(&self) -> Result<Option<String>> {
        let path = self.0.prefix.clone().join(OWNER);
        let text = self.note(&path).await?;
        Ok(text.map(|it| String::from_utf8_lossy(&it).trim().to_owned()))
    }

    async fn set_owner(&self, owner: &str) -> Result<()> {
        let path = self.0.prefix.clone().join(OWNER);
        put(self.client(), &path, owner.to_owned().into()).await
    }
}

/// A file that comes.
struct Writer {
    store: S3Store,
    file: BufWriter<File>,
}

#[async_trait]
impl BlobWriter for Writer {
    async fn write(&mut self, bytes: Bytes) -> Result<()> {
        self.file.write_all(&bytes).await.map_err(disk::unwritable)
    }

    async fn finish(&mut self) -> Result<()> {
        self.file.flush().await.map_err(disk::unwritable)
    }

    async fn keep(self: Box<Self>, blob: &Blob) -> Result<()> {
        self.store.send(self.file.into_inner(), blob).await
    }
}

/// Returns whether the object is older than `age`, by the clock of the other side.
#[expect(
    clippy::disallowed_methods,
    reason = "it is compared with times that the other side wrote"
)]
fn is_older(object: &ObjectMeta, age: Duration) -> bool {
    let now = DateTime::<Utc>::from(SystemTime::now());
    let past = now.signed_duration_since(object.last_modified).to_std();
    age.is_zero() || past.is_ok_and(|it| it >= age)
}

fn unless_missing(done: object_store::Result<()>) -> Result<()> {
    match done {
        Err(object_store::Error::NotFound { .. }) => Ok(()),
        done => done.map_err(unwritable),
    }
}

fn unreadable(error: object_store::Error) -> Error {
    failed("a stored file can't be read now: try again", error)
}

fn unwritable(error: object_store::Error) -> Error {
    failed("the file can't be stored now: try again", error)
}

/// The failure of a store at the start, for the operator.
fn unusable(address: &str, error: &object_store::Error) -> Error {
    Error::internal(format!(
        "can't store files in {address}: {error}: see the settings `files.url`, `files.endpoint`, `files.region`, \
         `files.accessKey` and `files.secretKey`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_as_large_as_the_protocol_wants_and_not_too_many() {
        assert_eq!(part_length(PART + 1), PART);
        assert_eq!(part_length(512 << 20), PART);
        let huge: u64 = 5 << 40;
        assert!(huge.div_ceil(part_length(huge)) <= MOST_PARTS);
    }

    #[test]
    fn a_note_tells_what_was_begun() {
        let begun = Begun {
            blob: Blob::of(b"x"),
            id: "a\nb".to_owned(),
        };
        let read = Begun::parse(&begun.to_bytes()).unwrap();
        assert_eq!((read.blob, read.id), (begun.blob, begun.id));
        assert!(Begun::parse(b"check").is_none());
    }
}

//! Files in a folder of the machine, or in one that several nodes share.
//!
//! A file is `ab/abcd….7`: two digits of its digest, the digest, and its size. It is written below `new` and gets its
//! name when all of it is on the disk, so that a file with a name is whole. Nothing that a client sent is part of a path.

use std::fs;
use std::io::{self, ErrorKind, SeekFrom, Write as _};
use std::ops::Range;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use entity_core::blob::{Blob, BlobStore, BlobWriter, Opened, damaged};
use entity_core::{Error, Result};
use futures::{StreamExt as _, stream};
use rustix::io::Errno;
use tokio::fs::{File, OpenOptions};
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _, AsyncWriteExt as _, BufWriter};
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::{failed, named};

/// The folder of the files that are being written.
const NEW: &str = "new";
/// The number of bytes that are written or read at once.
const PIECE: usize = 128 << 10;
/// The number of bytes after which the disk is asked again how much is free.
const STRETCH: usize = 4 << 20;
/// The file that names the database whose files these are.
const OWNER: &str = "database";

/// The store.
#[derive(Clone, Debug)]
pub struct DiskStore {
    folder: PathBuf,
    /// The number of bytes of the disk that are left free.
    reserve: u64,
}

impl DiskStore {
    /// Returns the store in `folder`, which may not be there: then no file is.
    pub fn at(folder: PathBuf) -> Self {
        Self { folder, reserve: 0 }
    }

    /// Lets files that come leave so many bytes of the disk free, or a tenth of it if that is less.
    #[must_use]
    pub fn with_reserve(mut self, bytes: u64) -> Self {
        self.reserve = bytes;
        self
    }

    /// Refuses files where the disk has no more than the reserve.
    async fn demand_reserve(&self) -> Result<()> {
        if self.reserve == 0 {
            return Ok(());
        }
        let (folder, reserve) = (self.folder.clone(), self.reserve);
        let free = in_thread(move || {
            let disk = rustix::fs::statvfs(&folder)?;
            let tenth = disk.f_blocks.saturating_mul(disk.f_frsize) / 10;
            let free = disk.f_bavail.saturating_mul(disk.f_frsize);
            Ok(free > reserve.min(tenth))
        });
        match free.await.map_err(unwritable)? {
            true => Ok(()),
            false => Err(unwritable(Errno::NOSPC.into())),
        }
    }

    /// Opens the store in `folder`, which is made if it is not there.
    ///
    /// # Errors
    /// Returns an error if it can't be made.
    pub async fn open(folder: PathBuf) -> Result<Self> {
        let store = Self::at(folder);
        make_folder(store.folder.join(NEW)).await?;
        Ok(store)
    }

    /// Removes the folder of files that are being written, if there are none, and that of the store if it has none.
    pub async fn close(self) {
        let remove = move || fs::remove_dir(self.folder.join(NEW)).and(fs::remove_dir(self.folder));
        drop(in_thread(remove).await);
    }

    fn path(&self, blob: &Blob) -> PathBuf {
        path_in(&self.folder, blob)
    }
}

/// The path of a stored file in the folder of a store.
pub(super) fn path_in(folder: &Path, blob: &Blob) -> PathBuf {
    let digest = blob.digest();
    let part = digest.get(..2).unwrap_or_default();
    folder.join(part).join(named::of(blob))
}

/// Makes a folder for files, unless it is there.
pub(super) async fn make_folder(folder: PathBuf) -> Result<()> {
    let shown = folder.display().to_string();
    let made = in_thread(move || make_private(&folder)).await;
    made.map_err(|error| {
        Error::internal(format!(
            "can't store files in {shown}: {error}: see the setting `files.folder`"
        ))
    })
}

#[async_trait]
impl BlobStore for DiskStore {
    async fn begin(&self) -> Result<Box<dyn BlobWriter>> {
        self.demand_reserve().await?;
        let path = self.folder.join(NEW).join(Uuid::now_v7().to_string());
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .await
            .map_err(unwritable)?;
        Ok(Box::new(Writer {
            store: self.clone(),
            file: BufWriter::with_capacity(PIECE, file),
            part: Part(Some(path)),
            unasked: 0,
        }))
    }

    async fn open(&self, blob: &Blob, range: Range<u64>) -> Result<Option<Opened>> {
        let mut file = match File::open(self.path(blob)).await {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            file => file.map_err(unreadable)?,
        };
        let found = file.metadata().await.map_err(unreadable)?;
        file.set_max_buf_size(PIECE);
        file.seek(SeekFrom::Start(range.start))
            .await
            .map_err(unreadable)?;
        let left = range.end.saturating_sub(range.start);
        let pieces = stream::try_unfold((file, left), |(mut file, left)| async move {
            if left == 0 {
                return Ok(None);
            }
            let most = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
            let mut piece = BytesMut::with_capacity(most);
            while piece.len() < most {
                let rest = u64::try_from(most - piece.len()).unwrap_or(0);
                let read = (&mut file).take(rest).read_buf(&mut piece).await;
                if read.map_err(unreadable)? == 0 {
                    return Err(Error::internal("a stored file is shorter than it was"));
                }
            }
            let left = left.saturating_sub(u64::try_from(most).unwrap_or(left));
            Ok(Some((piece.freeze(), (file, left))))
        });
        let written = (found.mtime(), found.mtime_nsec());
        let changed = (found.ctime(), found.ctime_nsec());
        Ok(Some(Opened {
            size: found.len(),
            mark: format!("{} {written:?} {changed:?}", found.ino()),
            pieces: pieces.boxed(),
        }))
    }

    async fn delete(&self, blob: &Blob) -> Result<()> {
        let path = self.path(blob);
        in_thread(move || unless_missing(fs::remove_file(path)))
            .await
            .map_err(unwritable)
    }

    async fn list(&self, after: Option<&Blob>, most: usize, age: Duration) -> Result<Vec<Blob>> {
        let (folder, after) = (self.folder.clone(), after.copied());
        in_thread(move || list(&folder, after, most, age))
            .await
            .map_err(unreadable)
    }

    async fn clean(&self, age: Duration) -> Result<()> {
        let new = self.folder.join(NEW);
        in_thread(move || {
            for entry in fs::read_dir(new)? {
                let entry = entry?;
                if is_older(&entry, age) {
                    unless_missing(fs::remove_file(entry.path()))?;
                }
            }
            Ok(())
        })
        .await
        .map_err(unwritable)
    }

    async fn check(&self) -> Result<()> {
        let mut writer = self.begin().await?;
        writer.write(Bytes::from_static(b"check")).await?;
        writer.finish().await
    }

    async fn owner(&self) -> Result<Option<String>> {
        let path = self.folder.join(OWNER);
        let text = in_thread(move || match fs::read_to_string(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            text => text.map(|it| Some(it.trim().to_owned())),
        });
        text.await.map_err(unreadable)
    }

    async fn set_owner(&self, owner: &str) -> Result<()> {
        let from = self.folder.join(NEW).join(Uuid::now_v7().to_string());
        let (to, owner) = (self.folder.join(OWNER), owner.to_owned());
        let set = in_thread(move || {
            let mut file = fs::OpenOptions::new();
            let mut file = file.write(true).create_new(true).mode(0o600).open(&from)?;
            file.write_all(owner.as_bytes())?;
            file.sync_all()?;
            place(&from, &to)
        });
        set.await.map_err(unwritable)
    }
}

/// A file that is being written.
struct Writer {
    store: DiskStore,
    file: BufWriter<File>,
    part: Part,
    /// The number of bytes that were written since the disk was asked how much is free.
    unasked: usize,
}

#[async_trait]
impl BlobWriter for Writer {
    async fn write(&mut self, bytes: Bytes) -> Result<()> {
        self.unasked = self.unasked.saturating_add(bytes.len());
        if self.unasked > STRETCH {
            self.store.demand_reserve().await?;
            self.unasked = 0;
        }
        self.file.write_all(&bytes).await.map_err(unwritable)
    }

    async fn finish(&mut self) -> Result<()> {
        self.file.flush().await.map_err(unwritable)?;
        self.file.get_mut().sync_all().await.map_err(unwritable)
    }

    async fn keep(mut self: Box<Self>, blob: &Blob) -> Result<()> {
        let to = self.store.path(blob);
        let Some(from) = self.part.0.clone() else {
            return Err(Error::internal("a file is kept twice"));
        };
        in_thread(move || place(&from, &to))
            .await
            .map_err(unwritable)?;
        self.part.0 = None;
        Ok(())
    }
}

/// The path of a file that has no name yet. It is removed when this is dropped.
struct Part(Option<PathBuf>);

impl Drop for Part {
    fn drop(&mut self) {
        let Some(path) = self.0.take() else {
            return;
        };
        let remove = move || {
            if let Err(error) = unless_missing(fs::remove_file(path)) {
                let error = crate::base::telemetry::cause(&error);
                tracing::warn!(error, "can't remove a file that did not come to its end");
            }
        };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(remove)),
            Err(_no_runtime) => remove(),
        }
    }
}

/// Moves a file to its name, and waits until the name is on the disk.
pub(super) fn place(from: &Path, to: &Path) -> io::Result<()> {
    let folder = to.parent().ok_or(ErrorKind::InvalidInput)?;
    if !folder.is_dir() {
        make_private(folder)?;
        if let Some(above) = folder.parent() {
            fs::File::open(above)?.sync_all()?;
        }
    }
    fs::rename(from, to)?;
    fs::File::open(folder)?.sync_all()
}

/// Makes a folder, and those above it, that nobody else can read.
pub(super) fn make_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

/// Lists stored files in the order of their digests, folder by folder.
pub(super) fn list(
    folder: &Path,
    after: Option<Blob>,
    most: usize,
    age: Duration,
) -> io::Result<Vec<Blob>> {
    let first = after.map(|it| it.digest());
    let first = first.as_deref().and_then(|it| it.get(..2));
    let mut found = Vec::new();
    for part in 0..=u8::MAX {
        let part = hex::encode([part]);
        if first.is_some_and(|it| part.as_str() < it) {
            continue;
        }
        let entries = match fs::read_dir(folder.join(part)) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            entries => entries?,
        };
        let start = found.len();
        for entry in entries {
            let entry = entry?;
            let blob = entry.file_name().to_str().and_then(named::parse);
            found.extend(blob.filter(|it| Some(it) > after.as_ref() && is_older(&entry, age)));
        }
        if let Some(own) = found.get_mut(start..) {
            own.sort_unstable();
        }
        if found.len() >= most {
            found.truncate(most);
            break;
        }
    }
    Ok(found)
}

fn is_older(entry: &fs::DirEntry, age: Duration) -> bool {
    let modified = entry.metadata().and_then(|it| it.modified());
    let past = modified
        .ok()
        .and_then(|it| age_now().duration_since(it).ok());
    age.is_zero() || past.is_some_and(|it| it >= age)
}

#[expect(
    clippy::disallowed_methods,
    reason = "it is compared with times that the file system wrote"
)]
fn age_now() -> SystemTime {
    SystemTime::now()
}

fn unless_missing(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Runs work that may block on the disk in a blocking thread.
pub(super) async fn in_thread<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    spawn_blocking(work).await.map_err(io::Error::other)?
}

fn unreadable(error: io::Error) -> Error {
    match Errno::from_io_error(&error) {
        Some(Errno::IO) => damaged(format!("can't be read: {error}")),
        _ => failed("a stored file can't be read now: try again", error),
    }
}

/// The failure to write a file. Where there is no room, trying again soon does not help.
pub(super) fn unwritable(error: io::Error) -> Error {
    let errno = Errno::from_io_error(&error);
    match errno {
        Some(Errno::NOSPC | Errno::DQUOT | Errno::FBIG) => {
            let told =
                "there is no room for the file on this service: ask its operators to make some";
            Error::insufficient_storage(told).with_source(error)
        }
        _ => failed("the file can't be stored now: try again", error),
    }
}

#[cfg(test)]
mod tests {
    use entity_core::ErrorKind;
    use entity_core::blob::Blobs;
    use futures::TryStreamExt as _;

    use super::*;

    async fn store() -> (tempfile::TempDir, DiskStore) {
        let folder = tempfile::tempdir().unwrap();
        let store = DiskStore::open(folder.path().join("files")).await.unwrap();
        store.check().await.unwrap();
        (folder, store)
    }

    async fn put(store: &DiskStore, bytes: &'static [u8]) -> Blob {
        let mut incoming = Blobs::new(store.clone()).begin().await.unwrap();
        incoming.write(Bytes::from_static(bytes)).await.unwrap();
        incoming.finish().await.unwrap().keep().await.unwrap()
    }

    #[tokio::test]
    async fn a_file_is_stored_once_read_in_parts_listed_and_removed() {
        let (_folder, store) = store().await;
        let blob = put(&store, b"0123456789").await;
        assert_eq!(put(&store, b"0123456789").await, blob);
        let other = put(&store, b"").await;
        let part = store.open(&blob, 2..5).await.unwrap().unwrap();
        let part: Vec<Bytes> = part.pieces.try_collect().await.unwrap();
        assert_eq!(part.concat(), b"234");
        let mut all = [blob, other];
        all.sort_unstable();
        assert_eq!(store.list(None, 9, Duration::ZERO).await.unwrap(), all);
        let rest = store.list(all.first(), 9, Duration::ZERO).await.unwrap();
        assert_eq!(rest, all.get(1..).unwrap());
        let old = store.list(None, 9, Duration::from_mins(1)).await.unwrap();
        assert_eq!(old, []);
        for _ in 0..2 {
            store.delete(&blob).await.unwrap();
        }
        assert!(store.open(&blob, 0..1).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn what_was_begun_and_never_ended_is_removed() {
        let (folder, store) = store().await;
        let left = folder.path().join("files/new/left");
        fs::write(&left, "x").unwrap();
        store.clean(Duration::from_mins(1)).await.unwrap();
        assert!(left.exists());
        store.clean(Duration::ZERO).await.unwrap();
        assert!(!left.exists());
    }

    #[test]
    fn rel_11_a_full_disk_is_told_as_one() {
        let kind = |errno: Errno| unwritable(errno.into()).kind();
        assert_eq!(kind(Errno::NOSPC), ErrorKind::InsufficientStorage);
        assert_eq!(kind(Errno::DQUOT), ErrorKind::InsufficientStorage);
        assert_eq!(kind(Errno::IO), ErrorKind::Unavailable);
    }
}

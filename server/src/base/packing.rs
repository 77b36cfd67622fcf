//! Zip archives that are sent while they are written, and never in memory as a whole.
//!
//! An archive is written by a task of its own, which waits for its reader. Sizes and checksums follow behind the bytes
//! of a file, because they are known only then; every reader finds them in the directory at the end.

use std::future::Future;
use std::io::{self, Write};
use std::sync::Arc;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use entity_core::blob::{Blob, Blobs};
use entity_core::{Error, ErrorKind, Result};
use futures::{Stream, StreamExt as _, stream};
use parking_lot::Mutex;
use tokio::sync::mpsc::{Sender, channel};
use tokio_util::task::TaskTracker;
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, ZipWriter};

/// The number of pieces that wait for the reader of the archive.
const WAITING: usize = 2;
/// The number of bytes that are handed on at once, at least.
const PIECE: usize = 64 << 10;
/// The size from which a file has numbers of 64 bits.
const LARGE: u64 = 0xFFFF_0000;

/// An archive that is being written.
pub(crate) struct ZipStream {
    zip: ZipWriter<StreamWriter<Pipe>>,
    pipe: Pipe,
    to: Sender<Result<Bytes>>,
}

/// The buffer of bytes that were written and not handed on yet.
#[derive(Clone, Debug, Default)]
struct Pipe(Arc<Mutex<Vec<u8>>>);

impl Pipe {
    fn take(&self, least: usize) -> Bytes {
        let mut bytes = self.0.lock();
        match bytes.len() >= least {
            true => std::mem::take(&mut *bytes).into(),
            false => Bytes::new(),
        }
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = self.0.lock();
        all.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the archive that `work` writes as one of `tasks`, piece by piece. It ends with an error if `work` does; if nobody reads it any
/// more, `work` ends with an error.
pub(crate) fn packed<W, F>(
    tasks: &TaskTracker,
    work: W,
) -> impl Stream<Item = Result<Bytes>> + Send + use<W, F>
where
    W: FnOnce(ZipStream) -> F,
    F: Future<Output = Result<()>> + Send + 'static,
{
    let (to, from) = channel(WAITING);
    let pipe = Pipe::default();
    let done = work(ZipStream {
        zip: ZipWriter::new_stream(pipe.clone()),
        pipe,
        to: to.clone(),
    });
    tasks.spawn(async move {
        if let Err(error) = done.await {
            tell(&error);
            drop(to.send(Err(error)).await);
        }
    });
    stream::unfold(from, |mut from| async move {
        let piece = from.recv().await?;
        Some((piece, from))
    })
}

fn tell(error: &Error) {
    let cause = crate::base::telemetry::cause(error);
    tracing::warn!(error = cause, "can't write an archive to its end");
}

impl ZipStream {
    /// Adds a folder at `path`, which ends with a slash.
    pub(crate) fn folder(&mut self, path: &str) -> Result<()> {
        self.zip
            .add_directory(path, SimpleFileOptions::default())
            .map_err(Error::internal)
    }

    /// Begins a file of text at `path`, which is compressed.
    pub(crate) fn begin_text(&mut self, path: &str) -> Result<()> {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .large_file(true);
        self.zip.start_file(path, options).map_err(Error::internal)
    }

    /// Adds `bytes` to the file that was begun last.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.zip.write_all(bytes).map_err(Error::internal)?;
        self.hand_on(PIECE).await
    }

    /// Adds the stored file `blob` at `path`, as it is: most files are compressed already.
    ///
    /// # Errors
    /// Returns an error if the file can't be read, or if nobody reads the archive any more.
    pub(crate) async fn file(
        &mut self,
        path: &str,
        blobs: &Blobs,
        blob: &Blob,
        modified: Option<DateTime<Utc>>,
    ) -> Result<()> {
        // A zip archive can tell the years from 1980 to 2107.
        let time = modified.and_then(|it| zip::DateTime::try_from(it.naive_utc()).ok());
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(time.unwrap_or_default())
            .large_file(blob.size() >= LARGE);
        self.zip
            .start_file(path, options)
            .map_err(Error::internal)?;
        if blob.size() > 0 {
            let mut pieces = blobs.open(blob, 0..blob.size()).await?;
            while let Some(piece) = pieces.next().await {
                self.write(&piece?).await?;
            }
        }
        Ok(())
    }

    /// Ends the archive.
    pub(crate) async fn finish(self) -> Result<()> {
        let Self { zip, pipe, to } = self;
        zip.finish().map_err(Error::internal)?;
        send(&to, pipe.take(0)).await
    }

    async fn hand_on(&mut self, least: usize) -> Result<()> {
        send(&self.to, self.pipe.take(least)).await
    }
}

async fn send(to: &Sender<Result<Bytes>>, piece: Bytes) -> Result<()> {
    if piece.is_empty() {
        return Ok(());
    }
    to.send(Ok(piece))
        .await
        .map_err(|_closed| Error::new(ErrorKind::Unavailable, "nobody reads the archive any more"))
}

//! Stored files are whole: there, and with the bytes that their digest tells, or they are not sent.

use std::ops::Range;

use bytes::Bytes;
use futures::stream::{StreamExt as _, TryStreamExt as _, try_unfold};
use sha2::{Digest as _, Sha256};

use super::Blob;
use super::store::{Blobs, ByteStream, Opened, damaged};
use crate::primitives::error::Result;

/// The maximum size of a file of which all is read before its first byte is answered. The bytes of a larger one are
/// compared while they are sent, and its last piece is kept back until they are right.
const READ_FIRST: u64 = 8 << 20;
/// The maximum number of files of which it is remembered that they are whole.
const REMEMBERED: usize = 20_000;

impl Blobs {
    /// Opens a part of a stored file. The part must lie within the file, all of whose bytes are compared with its digest
    /// when it is opened for the first time, and whenever something has written it since.
    ///
    /// # Errors
    /// Returns an error if the file can't be read, or with the code [`FILE_DAMAGED`](super::FILE_DAMAGED) if it is not whole.
    pub async fn open(&self, blob: &Blob, range: Range<u64>) -> Result<ByteStream> {
        let opened = self.find(blob, range.clone()).await?;
        if self.seen.lock().get(blob) == Some(&opened.mark) {
            return Ok(opened.pieces);
        }
        if range == (0..blob.size()) && blob.size() > READ_FIRST {
            return Ok(self.checked(*blob, opened));
        }
        self.check(blob, true).await?;
        Ok(self.find(blob, range).await?.pieces)
    }

    /// Checks that a stored file is whole: `is_read` tells whether its bytes are compared or only counted.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    pub async fn check(&self, blob: &Blob, is_read: bool) -> Result<()> {
        let range = if is_read { 0..blob.size() } else { 0..0 };
        let opened = self.find(blob, range).await?;
        if !is_read {
            return Ok(());
        }
        let pieces = self.checked(*blob, opened);
        pieces.try_for_each(|_| std::future::ready(Ok(()))).await
    }

    /// Copies a stored file to the store `to`, unless that has it whole.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open), and those of writing the copy.
    pub async fn copy(&self, blob: &Blob, to: &Self) -> Result<()> {
        if to.check(blob, true).await.is_ok() {
            return Ok(());
        }
        let mut pieces = self.checked(*blob, self.find(blob, 0..blob.size()).await?);
        let mut incoming = to.begin().await?;
        while let Some(piece) = pieces.try_next().await? {
            incoming.write(piece).await?;
        }
        // A damaged value there may be taken for its equal.
        to.store().delete(blob).await?;
        incoming.finish().await?.keep().await.map(drop)
    }

    /// Opens a part of a file that has as many bytes as it should have.
    async fn find(&self, blob: &Blob, range: Range<u64>) -> Result<Opened> {
        let opened = self.store().open(blob, range).await?;
        let opened = opened.ok_or_else(|| damaged("is missing"))?;
        match (opened.size, blob.size()) {
            (found, size) if found == size => Ok(opened),
            (found, size) => Err(damaged(format!("has {found} of {size} bytes"))),
        }
    }

    /// Returns the pieces of a whole file, the last one when all bytes are known to be right, which is remembered.
    fn checked(&self, blob: Blob, opened: Opened) -> ByteStream {
        let state = (opened.pieces.fuse(), Sha256::new(), None::<Bytes>);
        let (blobs, mark) = (self.clone(), opened.mark);
        let checked = try_unfold(state, move |(mut pieces, mut hash, mut held)| {
            let (blobs, mark) = (blobs.clone(), mark.clone());
            async move {
                while let Some(piece) = pieces.try_next().await? {
                    hash.update(&piece);
                    if let Some(before) = held.replace(piece) {
                        return Ok(Some((before, (pieces, hash, held))));
                    }
                }
                let digest: [u8; super::identity::DIGEST] = hash.finalize_reset().into();
                match held {
                    Some(_) if digest != blob.digest => Err(damaged("has other bytes")),
                    Some(last) => {
                        let mut seen = blobs.seen.lock();
                        if seen.len() >= REMEMBERED {
                            seen.clear();
                        }
                        seen.insert(blob, mark);
                        Ok(Some((last, (pieces, hash, None))))
                    }
                    None => Ok(None),
                }
            }
        });
        checked.boxed()
    }
}

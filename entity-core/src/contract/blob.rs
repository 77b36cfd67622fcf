//! Files as bytes: the columns of a file, the store of its bytes, upload and download.
//!
//! A [`Blob`] is the digest and the size of a file, and a field of a record. The bytes themselves are in the
//! [`BlobStore`] of the service, named by their digest: equal files are stored once, and no name that a client chose
//! ever becomes a path. Bytes are stored before the row that names them; what no row names is removed later.
//!
//! - An operation that takes files declares it by [`Receive`]. The service streams the files into the store before the
//!   unit of work opens, and the operation finds them as [`Upload`]s.
//! - An operation that answers with a file returns a [`StoredFile`], which the service streams; one that answers
//!   with several returns a [`Bundle`].

mod bundle;
mod media;
mod receive;
mod store;
mod whole;

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::DateTimeUtc;

pub use bundle::{Bundle, Bundled};
pub use media::{OCTETS, file_name, media_type};
pub(crate) use receive::ReceiveRoute;
pub use receive::{Receive, Reception, Room, Target, Upload};
pub use store::{
    BlobStore, BlobWriter, Blobs, ByteStream, FILE_DAMAGED, Incoming, Opened, Received, damaged,
};

/// The length of a SHA-256 digest in bytes.
const DIGEST: usize = 32;
/// The separator between the digest and the size in a column.
const SEPARATOR: char = ':';

/// The identity of the bytes of a file: their SHA-256 digest and their number.
///
/// `Option<Blob>` is a field of a record, declared as `#[serde(skip)]` and `#[entity(hidden)]`: clients neither see nor
/// send it, because whoever could name a digest could read the file of somebody else. A type that tells the size has
/// another field for it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Blob {
    digest: [u8; DIGEST],
    size: u64,
}

impl Blob {
    /// Returns the blob of `bytes`, which need not be stored.
    pub fn of(bytes: &[u8]) -> Self {
        Self::new(
            Sha256::digest(bytes).into(),
            u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        )
    }

    /// Creates a blob of a digest and a size.
    pub(crate) const fn new(digest: [u8; DIGEST], size: u64) -> Self {
        Self { digest, size }
    }

    /// Returns the number of bytes.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Returns the SHA-256 digest in lower-case hexadecimal digits.
    pub fn digest(&self) -> String {
        hex::encode(self.digest)
    }

    /// Returns the blob as it is stored in a column: the digest, a colon and the size.
    pub fn to_column(&self) -> String {
        format!("{}{SEPARATOR}{}", self.digest(), self.size)
    }

    /// Reads what [`to_column`](Self::to_column) wrote.
    pub fn parse(column: &str) -> Option<Self> {
        let (digest, size) = column.split_once(SEPARATOR)?;
        let mut bytes = [0; DIGEST];
        hex::decode_to_slice(digest, &mut bytes).ok()?;
        Some(Self::new(bytes, size.parse().ok()?))
    }
}

impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Blob({} bytes)", self.size)
    }
}

/// A stored file as the answer of an operation that reads. The service streams it, in whole or in the part that the
/// client asks for, and never holds it in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// The bytes.
    pub blob: Blob,
    /// The media type, such as `image/png`.
    pub media_type: String,
    /// The name under which a client saves the file.
    pub name: Option<String>,
    /// The use that a browser makes of the file: it shows it or saves it.
    pub disposition: Disposition,
    /// The instant at which the file was last replaced, if it is known.
    pub modified: Option<DateTimeUtc>,
}

/// The use that a browser makes of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Disposition {
    /// The browser saves the file.
    #[default]
    Attachment,
    /// The browser shows the file, if its media type is one that can't run code in the name of the service: the common
    /// ones of images, audio, video, PDF and plain text. The browser saves any other file.
    Inline,
}

impl StoredFile {
    /// Creates the answer with `blob` under `name`, from which its media type follows.
    pub fn named(blob: Blob, name: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            blob,
            media_type: media_type(&name).to_owned(),
            name: Some(name),
            disposition: Disposition::default(),
            modified: None,
        }
    }

    /// Lets browsers show the file where that is [safe](Disposition::Inline).
    #[must_use]
    pub fn inline(mut self) -> Self {
        self.disposition = Disposition::Inline;
        self
    }

    /// Sets the instant at which the file was last replaced.
    #[must_use]
    pub fn modified(mut self, at: DateTimeUtc) -> Self {
        self.modified = Some(at);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_holds_the_digest_and_the_size() {
        let blob = Blob::of(b"abc");
        let column = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad:3";
        assert_eq!(blob.to_column(), column);
        assert_eq!(Blob::parse(column), Some(blob));
        for wrong in ["", ":3", "ba78:3", column.trim_end_matches(":3"), "x", ":"] {
            assert_eq!(Blob::parse(wrong), None, "{wrong}");
        }
        assert_eq!(Blob::of(b"").size(), 0);
    }
}

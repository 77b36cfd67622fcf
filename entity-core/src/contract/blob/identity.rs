//! The identity of the bytes of a file.

use sha2::{Digest as _, Sha256};

/// The length of a SHA-256 digest in bytes.
pub(super) const DIGEST: usize = 32;
/// The separator between the digest and the size in a column.
const SEPARATOR: char = ':';

/// The identity of the bytes of a file: their SHA-256 digest and their number.
///
/// `Option<Blob>` is a field of a record, declared as `#[serde(skip)]` and `#[entity(hidden)]`: clients neither see nor
/// send it, because whoever could name a digest could read the file of somebody else. A type that tells the size has
/// another field for it.
#[derive(derive_more::Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[debug("Blob({} bytes)", self.size)]
pub struct Blob {
    pub(super) digest: [u8; DIGEST],
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

//! The names of stored files: the digest, a dot and the size.

use entity_core::blob::Blob;

/// The separator between the digest and the size.
const DOT: char = '.';

/// Returns the name of a stored file.
pub(super) fn of(blob: &Blob) -> String {
    format!("{}{DOT}{}", blob.digest(), blob.size())
}

/// Reads the name of a stored file.
pub(super) fn parse(name: &str) -> Option<Blob> {
    let (digest, size) = name.split_once(DOT)?;
    Blob::parse(&format!("{digest}:{size}"))
}

//! The buffer of an answer, with a maximum size.

use std::io::Write as _;
use std::{fmt, io};

use entity_core::format::View;
use entity_core::reply::Body;
use entity_core::{Error, Result};

use crate::primitives::text::replace_forbidden;

/// The capacity that a buffer begins with.
const FIRST: usize = 2048;
/// A buffer with more than this gets its maximum at once: memory that is not written to takes no room, and bytes copied
/// from one place to a larger one take it twice.
const LARGE: usize = 1 << 20;

/// The bytes of an answer while it is written. What would be more than they may be is refused, before there is memory
/// for it.
#[derive(Debug)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    most: usize,
    is_full: bool,
}

impl Buffer {
    /// One of no more than `most` bytes.
    fn new(most: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(FIRST.min(most)),
            most,
            is_full: false,
        }
    }

    /// For what is one: it takes what it takes, for whoever sent it could not send more than a body may have.
    pub(crate) fn unlimited() -> Self {
        Self::new(usize::MAX)
    }

    /// For `body` as `view` may be answered with: a list has a size, unless there is one entity only in it.
    pub(crate) fn of(body: &Body, view: &View<'_>) -> Self {
        Self::new(match body {
            Body::Collection(it) if it.items.len() > 1 => view.most_bytes,
            _ => usize::MAX,
        })
    }

    /// Returns the bytes written so far.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Takes back the last byte.
    pub(crate) fn pop(&mut self) -> Option<u8> {
        self.bytes.pop()
    }

    /// Returns the bytes that were written.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Returns `done`, the result of writing the entity at `index` of a list, or, if there was no room for it, that the
    /// list ends before it.
    ///
    /// # Errors
    /// Fails as `done` does, and when the buffer is full.
    pub(crate) fn check<T>(&self, done: Result<T>, index: usize) -> Result<T> {
        match self.is_full {
            true => Err(Error::list_too_large(index.max(1))),
            false => done,
        }
    }

    /// Puts `bytes` before those at `place`.
    pub(crate) fn insert(&mut self, place: usize, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)?;
        if let Some(moved) = self.bytes.get_mut(place..) {
            moved.rotate_right(bytes.len());
        }
        Ok(())
    }

    /// Takes `bytes` in. Where there is no room, there is twice as much next, but no more than there may be.
    #[inline]
    fn push(&mut self, bytes: &[u8]) -> bool {
        let needed = self.bytes.len().saturating_add(bytes.len());
        if needed > self.most {
            self.is_full = true;
            return false;
        }
        let capacity = self.bytes.capacity();
        if needed > capacity {
            let doubled = capacity.saturating_mul(2);
            let wanted = match self.most {
                usize::MAX => doubled,
                most if needed > LARGE => most,
                most => doubled.min(most),
            };
            let wanted = wanted.max(needed);
            self.bytes
                .reserve_exact(wanted.saturating_sub(self.bytes.len()));
        }
        self.bytes.extend_from_slice(bytes);
        true
    }
}

impl io::Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.push(bytes) {
            true => Ok(()),
            false => Err(io::ErrorKind::StorageFull.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Text is written without the characters that no document may have.
impl fmt::Write for Buffer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        match self.push(replace_forbidden(text).as_bytes()) {
            true => Ok(()),
            false => Err(fmt::Error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn it_has_no_memory_beyond_what_it_may_have() {
        let mut buffer = Buffer::new(10_000);
        let mut written = 0;
        while buffer.write_all(&[b'x'; 700]).is_ok() {
            written += 700;
            assert!(buffer.bytes.capacity() <= 10_000);
        }
        assert_eq!((written, buffer.bytes().len()), (9_800, 9_800));
        let ended = buffer.check(Ok(()), 14).unwrap_err();
        assert_eq!(ended.fitting(), Some(14));
        let mut whole = Buffer::unlimited();
        whole.write_all(&vec![b'x'; 20_000]).unwrap();
        assert!(whole.check(Ok(()), 0).is_ok());
    }
}

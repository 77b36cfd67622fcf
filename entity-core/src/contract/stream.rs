//! Answers that are made piece by piece while they are sent, and are never in memory as a whole.

use std::borrow::Cow;

use async_trait::async_trait;
use parking_lot::Mutex;

use crate::contract::context::Context;
use crate::primitives::error::Result;

/// Bytes with a media type of their own, such as a long table, as the answer of an operation that reads. They are made
/// and sent one piece after the other.
///
/// An answer that is whole after its first piece is sent as [`Bytes`](crate::reply::Bytes) are.
#[derive(derive_more::Debug)]
#[debug("Streaming({})", self.media_type)]
pub struct Streaming {
    /// The media type, without parameters.
    pub media_type: Cow<'static, str>,
    /// The name of the file under which the bytes are saved.
    pub name: Option<String>,
    pieces: Mutex<Option<Box<dyn Pieces>>>,
}

/// The source of the pieces of one answer.
#[async_trait]
pub trait Pieces: Send {
    /// Makes the next piece, and is not called again after the last one. Each piece is read in a unit of work of its own
    /// on behalf of the same caller, who may have lost permissions since the one before.
    ///
    /// # Errors
    /// Returns an error if the piece can't be made. After the first piece, the client sees the answer break off.
    async fn next(&mut self, cx: &Context) -> Result<Piece>;
}

/// A part of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// True if nothing follows.
    pub is_last: bool,
}

impl Streaming {
    /// Creates an answer of these pieces, which clients save under `name`.
    pub fn new(
        media_type: impl Into<Cow<'static, str>>,
        name: impl Into<String>,
        pieces: impl Pieces + 'static,
    ) -> Self {
        Self {
            media_type: media_type.into(),
            name: Some(name.into()),
            pieces: Mutex::new(Some(Box::new(pieces))),
        }
    }

    /// Takes the source of the pieces, which there is once.
    pub fn take(&self) -> Option<Box<dyn Pieces>> {
        let mut pieces = self.pieces.lock();
        pieces.take()
    }
}

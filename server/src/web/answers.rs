//! The memory that large answers share.
//!
//! An answer is in memory as a whole until its last byte was handed to the connection, and a client may take its time.
//! Answers above [`COUNTED`] therefore take a part of one budget, of which the large ones leave a quarter to the
//! others. Answers that find no room wait for half a second at most, and keep the places of their requests meanwhile.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use entity_core::engine::{Origin, SMALL};
use entity_core::{Error, Result};
use http_body_util::BodyExt as _;
use hyper::body::{Frame, SizeHint};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::block_in_place;
use tokio::time::timeout;

use crate::base::memory;

/// Answers of no more bytes are not counted.
const COUNTED: usize = 64 << 10;
/// The number of bytes that are handed to a connection at once.
const PIECE: usize = 64 << 10;
/// The unit of the budget, in bytes.
const UNIT: usize = 1 << 10;
/// The time for which an answer waits until there is room for it.
const PATIENCE: Duration = Duration::from_millis(500);

/// The memory that large answers share.
#[derive(Debug)]
pub(crate) struct ResponseBudget {
    small: Budget,
    large: Budget,
    is_memory_scarce: bool,
}

/// An answer that is streamed, and never in memory as a whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Streamed;

/// A part of it, for answers that are being sent. Those that wait hold the places of their requests, so that they are
/// few.
#[derive(Debug)]
struct Budget {
    sent: Arc<Semaphore>,
    units: u32,
}

impl ResponseBudget {
    /// Makes a budget of this many bytes for answers that are sent.
    pub(crate) fn new(bytes: usize) -> Self {
        let small = bytes / 4;
        Self {
            small: Budget::new(small),
            large: Budget::new(bytes.saturating_sub(small)),
            is_memory_scarce: memory::is_scarce(),
        }
    }

    /// Does `work` on the answer to a request of `origin`. If that is large, it takes long; then the other tasks of
    /// this thread go on in another one, unless memory is scarce: each thread keeps some of the memory that it freed.
    pub(crate) fn aside<T>(&self, origin: &Origin, work: impl FnOnce() -> T) -> T {
        self.aside_if(origin.read_budget.is_large(), work)
    }

    /// Does `work` the same way, which takes long if it `is_large`.
    pub(crate) fn aside_if<T>(&self, is_large: bool, work: impl FnOnce() -> T) -> T {
        let has_threads = || {
            Handle::try_current().is_ok_and(|it| it.runtime_flavor() == RuntimeFlavor::MultiThread)
        };
        match is_large && !self.is_memory_scarce && has_threads() {
            true => block_in_place(work),
            false => work(),
        }
    }

    /// Waits until there is room for `response`. The answer to a write that `is_done` is sent whether there is room or
    /// not: a client that is told to try again would do it twice.
    pub(crate) async fn hold(&self, response: Response, is_done: bool) -> Result<Response> {
        if response.extensions().get::<Streamed>().is_some() {
            return Ok(response);
        }
        let size = response.body().size_hint().exact();
        let size = size.and_then(|it| usize::try_from(it).ok());
        let Some(size) = size.filter(|it| *it > COUNTED) else {
            return Ok(response);
        };
        let budget = match size > SMALL {
            true => &self.large,
            false => &self.small,
        };
        let place = match budget.find(size).await {
            Ok(place) => Some(place),
            Err(_full) if is_done => None,
            Err(full) => return Err(full),
        };
        let (head, body) = response.into_parts();
        let bytes = body.collect().await.map_err(Error::internal)?.to_bytes();
        Ok(Response::from_parts(head, Body::new(Held { bytes, place })))
    }
}

impl Budget {
    fn new(bytes: usize) -> Self {
        let units = u32::try_from(bytes / UNIT).unwrap_or(u32::MAX).max(1);
        let permits = usize::try_from(units).unwrap_or(Semaphore::MAX_PERMITS);
        Self {
            sent: Arc::new(Semaphore::new(permits.min(Semaphore::MAX_PERMITS))),
            units,
        }
    }

    async fn find(&self, size: usize) -> Result<OwnedSemaphorePermit> {
        // A single answer that is larger than all of the memory takes all of it.
        let units = u32::try_from(size.div_ceil(UNIT)).unwrap_or(u32::MAX);
        let units = units.min(self.units);
        let place = timeout(PATIENCE, Arc::clone(&self.sent).acquire_many_owned(units)).await;
        let place = place.map_err(|elapsed| busy().with_source(elapsed))?;
        place.map_err(Error::internal)
    }
}

fn busy() -> Error {
    Error::unavailable(
        "too many large answers are being sent: try again, or ask for less",
        1,
    )
}

/// The bytes of an answer, with their place in the memory until the last of them was handed on.
struct Held {
    bytes: Bytes,
    place: Option<OwnedSemaphorePermit>,
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.bytes.is_empty() {
            self.place = None;
            return Poll::Ready(None);
        }
        let length = self.bytes.len().min(PIECE);
        let piece = self.bytes.split_to(length);
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(u64::try_from(self.bytes.len()).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(bytes: usize) -> Response {
        Response::new(Body::from(vec![b'x'; bytes]))
    }

    #[tokio::test]
    async fn answers_hold_their_place_until_they_are_sent_or_dropped() {
        let memory = ResponseBudget::new(1 << 20);
        let first = memory.hold(answer(700 << 10), false).await.unwrap();
        assert_eq!(first.body().size_hint().exact(), Some(700 << 10));
        memory.hold(answer(10 << 10), false).await.unwrap();
        let refused = memory.hold(answer(700 << 10), false).await.unwrap_err();
        assert_eq!(refused.retry_after(), Some(1));
        memory.hold(answer(700 << 10), true).await.unwrap();
        let sent = first.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(sent.len(), 700 << 10);
        let second = memory.hold(answer(5 << 20), false).await.unwrap();
        let third = async { memory.hold(answer(300 << 10), false).await };
        let end = async {
            // The third one waits by now.
            tokio::task::yield_now().await;
            drop(second);
        };
        let (third, ()) = tokio::join!(third, end);
        third.unwrap();
    }
}

//! The rest of a body whose request is answered already: it is read on for a while, because a client whose connection is
//! closed while it sends never sees the answer that refuses it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::HeaderMap;
use axum::http::header::EXPECT;
use http_body_util::BodyExt as _;
use hyper::body::{Frame, SizeHint};
use parking_lot::Mutex;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

/// The time for which it is read on, and the number of bytes.
const PATIENCE: Duration = Duration::from_secs(5);
const MOST: usize = 64 << 20;

/// The body of a request that comes back when it is read no more.
struct Watched {
    body: Option<Body>,
    /// True while the client waits to be told to begin.
    waits: bool,
    unread: Rest,
}

type Rest = Arc<Mutex<Option<Body>>>;

/// The unread rest of a body, if the request has one.
pub(crate) struct Unread(Option<Rest>);

impl Unread {
    /// Returns the body of a request with these headers such that its rest is known when it is dropped.
    pub(crate) fn of(headers: &HeaderMap, body: Body) -> (Body, Self) {
        if body.is_end_stream() {
            return (body, Self(None));
        }
        let unread = Rest::default();
        let watched = Watched {
            body: Some(body),
            waits: headers.contains_key(EXPECT),
            unread: unread.clone(),
        };
        (Body::new(watched), Self(Some(unread)))
    }

    /// Reads the rest in the background.
    pub(crate) fn read_on(self, tasks: &TaskTracker) {
        let rest = self.0.and_then(|it| it.lock().take());
        if let Some(mut rest) = rest {
            tasks.spawn(timeout(PATIENCE, async move {
                let mut bytes = 0_usize;
                while let Some(Ok(frame)) = rest.frame().await {
                    bytes = bytes.saturating_add(frame.data_ref().map_or(0, Bytes::len));
                    if bytes > MOST {
                        return;
                    }
                }
            }));
        }
    }
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.waits = false;
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(cx),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body
            .as_ref()
            .map_or_else(SizeHint::default, HttpBody::size_hint)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if !self.waits && !self.is_end_stream() {
            let mut rest = self.unread.lock();
            *rest = self.body.take();
        }
    }
}

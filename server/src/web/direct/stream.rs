//! Answers that are made piece by piece while they are sent.

use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{HeaderValue, Method};
use axum::response::Response;
use entity_core::engine::{Dispatcher, Origin, Piece, Pieces, Streaming};
use entity_core::reply::Bytes;
use entity_core::{Error, Result};
use futures::{StreamExt as _, stream};
use tokio::sync::OwnedSemaphorePermit;

use super::bytes::{disposition, media_type};
use super::respond;
use crate::web::answers::Streamed;
use crate::web::app::App;
use crate::web::request_context::RequestContext;

/// The `Retry-After` of a client that finds others being sent, in seconds.
const RETRY_AFTER: u32 = 10;

/// An answer of which the first piece is made.
pub(super) enum Begun {
    /// Nothing follows.
    Whole(Bytes),
    /// The rest is made while it is sent.
    Part(Response),
}

/// Makes the first piece of an answer, so that errors of the request are answered as usual.
///
/// # Errors
/// Returns an error if the piece can't be made, if others are being sent, or if a long answer is part of a batch.
pub(super) async fn begin(
    app: &App,
    context: &RequestContext,
    streaming: &Streaming,
) -> Result<Begun> {
    if !context.accept.allows(&streaming.media_type) {
        return Err(Error::not_acceptable(&[&streaming.media_type]));
    }
    let pieces = streaming.take();
    let pieces = pieces.ok_or_else(|| Error::internal("an answer is streamed twice"))?;
    let source = Source {
        dispatcher: app.dispatcher.clone(),
        origin: context.origin.clone(),
        pieces,
        place: None,
    };
    let (first, mut source) = source.next().await?;
    let head = Bytes {
        media_type: streaming.media_type.clone(),
        bytes: Vec::new(),
        name: streaming.name.clone(),
    };
    if first.is_last {
        let bytes = first.bytes;
        return Ok(Begun::Whole(Bytes { bytes, ..head }));
    }
    if context.is_part {
        return Err(Error::bad_request(
            "so long an answer can't be part of a batch: ask for it alone",
        ));
    }
    let place = Arc::clone(&app.streams).try_acquire_owned();
    source.place = Some(place.map_err(|full| {
        let message = "too many long answers are being sent: try again";
        Error::unavailable(message, RETRY_AFTER).with_source(full)
    })?);
    let body = match context.parts.method == Method::HEAD {
        true => Body::empty(),
        false => source.into_body(first.bytes),
    };
    Ok(Begun::Part(response(&head, body)))
}

fn response(head: &Bytes, body: Body) -> Response {
    let mut response = Response::new(body);
    response.extensions_mut().insert(Streamed);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, media_type(head));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    let told = disposition("attachment", head.name.as_deref());
    respond::set(headers, CONTENT_DISPOSITION, Some(&told));
    response
}

/// The source of the rest of an answer, for as long as a client reads it.
struct Source {
    dispatcher: Dispatcher,
    origin: Origin,
    pieces: Box<dyn Pieces>,
    place: Option<OwnedSemaphorePermit>,
}

impl Source {
    async fn next(mut self) -> Result<(Piece, Self)> {
        let mut pieces = self.pieces;
        let work = self.dispatcher.read(&self.origin, |cx| {
            Box::pin(async move {
                let piece = pieces.next(cx).await?;
                Ok((piece, pieces))
            })
        });
        let (piece, pieces) = work.await?;
        self.pieces = pieces;
        Ok((piece, self))
    }

    /// Returns the answer that begins with `first`.
    fn into_body(self, first: Vec<u8>) -> Body {
        let rest = stream::unfold(Some(self), |source| async move {
            match source?.next().await {
                Ok((piece, source)) => {
                    let source = (!piece.is_last).then_some(source);
                    Some((Ok(axum::body::Bytes::from(piece.bytes)), source))
                }
                Err(error) => {
                    let cause = crate::base::telemetry::cause(&error);
                    tracing::warn!(error = cause, "can't send an answer to its end");
                    Some((Err(error), None))
                }
            }
        });
        let first = stream::once(async { Ok(axum::body::Bytes::from(first)) });
        Body::from_stream(first.chain(rest))
    }
}

//! A stored file as an answer: streamed, in whole or in part, and shown by a browser only where that is safe.

use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_RANGE, CONTENT_TYPE,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::Response;
use entity_core::blob::{ByteStream, Disposition, OCTETS, StoredFile};
use entity_core::reply::Effect;
use entity_core::{Error, Result};
use hyper::body::{Frame, SizeHint};

use super::bytes::{disposition, is_media_type};
use super::range::{Wanted, wanted};
use super::respond;
use super::validators::Validators;
use crate::web::answers::Streamed;
use crate::web::app::App;
use crate::web::middleware::headers::Shown;
use crate::web::request_context::RequestContext;

/// The media types that browsers may show: those that can't run code, and those that are shown without the right to.
const SHOWN: [&str; 22] = [
    "application/pdf",
    "audio/aac",
    "audio/flac",
    "audio/mp4",
    "audio/mpeg",
    "audio/ogg",
    "audio/wav",
    "audio/webm",
    "audio/x-wav",
    "image/avif",
    "image/bmp",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/vnd.microsoft.icon",
    "image/webp",
    "image/x-icon",
    "text/plain",
    "video/mp4",
    "video/ogg",
    "video/quicktime",
    "video/webm",
];

/// Answers `file`, or the news that the client already has it.
///
/// # Errors
/// Returns an error if the address names a format, the client demands another state, or the file can't be read.
pub(crate) async fn answer(
    app: &App,
    context: &RequestContext,
    file: &StoredFile,
) -> Result<Response> {
    if context.is_part {
        return Err(Error::bad_request(
            "a file can't be part of a batch: ask for it alone",
        ));
    }
    let headers = &context.parts.headers;
    let validators = Validators::of_file(file, app.now());
    if let Some(response) = validators.not_modified(&Effect::Read, headers)? {
        return Ok(response);
    }
    let size = file.blob.size();
    let mut response = Response::new(Body::empty());
    describe(&mut response, file);
    validators.tell(response.headers_mut());
    let (tag, date) = (validators.tag(), validators.date());
    let asked = match context.parts.method == Method::HEAD {
        // Only what is sent has parts.
        true => Wanted::Whole,
        false => wanted(headers, size, &tag.unwrap_or_default(), date.as_deref()),
    };
    let range = match asked {
        Wanted::Whole => 0..size,
        Wanted::Part(range) => {
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
            let told = format!(
                "bytes {}-{}/{size}",
                range.start,
                range.end.saturating_sub(1)
            );
            respond::set(response.headers_mut(), CONTENT_RANGE, Some(&told));
            range
        }
        Wanted::Beyond => return Ok(beyond(context, size)),
    };
    response.extensions_mut().insert(Streamed);
    *response.body_mut() = Body::new(open(app, context, file, range).await?);
    Ok(response)
}

/// Tells that the file has no such bytes.
fn beyond(context: &RequestContext, size: u64) -> Response {
    let error = Error::new(
        entity_core::ErrorKind::RangeNotSatisfiable,
        format!("the file has {size} bytes: ask for some of these"),
    );
    let mut response = context.fail(&error);
    let told = format!("bytes */{size}");
    respond::set(response.headers_mut(), CONTENT_RANGE, Some(&told));
    response
}

async fn open(
    app: &App,
    context: &RequestContext,
    file: &StoredFile,
    range: Range<u64>,
) -> Result<Pieces> {
    let left = range.end.saturating_sub(range.start);
    let is_sent = context.parts.method != Method::HEAD && left > 0;
    let pieces = match is_sent {
        true => Some(
            app.dispatcher
                .shared()
                .blobs()?
                .open(&file.blob, range)
                .await?,
        ),
        false => None,
    };
    Ok(Pieces { pieces, left })
}

/// Says what the file is and what browsers do with it.
fn describe(response: &mut Response, file: &StoredFile) {
    let media_type = match is_media_type(&file.media_type) {
        true => file.media_type.as_str(),
        false => OCTETS,
    };
    let is_shown = file.disposition == Disposition::Inline && SHOWN.contains(&media_type);
    if is_shown {
        response.extensions_mut().insert(Shown {
            is_document: media_type == "application/pdf",
        });
    }
    let kind = if is_shown { "inline" } else { "attachment" };
    let told = disposition(kind, file.name.as_deref());
    let media_type = match media_type {
        "text/plain" => "text/plain; charset=utf-8",
        other => other,
    };
    let headers: &mut HeaderMap = response.headers_mut();
    let mut set = |name: HeaderName, value: &str| respond::set(headers, name, Some(value));
    set(CONTENT_TYPE, media_type);
    set(CONTENT_DISPOSITION, &told);
    headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
}

/// The bytes of a file on their way to the client, of which `left` are still to come.
struct Pieces {
    pieces: Option<ByteStream>,
    left: u64,
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>>>> {
        let Some(pieces) = self.pieces.as_mut() else {
            return Poll::Ready(None);
        };
        let polled = pieces.as_mut().poll_next(cx);
        match polled {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Some(Ok(piece))) => {
                let length = u64::try_from(piece.len()).unwrap_or(u64::MAX);
                self.left = self.left.saturating_sub(length);
                Poll::Ready(Some(Ok(Frame::data(piece))))
            }
            // The client sees that the file is not whole: the connection ends early.
            Poll::Ready(Some(Err(error))) => {
                self.pieces = None;
                let cause = crate::base::telemetry::cause(&error);
                tracing::warn!(error = cause, "can't send a stored file to its end");
                Poll::Ready(Some(Err(error)))
            }
            Poll::Ready(None) => {
                self.pieces = None;
                Poll::Ready(None)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

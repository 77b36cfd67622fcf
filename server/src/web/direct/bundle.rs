//! Several stored files as an answer: a zip archive, which is written while it is sent.

use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{HeaderValue, Method};
use axum::response::Response;
use entity_core::blob::{Blobs, Bundle};
use entity_core::reply::Effect;
use entity_core::{Error, Result};

use super::bytes::disposition;
use super::respond;
use super::validators::Validators;
use crate::base::packing::{ZipStream, packed};
use crate::web::answers::Streamed;
use crate::web::app::App;
use crate::web::request_context::RequestContext;

/// The media type of zip archives.
pub(crate) const ZIP: HeaderValue = HeaderValue::from_static("application/zip");

/// Answers `bundle`, or the news that the client already has it.
///
/// # Errors
/// Returns an error if the request is part of a batch, or if the client demands another state.
pub(super) fn answer(app: &App, context: &RequestContext, bundle: &Bundle) -> Result<Response> {
    if context.is_part {
        return Err(Error::bad_request(
            "a zip archive can't be part of a batch: ask for it alone",
        ));
    }
    let validators = Validators::of_bundle(bundle);
    let headers = &context.parts.headers;
    if let Some(response) = validators.not_modified(&Effect::Read, headers)? {
        return Ok(response);
    }
    let body = if context.parts.method == Method::HEAD {
        Body::empty()
    } else {
        let blobs = app.dispatcher.shared().blobs()?;
        let bundle = bundle.clone();
        Body::from_stream(packed(&app.tasks, |packer| pack(packer, blobs, bundle)))
    };
    let mut response = streamed(body, bundle.name());
    validators.tell(response.headers_mut());
    Ok(response)
}

/// Answers the zip archive `body`, which clients save under `name`.
pub(crate) fn streamed(body: Body, name: &str) -> Response {
    let mut response = Response::new(body);
    response.extensions_mut().insert(Streamed);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, ZIP);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    let told = disposition("attachment", Some(name));
    respond::set(headers, CONTENT_DISPOSITION, Some(&told));
    response
}

async fn pack(mut packer: ZipStream, blobs: Arc<Blobs>, bundle: Bundle) -> Result<()> {
    for entry in bundle.entries() {
        match &entry.blob {
            Some(blob) => {
                let file = packer.file(entry.path(), &blobs, blob, entry.modified);
                file.await?;
            }
            None => packer.folder(entry.path())?,
        }
    }
    packer.finish().await
}

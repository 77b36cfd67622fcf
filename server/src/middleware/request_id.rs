//! Gives every request an id of ours, in its extensions and on its answer.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;

/// The header that tells the id.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The id of a request: 16 hexadecimal digits. It takes the place of what a client sends under that name.
#[derive(Clone, Debug)]
pub struct RequestId(pub Arc<str>);

/// The layer.
pub async fn assign(mut request: Request, next: Next) -> Response {
    let id = format!("{:016x}", rand::random::<u64>());
    let value = HeaderValue::from_str(&id);
    request.headers_mut().remove(REQUEST_ID);
    if let Ok(value) = &value {
        request.headers_mut().insert(REQUEST_ID, value.clone());
    }
    request.extensions_mut().insert(RequestId(id.into()));
    let mut response = next.run(request).await;
    if let Ok(value) = value {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    response
}

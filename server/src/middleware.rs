//! Layers around every request.

use std::fmt;
use std::sync::Arc;

use axum::response::Response;
use entity_core::Error;
use http::HeaderMap;

pub mod address;
pub mod audit;
pub mod csrf;
pub mod guard;
pub mod headers;
pub mod identify;
pub mod panic;
pub mod request_id;
pub mod session;

/// How a layer answers a request that it does not let through: the service writes all errors in one place.
#[derive(Clone)]
pub struct Refuse(Arc<Write>);

type Write = dyn Fn(&Error, &HeaderMap) -> Response + Send + Sync;

impl Refuse {
    /// Answers by `write`, which gets the error and the request's headers.
    pub fn new(write: impl Fn(&Error, &HeaderMap) -> Response + Send + Sync + 'static) -> Self {
        Self(Arc::new(write))
    }

    /// The answer that says `error` to a request with these headers.
    pub fn answer(&self, error: &Error, headers: &HeaderMap) -> Response {
        (self.0)(error, headers)
    }
}

impl fmt::Debug for Refuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Refuse")
    }
}

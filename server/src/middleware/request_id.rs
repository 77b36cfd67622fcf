//! Gives every request an id of ours, which its answer, its log lines and its audit row carry.

use std::sync::Arc;

use axum::http::{HeaderName, HeaderValue};

/// The header that tells the id.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The id of a request: 16 hexadecimal digits. What a client sends under that name is not looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(Arc<str>);

impl RequestId {
    /// A new one.
    pub fn new() -> Self {
        Self(format!("{:016x}", rand::random::<u64>()).into())
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its text, shared.
    pub fn to_shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }

    /// The value of [`REQUEST_ID`].
    pub fn to_header(&self) -> HeaderValue {
        HeaderValue::from_str(&self.0).unwrap_or_else(|_| HeaderValue::from_static(""))
    }
}

impl Default for RequestId {
    fn default() -> Self {
        Self::new()
    }
}

//! Gives every request an id, which its answer, its log lines and its audit row carry: that of a trusted proxy, so that
//! its log and ours tell of the same request, or one of ours.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, HeaderValue};

/// The header that tells the id.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The longest id of a proxy.
const LONGEST: usize = 64;

/// The id of a request: 16 hexadecimal digits, or the id that a trusted proxy sends. The header is ignored from anybody
/// else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(Arc<str>);

impl RequestId {
    /// A new one.
    pub fn new() -> Self {
        let mut digits = [0; 16];
        // Two digits for each byte: they fit.
        let _fit = hex::encode_to_slice(rand::random::<[u8; 8]>(), &mut digits);
        Self(str::from_utf8(&digits).unwrap_or_default().into())
    }

    /// The id that a trusted proxy sent with these headers; a new one if it is none that logs may have.
    pub fn of_proxy(headers: &HeaderMap) -> Self {
        let mut sent = headers.get_all(REQUEST_ID).iter();
        let (Some(id), None) = (sent.next(), sent.next()) else {
            return Self::new();
        };
        let is_legal = |it: u8| it.is_ascii_alphanumeric() || b"_.-".contains(&it);
        match id.to_str() {
            Ok(id) if (1..=LONGEST).contains(&id.len()) && id.bytes().all(is_legal) => {
                Self(id.into())
            }
            _ => Self::new(),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_proxy_calls_a_request_is_kept_if_logs_may_have_it() {
        let longest = "a".repeat(64);
        let too_long = "a".repeat(65);
        for (sent, is_kept) in [
            (&["Root=1-67891233.abc_DEF"][..], false),
            (&["1-67891233.abc_DEF"], true),
            (&[&*longest], true),
            (&[&*too_long], false),
            (&[""], false),
            (&["a b"], false),
            (&["a", "b"], false),
            (&[], false),
        ] {
            let mut headers = HeaderMap::new();
            for id in sent {
                headers.append(REQUEST_ID, HeaderValue::from_str(id).unwrap());
            }
            let id = RequestId::of_proxy(&headers);
            let is_same = sent.first().is_some_and(|it| *it == id.as_str());
            assert_eq!(is_same, is_kept, "{sent:?}");
            assert!(is_kept || id.as_str().len() == 16);
        }
    }
}

//! Compression. Content that is the same for everybody, the descriptions and the stylesheet, is compressed once and
//! kept; data is compressed as it is answered, if the configuration says so.

pub(crate) mod data;

use std::io::Write as _;
use std::sync::OnceLock;

use axum::body::Bytes;
use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, VARY};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;

/// The name of the coding in the headers of HTTP and behind the format in tags.
pub(crate) const GZIP: &str = "gzip";
/// Shorter texts are not compressed: they fit into one packet as they are.
const LEAST: usize = 2 << 10;

/// Returns the part of a tag that names the format of an answer in `format` that is compressed.
pub(crate) fn coded(format: &str) -> String {
    format!("{format}+{GZIP}")
}

/// Bytes that are kept, and their compressed form once somebody has asked for it.
#[derive(Debug)]
pub(crate) struct PrecompressedBody {
    plain: Bytes,
    gzip: OnceLock<Option<Bytes>>,
}

impl PrecompressedBody {
    /// Keeps `plain`.
    pub(crate) const fn new(plain: Bytes) -> Self {
        Self {
            plain,
            gzip: OnceLock::new(),
        }
    }

    /// Returns the bytes as they are.
    pub(crate) fn plain(&self) -> &Bytes {
        &self.plain
    }

    /// Returns the compressed bytes, if a client with these headers takes them and they are shorter.
    pub(crate) fn gzip(&self, headers: &HeaderMap) -> Option<&Bytes> {
        if self.plain.len() < LEAST || !takes_gzip(headers) {
            return None;
        }
        let gzip = self
            .gzip
            .get_or_init(|| compressed(&self.plain, Compression::best()));
        gzip.as_ref()
    }
}

/// Returns `plain` compressed, if that is shorter.
fn compressed(plain: &[u8], level: Compression) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), level);
    let written = encoder.write_all(plain).and_then(|()| encoder.finish());
    let shorter = written.ok().filter(|it| it.len() < plain.len());
    shorter.map(Bytes::from)
}

/// Adds to `response` that it is compressed, if it `is_compressed`, and that this depends on the request.
pub(crate) fn told(mut response: Response, is_compressed: bool) -> Response {
    let headers = response.headers_mut();
    headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
    if is_compressed {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(GZIP));
    }
    response
}

/// Returns whether a client with these headers takes `gzip`: RFC 9110, 12.5.3. A client that names no coding gets none.
pub(crate) fn takes_gzip(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(ACCEPT_ENCODING).into_iter();
    let text = lines.filter_map(|it| it.to_str().ok());
    let mut any = false;
    for item in text.flat_map(|it| it.split(',')) {
        let (name, parameters) = item.split_once(';').unwrap_or((item, ""));
        let weight = parameters.trim().strip_prefix("q=").map(str::trim);
        let is_wanted = weight.is_none_or(|it| it.parse::<f32>().is_ok_and(|it| it > 0.0));
        match name.trim() {
            name if name.eq_ignore_ascii_case(GZIP) || name.eq_ignore_ascii_case("x-gzip") => {
                return is_wanted;
            }
            "*" => any = is_wanted,
            _ => {}
        }
    }
    any
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_takes_what_it_names() {
        for (sent, expected) in [
            (None, false),
            (Some(""), false),
            (Some("gzip"), true),
            (Some("br, GZIP;q=0.5"), true),
            (Some("gzip;q=0"), false),
            (Some("gzip; q=0.000, *"), false),
            (Some("*"), true),
            (Some("*;q=0"), false),
            (Some("br;q=1, *;q=0.1"), true),
            (Some("identity"), false),
            (Some("gzip;q=much"), false),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(sent) = sent {
                headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(sent));
            }
            assert_eq!(takes_gzip(&headers), expected, "{sent:?}");
        }
    }
}

//! Compression of data as it is answered, if `compression.data` is on.
//!
//! The length of a compressed answer tells of its content: an attacker who can add text to somebody's answer, and sees
//! its length, could guess a secret in it byte by byte (BREACH). So pages, which carry tokens of forms, private feeds,
//! whose addresses are secrets, and answers that say that they are [`Secret`] stay as they are.

use axum::body::{Body, Bytes, HttpBody as _};
use axum::http::header::{
    ACCEPT_RANGES, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, SET_COOKIE,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::Response;
use entity_core::{Error, Result};
use flate2::Compression;
use http_body_util::BodyExt as _;

use super::{LEAST, coded, compressed, takes_gzip, told};
use crate::base::mount::Mount;
use crate::base::no_store;
use crate::base::no_store::Secret;
use crate::web::answers::Streamed;
use crate::web::app::App;

/// Compressing more bytes than this takes so long that other requests of the thread are not to wait for it.
const LONG: usize = 64 << 10;
/// More than this is in no answer that is not streamed.
const MOST: usize = 32 << 20;

/// A request whose answer may be compressed.
#[derive(Debug)]
pub(crate) struct Asked {
    /// True if the client takes compressed answers.
    takes: bool,
    /// The tags that the client named.
    known: Vec<HeaderValue>,
}

impl Asked {
    /// Returns the request with the head `parts` for an address of `mount`, if its answer may be compressed.
    pub(crate) fn of(app: &App, mount: Mount, parts: &Parts) -> Option<Self> {
        let is_data = mount.is_of_data();
        let is_read = matches!(parts.method, Method::GET | Method::HEAD);
        (app.config.compression_data && is_data && is_read).then(|| Self {
            takes: takes_gzip(&parts.headers),
            known: parts
                .headers
                .get_all(IF_NONE_MATCH)
                .iter()
                .cloned()
                .collect(),
        })
    }

    /// Returns `response` compressed, if it is data, long enough, and nobody's secret.
    ///
    /// # Errors
    /// The body of `response` can't be read.
    pub(crate) async fn compress(self, app: &App, mut response: Response) -> Result<Response> {
        if response.status() == StatusCode::NOT_MODIFIED {
            self.name_known(response.headers_mut());
            return Ok(response);
        }
        if !may_be_compressed(&response) {
            return Ok(response);
        }
        if !self.takes {
            return Ok(told(response, false));
        }
        let (mut head, body) = response.into_parts();
        let plain = body.collect().await.map_err(Error::internal)?.to_bytes();
        let work = || compressed(&plain, Compression::fast());
        let shorter: Option<Bytes> = app.answers.aside_if(plain.len() > LONG, work);
        let is_compressed = shorter.is_some();
        if is_compressed {
            let tag = head.headers.get(ETAG).and_then(coded_tag);
            tag.map(|it| head.headers.insert(ETAG, it));
        }
        let body = Body::from(shorter.unwrap_or(plain));
        Ok(told(Response::from_parts(head, body), is_compressed))
    }

    /// Names the compressed answer in the `ETag` of a 304, if the client has that one.
    fn name_known(&self, headers: &mut HeaderMap) {
        let Some(coded) = headers.get(ETAG).and_then(coded_tag) else {
            return;
        };
        let is_known = |it: &HeaderValue| {
            let (list, tag) = (it.as_bytes(), coded.as_bytes());
            list.windows(tag.len()).any(|it| it == tag)
        };
        if self.takes && self.known.iter().any(is_known) {
            headers.insert(ETAG, coded);
        }
    }
}

/// Returns the tag of the compressed form of the answer with the tag `plain`.
fn coded_tag(plain: &HeaderValue) -> Option<HeaderValue> {
    let inner = plain.to_str().ok()?.strip_suffix('"')?;
    HeaderValue::from_str(&format!("{}\"", coded(inner))).ok()
}

fn may_be_compressed(response: &Response) -> bool {
    let (headers, extensions) = (response.headers(), response.extensions());
    let size = response.body().size_hint().exact();
    let size = size.and_then(|it| usize::try_from(it).ok());
    let has = |name| headers.contains_key(name);
    response.status() == StatusCode::OK
        && size.is_some_and(|it| (LEAST..=MOST).contains(&it))
        && headers.get(CONTENT_TYPE).is_some_and(is_data)
        && !no_store::is_demanded(headers)
        && ![SET_COOKIE, CONTENT_ENCODING, ACCEPT_RANGES]
            .into_iter()
            .any(has)
        && extensions.get::<Secret>().is_none()
        && extensions.get::<Streamed>().is_none()
}

/// Returns whether answers of this media type are data.
fn is_data(media_type: &HeaderValue) -> bool {
    let Ok(text) = media_type.to_str() else {
        return false;
    };
    let essence = text.split(';').next().unwrap_or_default().trim();
    matches!(essence, "text/xml" | "text/csv" | "text/calendar")
        || essence
            .strip_prefix("application/")
            .is_some_and(|it| it == "json" || it == "xml" || it.ends_with("+xml"))
}

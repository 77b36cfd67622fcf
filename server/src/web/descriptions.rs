//! Descriptions of the service, kept as they were written: `/direct/describe`, that of each type, `/api/openapi.json` and
//! `/api/docs`. Each is written once for a format, and kept as it was written.
//!
//! Pages name the user who is logged in, and carry a token. They are written with placeholders, which each answer fills
//! with the reader's own.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use entity_core::format::{Format, View};
use entity_core::reply::Effect;
use entity_core::{Result, Version};
use parking_lot::Mutex;

use crate::web::coding::{self, GZIP, PrecompressedBody};
use crate::web::direct::validators::{Validators, digest};

/// A placeholder for the name of the user who is logged in. No name or text of ours has these characters, and none is a
/// letter, of which a page would make the initials of the user.
const USER: &str = "\u{e000}\u{e001}";
/// Stands for the token.
const TOKEN: &str = "\u{e002}\u{e003}";

/// The descriptions that were written so far. There are no more than addresses of descriptions times formats.
#[derive(Debug, Default)]
pub(crate) struct Descriptions(Mutex<HashMap<Key, Arc<Description>>>);

/// The key of a description. No part of it is as a client sent it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    path: String,
    format: &'static str,
    has_user: bool,
    has_token: bool,
}

/// A description in a format.
#[derive(Debug)]
struct Description {
    text: Text,
    version: Version,
}

#[derive(Debug)]
enum Text {
    /// The same for everybody.
    Whole(PrecompressedBody),
    /// With marks.
    Pieces(Vec<Piece>),
}

#[derive(Debug)]
enum Piece {
    Text(Bytes),
    User,
    Token,
}

impl Descriptions {
    /// Answers the description at `path` in `format`, as `write` makes it, for the reader of `view`; or the news that
    /// the client has it.
    ///
    /// # Errors
    /// Fails as `write` does, and when a precondition of the client does not hold.
    pub(crate) fn answer(
        &self,
        (path, format): (&str, Format),
        headers: &HeaderMap,
        view: &View<'_>,
        write: impl FnOnce(&View<'_>) -> Result<Vec<u8>>,
    ) -> Result<Response> {
        // Data say nothing of who reads it.
        let is_page = format.name == "html";
        let user = view.user.filter(|_| is_page);
        let token = view.csrf_token.filter(|_| is_page);
        let key = Key {
            path: path.to_owned(),
            format: format.name,
            has_user: user.is_some(),
            has_token: token.is_some(),
        };
        let description = self.find(key, |key| {
            write(&View {
                path: &key.path,
                query: "",
                user: user.map(|_| USER),
                csrf_token: token.map(|_| TOKEN),
                ..view.clone()
            })
        })?;
        let version = match (user, token) {
            (None, None) => description.version,
            reader => Version::of(&(description.version, reader)),
        };
        let gzip = description.gzip(headers);
        let coding = gzip.is_some().then_some(GZIP);
        let validators = Validators::of_version(version, format).coded(coding);
        if let Some(response) = validators.not_modified(&Effect::Read, headers)? {
            return Ok(coding::told(response, coding.is_some()));
        }
        let body = gzip.map_or_else(|| description.body(user, token), Body::from);
        let mut response = Response::new(body);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(format.media_type));
        validators.tell(headers);
        Ok(coding::told(response, coding.is_some()))
    }

    /// Returns the description, and waits while another request writes it.
    fn find(
        &self,
        key: Key,
        write: impl FnOnce(&Key) -> Result<Vec<u8>>,
    ) -> Result<Arc<Description>> {
        let mut made = self.0.lock();
        if let Some(found) = made.get(&key) {
            return Ok(Arc::clone(found));
        }
        let description = Arc::new(Description::of(write(&key)?));
        made.insert(key, Arc::clone(&description));
        Ok(description)
    }
}

impl Description {
    fn of(written: Vec<u8>) -> Self {
        let version = digest(&written);
        let written = Bytes::from(written);
        let text = std::str::from_utf8(&written).unwrap_or_default();
        let pieces: Vec<_> = pieces(text).map(|it| it.within(&written)).collect();
        let has_marks = pieces.iter().any(|it| !matches!(it, Piece::Text(_)));
        let text = match has_marks {
            true => Text::Pieces(pieces),
            false => Text::Whole(PrecompressedBody::new(written)),
        };
        Self { text, version }
    }

    /// Returns the compressed description, if it is the same for everybody and a client with these headers takes it so.
    fn gzip(&self, headers: &HeaderMap) -> Option<Bytes> {
        match &self.text {
            Text::Whole(whole) => whole.gzip(headers).cloned(),
            Text::Pieces(_) => None,
        }
    }

    fn body(&self, user: Option<&str>, token: Option<&str>) -> Body {
        let pieces = match &self.text {
            Text::Whole(whole) => return Body::from(whole.plain().clone()),
            Text::Pieces(pieces) => pieces,
        };
        let own = |text: Option<&str>| entity_formats::html::escaped(text.unwrap_or_default());
        let (user, token) = (own(user), own(token));
        let pieces = pieces.iter().map(|it| match it {
            Piece::Text(text) => text.as_ref(),
            Piece::User => user.as_bytes(),
            Piece::Token => token.as_bytes(),
        });
        Body::from(pieces.collect::<Vec<_>>().concat())
    }
}

/// A part of a text: one of its own, or a mark.
enum Part<'a> {
    Text(&'a str),
    Mark(Piece),
}

impl Part<'_> {
    /// The same as a part of `whole`, which it was found in.
    fn within(self, whole: &Bytes) -> Piece {
        match self {
            Part::Text(text) => Piece::Text(whole.slice_ref(text.as_bytes())),
            Part::Mark(mark) => mark,
        }
    }
}

/// The parts of `text`, of which there is at least one.
fn pieces(text: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        if let Some(behind) = text.strip_prefix(USER) {
            rest = Some(behind);
            return Some(Part::Mark(Piece::User));
        }
        if let Some(behind) = text.strip_prefix(TOKEN) {
            rest = Some(behind);
            return Some(Part::Mark(Piece::Token));
        }
        let next = [USER, TOKEN].into_iter().filter_map(|it| text.find(it));
        let (before, behind) = match next.min() {
            Some(index) => text.split_at(index),
            None => (text, ""),
        };
        rest = Some(behind).filter(|it| !it.is_empty());
        Some(Part::Text(before))
    })
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    fn key(path: &str) -> Key {
        Key {
            path: path.to_owned(),
            format: "html",
            has_user: true,
            has_token: true,
        }
    }

    #[test]
    fn each_is_written_once() {
        let descriptions = Descriptions::default();
        let mut count = 0;
        for path in ["a", "b", "a", "a", "b"] {
            let write = |key: &Key| {
                count += 1;
                Ok(key.path.clone().into_bytes())
            };
            descriptions.find(key(path), write).unwrap();
        }
        assert_eq!(count, 2);
    }

    #[tokio::test]
    async fn a_page_is_each_readers_own() {
        for (written, expected) in [
            (format!("<{USER}|{TOKEN}>{USER}"), "<a&#38;b|t>a&#38;b"),
            (format!("{USER}{TOKEN}"), "a&#38;bt"),
            ("neither".to_owned(), "neither"),
            (String::new(), ""),
        ] {
            let body = Description::of(written.into_bytes()).body(Some("a&b"), Some("t"));
            assert_eq!(body.collect().await.unwrap().to_bytes(), expected);
        }
    }
}

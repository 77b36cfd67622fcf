//! The result of one part of a batch.

use axum::http::header::{LOCATION, SET_COOKIE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use entity_core::{Error, Result, wire};
use entity_formats::batch::PartElement;
use http_body_util::BodyExt as _;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::base::error::Message;
use crate::base::no_store;
use crate::guard::auth::http::CLEAR_SITE_DATA;
use crate::guard::session::SESSION_HEADER;

/// The header that says how a body is written down that is no text.
const TRANSFER_ENCODING: HeaderName = HeaderName::from_static("content-transfer-encoding");

/// The headers that name what an answer is about.
const NAMES: [&str; 2] = ["entityid", "entityreference"];

/// The answer to one part.
pub(super) struct Outcome {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: String,
    /// The headers of a part that began or ended a session, which are for the client and not part of the results.
    pub(super) session: Option<HeaderMap>,
    /// The message of the error, if it is one.
    message: Option<Message>,
}

impl Outcome {
    /// Reads the answer. Bytes that are no text are told in base64, as a header says.
    pub(super) async fn of(response: Response) -> Result<Self> {
        let (mut parts, body) = response.into_parts();
        let bytes = body.collect().await.map_err(Error::internal)?.to_bytes();
        let mut body = String::from_utf8(bytes.into()).unwrap_or_else(|error| {
            let base64 = HeaderValue::from_static("base64");
            parts.headers.insert(TRANSFER_ENCODING, base64);
            STANDARD.encode(error.as_bytes())
        });
        // It is kept until all parts are done, without the room that it was written in.
        body.shrink_to_fit();
        let session = take_session(&mut parts.headers);
        Ok(Self {
            status: parts.status,
            session,
            message: parts.extensions.remove(),
            headers: parts.headers,
            body,
        })
    }

    /// Returns the part of the answer that may be stored: of one that must not be stored, no more than the status.
    pub(super) fn to_kept(&self) -> Self {
        match self.is_secret() {
            true => Self {
                status: self.status,
                headers: HeaderMap::new(),
                body: String::new(),
                session: None,
                message: None,
            },
            false => Self {
                status: self.status,
                headers: self.headers.clone(),
                body: self.body.clone(),
                session: None,
                message: self.message.clone(),
            },
        }
    }

    /// Returns the status and the names of the entity, for a replay to a caller who may no longer read the body.
    pub(super) fn to_brief(&self) -> Self {
        let Self {
            status, headers, ..
        } = self.to_kept();
        let is_name = |name: &HeaderName| *name == LOCATION || NAMES.contains(&name.as_str());
        let named = headers.iter().filter(|(name, _)| is_name(name));
        Self {
            status,
            headers: named
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            body: String::new(),
            session: None,
            message: None,
        }
    }

    /// Returns whether the answer must not be stored. A refusal holds no secret.
    pub(super) fn is_secret(&self) -> bool {
        super::is_good(self.status) && no_store::is_demanded(&self.headers)
    }

    /// Returns whether the same request may well be answered otherwise soon.
    pub(super) fn is_passing(&self) -> bool {
        self.status.is_server_error() || self.status == StatusCode::TOO_MANY_REQUESTS
    }

    /// The headers by name, in the order of their names.
    pub(super) fn header_lists(&self) -> Vec<(&str, Vec<&str>)> {
        let mut names: Vec<&str> = self.headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        names
            .into_iter()
            .map(|name| {
                let values = self.headers.get_all(name).iter();
                (name, values.filter_map(|it| it.to_str().ok()).collect())
            })
            .collect()
    }

    /// Returns the number of bytes its body takes where all are told: one that is in another format is told as text.
    pub(super) fn size(&self, is_xml: bool) -> Result<usize> {
        match (is_xml, self.content()) {
            (true, _) => Ok(entity_formats::batch::size(&self.body)),
            (false, Some(text)) => wire::size_in_json(text),
            (false, None) => Ok(self.body.len()),
        }
    }

    /// The body as JSON, if it is an object or a list.
    pub(super) fn data(&self) -> Option<&RawValue> {
        let text = self.body.trim();
        let is_nested = text.starts_with('{') || text.starts_with('[');
        serde_json::from_str(text).ok().filter(|_| is_nested)
    }

    /// The body as text, if there is one and it is nothing else.
    pub(super) fn content(&self) -> Option<&str> {
        match self.data() {
            Some(_) => None,
            None => Some(self.body.as_str()).filter(|it| !it.is_empty()),
        }
    }

    /// The same as an element of XML.
    pub(super) fn to_element<'a>(
        &'a self,
        name: String,
        given: Option<(&'static str, &'a str)>,
        url: Option<&'a str>,
    ) -> PartElement<'a> {
        PartElement {
            name,
            given,
            url,
            status: self.status.as_u16(),
            headers: self.header_lists(),
            error: self.error(),
            body: &self.body,
        }
    }

    /// Returns the message of the error, the same in whatever format the body has it.
    pub(super) fn error(&self) -> Option<String> {
        if super::is_good(self.status) {
            return None;
        }
        let reason = || {
            self.status
                .canonical_reason()
                .unwrap_or("failed")
                .to_owned()
        };
        Some(self.message.as_ref().map_or_else(reason, |it| it.0.clone()))
    }
}

/// Takes the headers about the session of the client out of those of a part, if it began or ended one.
fn take_session(headers: &mut HeaderMap) -> Option<HeaderMap> {
    if !headers.contains_key(SET_COOKIE) {
        return None;
    }
    let names = [SET_COOKIE, SESSION_HEADER, CLEAR_SITE_DATA];
    let taken = names
        .into_iter()
        .filter_map(|it| Some((headers.remove(&it)?, it)));
    Some(taken.map(|(value, name)| (name, value)).collect())
}

/// The result of one part, as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Told<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<&'a str>,
    #[serde(rename = "entityURL", skip_serializing_if = "Option::is_none")]
    entity_url: Option<&'a str>,
    status: u16,
    #[serde(serialize_with = "serialize_lists")]
    headers: Vec<(&'a str, Vec<&'a str>)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    data: Option<&'a RawValue>,
    content: Option<&'a str>,
}

impl<'a> Told<'a> {
    /// Makes the result of the part that was sent to `entity_url`, or nowhere.
    pub(super) fn of(outcome: &'a Outcome, entity_url: Option<&'a str>) -> Self {
        Self {
            id: None,
            reference: None,
            entity_url,
            status: outcome.status.as_u16(),
            headers: outcome.header_lists(),
            error: outcome.error(),
            data: outcome.data(),
            content: outcome.content(),
        }
    }

    /// Adds the id that the request gave the operation.
    pub(super) fn with_id(self, id: Option<&'a str>) -> Self {
        Self { id, ..self }
    }

    /// Adds the reference that was given.
    pub(super) fn with_reference(self, reference: &'a str) -> Self {
        Self {
            reference: Some(reference),
            ..self
        }
    }
}

fn serialize_lists<S: serde::Serializer>(
    lists: &[(&str, Vec<&str>)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(lists.iter().map(|(name, values)| (name, values)))
}

//! One HTTP request on its way through: its head, its body, and who sent it.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, Request, Uri};
use axum::response::Response;
use entity_core::engine::{Origin, Reading};
use entity_core::{Caller, Error, ErrorKind, Result};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::base::address::Arrived;
use crate::base::config::{BodySessionId, Config};
use crate::base::deadline::Deadline;
use crate::base::error::{self, ErrorContext};
use crate::base::media;
use crate::guard::admission::Admitted;
use crate::guard::auth::http::Arrival;
use crate::guard::path_text;
use crate::guard::session::Session;
use crate::web::direct::upload::Uploaded;

/// The most bytes of a form that is too long and kept.
const LONGEST_FORM: usize = 1 << 20;

/// A request on its way inwards.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// Method, address and headers.
    pub(crate) parts: Parts,
    /// The body, once it was [read](Self::read_body).
    pub(crate) body: Bytes,
    /// The body that nobody read yet. The lock is for the compiler alone: a body can't be shared.
    unread: Mutex<Option<Body>>,
    /// Who sent it.
    pub(crate) origin: Origin,
    /// Where it comes from.
    pub(crate) arrived: Arrived,
    /// Where its answer leads to.
    pub(crate) base_url: Arc<str>,
    /// The session it was sent in.
    pub(crate) session: Option<Arc<Session>>,
    /// What an error answer needs to know.
    pub(crate) context: ErrorContext,
    /// True if it is part of a batch.
    pub(crate) is_part: bool,
    /// Its right to run. Parts of a batch have none of their own.
    pub(crate) admitted: Option<Admitted>,
    /// What came of its body, if that brought files.
    pub(crate) uploaded: Option<Uploaded>,
    /// The token of its session that its body must still show.
    pub(crate) owed_token: Option<String>,
    /// Its deadline. Parts of a batch have none of their own.
    pub(crate) deadline: Option<Deadline>,
    /// Most bytes of a list in its answer, where those are fewer than usual.
    pub(crate) answer_bytes: Option<usize>,
    /// Cancelled when nobody waits for its answer any more, for requests that go on nevertheless.
    pub(crate) abandoned: CancellationToken,
}

/// The name of `method`; those of nearly all requests are copied nowhere.
fn name_of(method: &Method) -> Cow<'static, str> {
    match *method {
        Method::GET => Cow::Borrowed("GET"),
        Method::HEAD => Cow::Borrowed("HEAD"),
        Method::POST => Cow::Borrowed("POST"),
        _ => Cow::Owned(method.as_str().to_owned()),
    }
}

impl Exchange {
    /// The request that consists of this head and this body, sent in `session`.
    pub(crate) fn new(
        (parts, body): (Parts, Body),
        session: Option<Arc<Session>>,
        (arrived, base_url): (Arrived, Arc<str>),
        context: ErrorContext,
        admitted: Admitted,
    ) -> Self {
        let caller = session
            .as_ref()
            .map_or_else(Caller::anonymous, |it| it.caller());
        let origin = Origin {
            caller,
            address: arrived.address,
            request_id: context.request_id.to_shared(),
            method: name_of(&parts.method),
            path: path_text::stored(parts.uri.path()),
            reading: Reading::new(admitted.seated().seat()),
        };
        Self {
            parts,
            body: Bytes::new(),
            unread: Mutex::new(Some(body)),
            origin,
            arrived,
            base_url,
            session,
            context,
            is_part: false,
            admitted: Some(admitted),
            uploaded: None,
            owed_token: None,
            deadline: None,
            answer_bytes: None,
            abandoned: CancellationToken::new(),
        }
    }

    /// A request that is part of this one, on behalf of the same caller. Its body is at hand.
    pub(crate) fn part(&self, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Self {
        let (mut parts, ()) = Request::new(()).into_parts();
        let origin = Origin {
            method: name_of(&method),
            path: path_text::stored(uri.path()),
            ..self.origin.clone()
        };
        parts.method = method;
        parts.uri = uri;
        parts.headers = headers;
        Self {
            parts,
            body,
            unread: Mutex::new(None),
            origin,
            arrived: self.arrived,
            base_url: Arc::clone(&self.base_url),
            session: self.session.clone(),
            context: self.context.clone(),
            is_part: true,
            admitted: None,
            uploaded: None,
            owed_token: None,
            deadline: None,
            answer_bytes: None,
            abandoned: self.abandoned.clone(),
        }
    }

    /// Returns whether it brings files.
    pub(crate) fn brings_files(&self) -> bool {
        self.deadline.as_ref().is_some_and(Deadline::is_of_upload)
    }

    /// Takes the body that nobody read yet.
    pub(crate) fn take_body(&mut self) -> Option<Body> {
        let unread = self.unread.get_mut();
        unread.unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Reads the body, up to `limit` bytes, for no longer than `patience`; what was read before stays. A form that is
    /// larger is refused, and kept up to a limit, so that it can be given back to whoever is logged in. Then the
    /// request waits for its place, so that nobody who sends slowly holds one. The time for reading does not count
    /// towards the deadline, and none is added for what follows.
    ///
    /// # Errors
    /// It is larger, the client stopped sending, or there is no place.
    pub(crate) async fn read_body(&mut self, limit: usize, patience: Duration) -> Result<()> {
        let most = match self.has_form() && !self.origin.caller.is_anonymous() {
            true => limit.max(LONGEST_FORM),
            false => limit,
        };
        let too_large = || {
            Error::new(
                ErrorKind::TooLarge,
                format!("the body must not be longer than {limit} bytes"),
            )
        };
        let Some(body) = self.take_body() else {
            return match self.body.len() > limit {
                true => Err(too_large()),
                false => Ok(()),
            };
        };
        let body = Limited::new(body, most).collect();
        let left = self.deadline.as_ref().map(Deadline::suspend);
        let read = timeout(patience, body).await;
        if let Some((deadline, left)) = self.deadline.as_ref().zip(left) {
            deadline.resume(left);
        }
        let read = read.map_err(|elapsed| incomplete().with_source(elapsed))?;
        self.body = read
            .map_err(|error| match error.is::<LengthLimitError>() {
                true => too_large(),
                false => incomplete().with_source(error),
            })?
            .to_bytes();
        if let Some(admitted) = &mut self.admitted {
            admitted.begin().await?;
        }
        match self.body.len() > limit {
            true => Err(too_large()),
            false => Ok(()),
        }
    }

    /// Returns whether the body is a form.
    pub(crate) fn has_form(&self) -> bool {
        media::is_form(&self.parts.headers)
    }

    /// The query's pairs, decoded.
    ///
    /// # Errors
    /// The query is malformed.
    pub(crate) fn query(&self) -> Result<Vec<(String, String)>> {
        match self.parts.uri.query() {
            None | Some("") => Ok(Vec::new()),
            Some(query) => entity_formats::parse_pairs(query.as_bytes()),
        }
    }

    /// What a login or logout has to know of the request.
    pub(crate) fn arrival(&self, config: &Config) -> Arrival<'_> {
        Arrival {
            headers: &self.parts.headers,
            query: self.parts.uri.query(),
            origin: &self.origin,
            session: self.session.as_deref(),
            is_secure: self.arrived.is_secure,
            tells_session_id: config.login_body_session_id == BodySessionId::Full,
        }
    }

    /// Answers `error` in JSON.
    pub(crate) fn fail(&self, error: &Error) -> Response {
        error::respond(error, &self.context)
    }
}

fn incomplete() -> Error {
    Error::bad_request("the body did not come to its end: send it again")
}

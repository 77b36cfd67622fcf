//! One HTTP request on its way through, without its body: its head, read once, and who sent it.

use std::borrow::Cow;
use std::sync::Arc;

use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, Request, Uri};
use axum::response::Response;
use entity_core::engine::{Origin, ReadBudget};
use entity_core::{Caller, Error, Result, Verb};
use tokio_util::sync::CancellationToken;

use crate::base::accept::Accept;
use crate::base::address::ClientAddress;
use crate::base::config::{BodySessionId, Config};
use crate::base::deadline::Deadline;
use crate::base::error::{self, ErrorContext};
use crate::base::media;
use crate::guard::admission::AdmittedRequest;
use crate::guard::auth::http::Arrival;
use crate::guard::path_text;
use crate::guard::session::Session;
use crate::web::prefer::Preferences;

/// A request without its body, as it was understood at the door. Everything below takes a reference to it.
#[derive(Clone, Debug)]
pub(crate) struct RequestContext {
    /// Method, address and headers.
    pub(crate) parts: Parts,
    /// The verb of its method, if entities know it.
    pub(crate) verb: Option<Verb>,
    /// The media types in which it wants to be answered.
    pub(crate) accept: Accept,
    /// The wishes of its header `Prefer`.
    pub(crate) preferences: Preferences,
    /// The caller, and from where.
    pub(crate) origin: Origin,
    /// Where it comes from.
    pub(crate) arrived: ClientAddress,
    /// Where its answer leads to.
    pub(crate) base_url: Arc<str>,
    /// The session it was sent in.
    pub(crate) session: Option<Arc<Session>>,
    /// The facts that an error answer tells.
    pub(crate) errors: ErrorContext,
    /// True if it is part of a batch.
    pub(crate) is_part: bool,
    /// Its deadline. Parts of a batch have none of their own.
    pub(crate) deadline: Option<Deadline>,
    /// Most bytes of a list in its answer, where those are fewer than usual.
    pub(crate) answer_bytes: Option<usize>,
    /// Cancelled when nobody waits for its answer any more, for requests that go on nevertheless.
    pub(crate) abandoned: CancellationToken,
}

/// The parameter of a query by which a client finds out that it is logged out, whatever its value.
pub(crate) const VALIDATE_SESSION: &str = "_validateSession";

/// The verb of `method`; HEAD reads.
pub(crate) fn verb(method: &Method) -> Option<Verb> {
    match *method {
        Method::GET | Method::HEAD => Some(Verb::Get),
        Method::POST => Some(Verb::Post),
        Method::PUT => Some(Verb::Put),
        Method::PATCH => Some(Verb::Patch),
        Method::DELETE => Some(Verb::Delete),
        _ => None,
    }
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

/// A request that came in, before it is known who sent it.
#[derive(Debug)]
pub(crate) struct Incoming {
    /// Method, address and headers.
    pub(crate) parts: Parts,
    /// The media types in which it wants to be answered.
    pub(crate) accept: Accept,
    /// Where it comes from.
    pub(crate) arrived: ClientAddress,
    /// Where its answer leads to.
    pub(crate) base_url: Arc<str>,
    /// The facts that an error answer tells.
    pub(crate) errors: ErrorContext,
}

impl RequestContext {
    /// A request that `session` sent, if it belongs to one, which `admitted` lets in.
    pub(crate) fn new(
        incoming: Incoming,
        session: Option<Arc<Session>>,
        deadline: Deadline,
        admitted: &AdmittedRequest,
    ) -> Self {
        let Incoming {
            parts,
            accept,
            arrived,
            base_url,
            errors,
        } = incoming;
        let caller = session
            .as_ref()
            .map_or_else(Caller::anonymous, |it| it.caller());
        let origin = Origin {
            caller,
            address: arrived.address,
            request_id: errors.request_id.to_shared(),
            method: name_of(&parts.method),
            path: path_text::stored(parts.uri.path()),
            read_budget: ReadBudget::new(admitted.permit().of_answer()),
        };
        Self {
            verb: verb(&parts.method),
            accept,
            preferences: Preferences::of(&parts.headers),
            parts,
            origin,
            arrived,
            base_url,
            session,
            errors,
            is_part: false,
            deadline: Some(deadline),
            answer_bytes: None,
            abandoned: CancellationToken::new(),
        }
    }

    /// A request that is part of this one, on behalf of the same caller.
    pub(crate) fn part(&self, method: Method, uri: Uri, headers: HeaderMap) -> Self {
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
            verb: verb(&parts.method),
            accept: Accept::of(&parts.headers),
            preferences: Preferences::of(&parts.headers),
            parts,
            origin,
            arrived: self.arrived,
            base_url: Arc::clone(&self.base_url),
            session: self.session.clone(),
            errors: self.errors.clone(),
            is_part: true,
            deadline: None,
            answer_bytes: None,
            abandoned: self.abandoned.clone(),
        }
    }

    /// Returns whether it brings files.
    pub(crate) fn brings_files(&self) -> bool {
        self.deadline.as_ref().is_some_and(Deadline::is_of_upload)
    }

    /// Returns whether the client wants to be refused if it is logged out, even where strangers are answered.
    pub(crate) fn demands_session(&self) -> bool {
        let pairs = self.parts.uri.query().unwrap_or_default().split('&');
        let mut names = pairs.filter_map(|it| it.split('=').next());
        names.any(|it| it == VALIDATE_SESSION)
    }

    /// Returns whether the body is a form.
    pub(crate) fn has_form(&self) -> bool {
        media::is_form(&self.parts.headers)
    }

    /// The query's pairs, decoded.
    pub(crate) fn query(&self) -> Result<Vec<(String, String)>> {
        match self.parts.uri.query() {
            None | Some("") => Ok(Vec::new()),
            Some(query) => entity_formats::parse_pairs(query.as_bytes()),
        }
    }

    /// The facts of the request that a login or logout needs.
    pub(crate) fn arrival(&self, config: &Config) -> Arrival<'_> {
        Arrival {
            headers: &self.parts.headers,
            query: self.parts.uri.query(),
            origin: &self.origin,
            session: self.session.as_deref(),
            is_secure: self.arrived.is_secure,
            tells_session_id: config.login.body_session_id == BodySessionId::Full,
        }
    }

    /// Answers `error` in JSON.
    pub(crate) fn fail(&self, error: &Error) -> Response {
        error::respond(error, &self.errors)
    }
}

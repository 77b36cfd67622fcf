//! One HTTP request on its way through: its head, its body, and who sent it.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::response::Response;
use entity_core::{Caller, Error, ErrorKind, Origin, Result};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use tokio::time::timeout;

use crate::app::App;
use crate::auth::http::Arrival;
use crate::config::{BodySessionId, Config};
use crate::direct::negotiate::{self, PROBLEM_JSON};
use crate::error::{self, ErrorContext};
use crate::middleware::address::{ClientAddress, IsSecure};
use crate::middleware::request_id::RequestId;
use crate::middleware::session::CurrentSession;
use crate::session::{Session, SessionId};

/// A request, with its body read.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// Method, address and headers.
    pub(crate) parts: Parts,
    /// The body.
    pub(crate) body: Bytes,
    /// Who sent it.
    pub(crate) origin: Origin,
    /// The session it was sent in.
    pub(crate) session: Option<Arc<Session>>,
}

/// Who sent `request`, as the layers before found out.
///
/// # Errors
/// They did not: a defect.
pub(crate) fn origin(request: &Request) -> Result<Origin> {
    let lacks = |what: &'static str| Error::internal(format!("the request has no {what}"));
    let extensions = request.extensions();
    let RequestId(request_id) = extensions.get().ok_or_else(|| lacks("id"))?;
    let ClientAddress(address) = *extensions.get().ok_or_else(|| lacks("address"))?;
    Ok(Origin {
        caller: extensions.get::<Caller>().cloned().unwrap_or_default(),
        address,
        request_id: request_id.to_string(),
        method: request.method().to_string(),
        path: without_credentials(request.uri().path()),
    })
}

/// The path as logs may have it. Clients log out by naming their session's id, which is a credential.
fn without_credentials(path: &str) -> String {
    let is_credential = |segment: &str| {
        let stem = segment.split('.').next().unwrap_or_default();
        SessionId::parse(stem).is_some()
    };
    let segments: Vec<&str> = path
        .split('/')
        .map(|it| if is_credential(it) { "[id]" } else { it })
        .collect();
    segments.join("/")
}

impl Exchange {
    /// The request's head; the body is still to be [read](Self::read_body).
    ///
    /// # Errors
    /// The layers before this one did not say who sent it: a defect.
    pub(crate) fn new(request: Request) -> Result<(Self, Body)> {
        let origin = origin(&request)?;
        let session = CurrentSession::of(request.extensions()).cloned();
        let (parts, body) = request.into_parts();
        Ok((
            Self {
                parts,
                body: Bytes::new(),
                origin,
                session,
            },
            body,
        ))
    }

    /// Reads the body, up to `limit` bytes, for no longer than `patience`.
    ///
    /// # Errors
    /// It is larger, or the client stopped sending.
    pub(crate) async fn read_body(
        &mut self,
        body: Body,
        limit: usize,
        patience: Duration,
    ) -> Result<()> {
        let body = Limited::new(body, limit).collect();
        let read = timeout(patience, body)
            .await
            .map_err(|elapsed| incomplete().with_source(elapsed))?;
        self.body = read
            .map_err(|error| match error.is::<LengthLimitError>() {
                true => Error::new(
                    ErrorKind::TooLarge,
                    format!("the body must not be longer than {limit} bytes"),
                ),
                false => incomplete().with_source(error),
            })?
            .to_bytes();
        Ok(())
    }

    /// Whether the body is a form.
    pub(crate) fn has_form(&self) -> bool {
        self.parts
            .headers
            .get(CONTENT_TYPE)
            .and_then(|it| it.to_str().ok())
            .is_some_and(|it| {
                it.to_ascii_lowercase()
                    .starts_with("application/x-www-form-urlencoded")
            })
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
            is_secure: self.parts.extensions.get() == Some(&IsSecure(true)),
            tells_session_id: config.login_body_session_id == BodySessionId::Full,
        }
    }

    /// What an error answer needs to know.
    pub(crate) fn error_context<'a>(&'a self, app: &App) -> ErrorContext<'a> {
        ErrorContext {
            request_id: &self.origin.request_id,
            now: app.now(),
            wants_problem: negotiate::names(&self.parts.headers, PROBLEM_JSON),
            offers_basic: app.config.auth_basic,
        }
    }

    /// Answers `error` in JSON.
    pub(crate) fn fail(&self, app: &App, error: &Error) -> Response {
        error::respond(error, &self.error_context(app))
    }
}

fn incomplete() -> Error {
    Error::bad_request("the body did not come to its end: send it again")
}

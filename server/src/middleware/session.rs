//! Finds the session of a request by its cookie, and tells its public name with every answer.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use entity_core::Caller;
use http::{Extensions, HeaderName, HeaderValue};

use super::Refuse;
use crate::session::{CookieOptions, Presented, Session, Sessions};

/// Carries the public name of the session on every answer to somebody who is logged in. Clients take its
/// absence for having been logged out.
pub const SESSION_HEADER: HeaderName = HeaderName::from_static("x-sakai-session");

/// The query parameter of requests that a page sends on its own: they don't keep a session alive.
const AUTOMATIC: &str = "auto";

/// The session of a request, if it has one. In the request's extensions, beside its [`Caller`].
#[derive(Clone, Debug, Default)]
pub struct CurrentSession(pub Option<Arc<Session>>);

impl CurrentSession {
    /// The session of the request with these extensions.
    pub fn of(extensions: &Extensions) -> Option<&Arc<Session>> {
        extensions.get::<Self>().and_then(|it| it.0.as_ref())
    }
}

/// What the layer needs.
#[derive(Clone, Debug)]
pub struct SessionLayer {
    /// The sessions.
    pub sessions: Arc<Sessions>,
    /// The cookie.
    pub cookie: Arc<CookieOptions>,
    /// How a failure is written.
    pub refuse: Refuse,
}

/// The layer: adds a [`CurrentSession`] and a [`Caller`] to the request.
pub async fn find(State(layer): State<SessionLayer>, mut request: Request, next: Next) -> Response {
    let session = match layer.cookie.read(request.headers()) {
        Presented::Nothing => None,
        Presented::Ambiguous => {
            tracing::warn!(
                event = "session.ambiguous",
                "ignored the session of a request with several session cookies"
            );
            None
        }
        Presented::Id(id) => match layer.sessions.find(&id).await {
            Ok(session) => session,
            Err(error) => return layer.refuse.answer(&error, request.headers()),
        },
    };
    if let Some(session) = &session
        && !is_automatic(request.uri().query())
    {
        layer.sessions.touch(session);
    }
    let caller = session
        .as_ref()
        .map_or_else(Caller::anonymous, |it| it.caller());
    let handle = session
        .as_ref()
        .and_then(|it| HeaderValue::from_str(it.handle()).ok());
    request.extensions_mut().insert(caller);
    request.extensions_mut().insert(CurrentSession(session));
    let mut response = next.run(request).await;
    if let Some(handle) = handle {
        // A login answers with the name of the session that it began.
        response
            .headers_mut()
            .entry(SESSION_HEADER)
            .or_insert(handle);
    }
    response
}

fn is_automatic(query: Option<&str>) -> bool {
    query
        .into_iter()
        .flat_map(|it| it.split('&'))
        .any(|it| it.split('=').next() == Some(AUTOMATIC))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_parameter_auto_makes_a_request_automatic() {
        for (query, expected) in [
            (None, false),
            (Some(""), false),
            (Some("auto"), true),
            (Some("a=b&auto=true"), true),
            (Some("automatic=1"), false),
            (Some("a=auto"), false),
        ] {
            assert_eq!(is_automatic(query), expected, "{query:?}");
        }
    }
}

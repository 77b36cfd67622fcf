//! Finds the session of a request by its cookie or its `Authorization` header, and tells its public name with every
//! answer.

use std::sync::Arc;

use axum::response::Response;
use entity_core::{Error, ErrorKind, Result};
use http::request::Parts;
use http::{HeaderMap, HeaderValue};

use crate::guard::session::SESSION_HEADER;
use crate::guard::session::{Presented, Session, SessionId, bearer};
use crate::web::app::App;
use crate::web::direct::norefresh;

/// The query parameter of requests that a page sends on its own: they don't keep a session alive.
const AUTOMATIC: &str = "auto";

/// The session of a request, as far as it is known before the store is asked.
#[derive(Debug)]
pub(crate) enum Known {
    /// There is none.
    Nothing,
    /// It is this one, if it lives.
    Session(Option<Arc<Session>>),
    /// Only the store can tell.
    Unknown(SessionId),
}

/// Looks up the session of the request with this head in the cache.
pub(crate) fn look(app: &App, parts: &Parts) -> Known {
    match presented(app, &parts.headers) {
        Presented::Nothing => Known::Nothing,
        Presented::Ambiguous => {
            tracing::warn!(
                event = "session.ambiguous",
                "ignored the session of a request that names several"
            );
            Known::Nothing
        }
        Presented::Id(id) => match app.sessions().believed(&id) {
            Some(known) => Known::Session(app.sessions().living(known)),
            None => Known::Unknown(id),
        },
    }
}

/// The id of the session that a request with these header fields names, if it names one.
pub(crate) fn named(app: &App, headers: &HeaderMap) -> Option<SessionId> {
    match presented(app, headers) {
        Presented::Id(id) => Some(id),
        Presented::Nothing | Presented::Ambiguous => None,
    }
}

/// The session that the request names: in the header, in the cookie, or the same one in both.
fn presented(app: &App, headers: &HeaderMap) -> Presented {
    let cookie = app.cookie.read(headers);
    match bearer::read(headers) {
        None => cookie,
        Some(named) if cookie == Presented::Nothing || cookie == named => named,
        Some(_) => Presented::Ambiguous,
    }
}

/// Refuses a request whose `Authorization` header names no session, or another one than its cookie: a client that sends
/// that header wants to be authenticated.
pub(crate) fn check(app: &App, headers: &HeaderMap) -> Result<()> {
    let is_refused = match bearer::read(headers) {
        None => false,
        Some(Presented::Id(_)) => presented(app, headers) == Presented::Ambiguous,
        Some(Presented::Nothing | Presented::Ambiguous) => true,
    };
    match is_refused {
        true => Err(Error::new(
            ErrorKind::Unauthenticated,
            "the `Authorization` header must name the session, and the same one as the cookie if there is one",
        )),
        false => Ok(()),
    }
}

/// The living session of the request with this head, of which so much is `known`. That counts as a use of it.
pub(crate) async fn find(app: &App, parts: &Parts, known: Known) -> Result<Option<Arc<Session>>> {
    let session = match known {
        Known::Nothing => None,
        Known::Session(session) => session,
        Known::Unknown(id) => app.sessions().find(&id).await?,
    };
    if let Some(session) = &session
        && !is_automatic(parts.uri.query())
        && !norefresh::is_at(&parts.uri)
    {
        app.sessions().touch(session);
    }
    Ok(session)
}

/// Tells the public name of `session`, unless the answer tells that of one that a login began.
pub(crate) fn name(response: &mut Response, session: &Session) {
    if let Ok(handle) = HeaderValue::from_str(session.handle()) {
        response
            .headers_mut()
            .entry(SESSION_HEADER)
            .or_insert(handle);
    }
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

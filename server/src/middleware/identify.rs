//! Believes other evidence than a session, where it was switched on: HTTP Basic, and what a trusted proxy says.
//!
//! It holds for the one request: no session begins. A request with a session is taken by its session.

use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::middleware::Next;
use axum::response::Response;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use entity_core::{Caller, Error, Result};

use super::address::{IsSecure, Peer};
use crate::app::App;
use crate::auth::Evidence;
use crate::exchange;

/// The layer. It stands behind the one that finds the session.
pub async fn believe(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let is_known = request
        .extensions()
        .get::<Caller>()
        .is_some_and(|it| !it.is_anonymous());
    if is_known || !(app.config.auth_basic || app.config.auth_trusted_header.is_some()) {
        return next.run(request).await;
    }
    let shown = evidence(&app, &request).and_then(|it| Ok((it, exchange::origin(&request)?)));
    let believed = match shown {
        Ok((None, _)) => Ok(None),
        Ok((Some(evidence), origin)) => app.login.authenticate(&evidence, &origin).await.map(Some),
        Err(error) => Err(error),
    };
    match believed {
        Ok(None) => {}
        Ok(Some(user)) => drop(
            request
                .extensions_mut()
                .insert(Caller::user(user.id, user.eid)),
        ),
        Err(error) => return app.refuse(&error, request.headers()),
    }
    next.run(request).await
}

fn evidence(app: &App, request: &Request) -> Result<Option<Evidence>> {
    let headers = request.headers();
    let peer = request.extensions().get::<Peer>().map(|it| it.0.ip());
    if let (Some(name), Some(peer)) = (&app.config.auth_trusted_header, peer)
        && app.config.trusts(peer)
        && let Some(username) = headers.get(name).and_then(|it| it.to_str().ok())
    {
        return Ok(Some(Evidence::Trusted {
            username: username.to_owned(),
            peer,
        }));
    }
    // A password in every request must not cross the network in the clear.
    let is_private = request.extensions().get() == Some(&IsSecure(true))
        || peer.is_some_and(|it| it.is_loopback());
    match app.config.auth_basic && is_private {
        true => basic(headers),
        false => Ok(None),
    }
}

fn basic(headers: &HeaderMap) -> Result<Option<Evidence>> {
    let Some(text) = headers.get(AUTHORIZATION).and_then(|it| it.to_str().ok()) else {
        return Ok(None);
    };
    let Some((scheme, encoded)) = text.split_once(' ') else {
        return Ok(None);
    };
    if !scheme.eq_ignore_ascii_case("basic") {
        return Ok(None);
    }
    let wrong = || {
        Error::bad_request(
            "the `Authorization` header must hold a user name and a password in Base64",
        )
    };
    let bytes = BASE64_STANDARD
        .decode(encoded.trim())
        .map_err(|error| wrong().with_source(error))?;
    let text = String::from_utf8(bytes).map_err(|error| wrong().with_source(error))?;
    let (username, password) = text.split_once(':').ok_or_else(wrong)?;
    Ok(Some(Evidence::Basic {
        username: username.to_owned(),
        password: password.to_owned().into(),
    }))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_basic_header_is_read_strictly() {
        for (header, expected) in [
            ("Basic YTpiOmM=", Some(Some("a"))),
            ("basic YTpi", Some(Some("a"))),
            ("Bearer x", Some(None)),
            ("Basic !!", None),
            ("Basic YWI=", None),
        ] {
            let headers = HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_static(header))]);
            let found = basic(&headers).map(|it| it.map(|it| it.username().to_owned()));
            let found = found.as_ref().map(Option::as_deref);
            assert_eq!(found.ok(), expected, "{header}");
        }
    }
}

//! Believes other evidence than a session, where it was switched on: HTTP Basic, and what a trusted proxy says.
//!
//! It holds for the one request: no session begins. A request with a session is taken by its session.

use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use entity_core::{Caller, Error, Result};

use crate::base::address::{self, Arrived};
use crate::guard::auth::Evidence;
use crate::web::app::App;
use crate::web::exchange::Exchange;

/// Returns whether the request with this head may be somebody's although it has no session.
pub(crate) fn has_evidence(app: &App, parts: &Parts, arrived: &Arrived) -> bool {
    let named = |name: &HeaderName| parts.headers.contains_key(name);
    let config = &app.config;
    let is_trusted = || arrived.peer.is_some_and(|it| config.trusts(it));
    (config.auth_basic && named(&AUTHORIZATION))
        || (config.auth_trusted_header.as_ref().is_some_and(named) && is_trusted())
}

/// Lets the request run on behalf of whom its evidence shows, if it has no session.
///
/// # Errors
/// The evidence is malformed or wrong.
pub(crate) async fn believe(app: &App, exchange: &mut Exchange) -> Result<()> {
    let is_known = !exchange.origin.caller.is_anonymous();
    if is_known || !(app.config.auth_basic || app.config.auth_trusted_header.is_some()) {
        return Ok(());
    }
    if let Some(evidence) = evidence(app, exchange)? {
        let user = app.login.authenticate(&evidence, &exchange.origin);
        let user = Box::pin(user).await?;
        exchange.origin.caller = Caller::user(user.id, user.eid);
    }
    Ok(())
}

fn evidence(app: &App, exchange: &Exchange) -> Result<Option<Evidence>> {
    let headers = &exchange.parts.headers;
    let peer = exchange.arrived.peer;
    if let (Some(name), Some(peer)) = (&app.config.auth_trusted_header, peer)
        && app.config.trusts(peer)
        && let Some(username) = only(headers, name)?
    {
        return Ok(Some(Evidence::Trusted { username, peer }));
    }
    // A password in every request must not cross the network in the clear.
    let is_private = exchange.arrived.is_secure || address::is_local(&exchange.parts, &app.config);
    match app.config.auth_basic && is_private {
        true => basic(headers),
        false => Ok(None),
    }
}

/// The value of the header in which a proxy names the user. A second one may be what the client sent, and nobody
/// knows which of them is the proxy's.
fn only(headers: &HeaderMap, name: &HeaderName) -> Result<Option<String>> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => match value.to_str() {
            Ok(username) => Ok(Some(username.to_owned())),
            Err(error) => {
                let text = format!("the header `{name}` must be plain text");
                Err(Error::bad_request(text).with_source(error))
            }
        },
        (Some(_), Some(_)) => Err(Error::bad_request(format!(
            "the header `{name}` must be sent once"
        ))),
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
    fn the_name_of_a_user_is_sent_once_or_not_at_all() {
        let name = HeaderName::from_static("remote-user");
        for (values, expected) in [
            (&[][..], Some(None)),
            (&["ada"], Some(Some("ada"))),
            (&["ada", "admin"], None),
            (&["ada", "ada"], None),
            (&["\u{e4}"], None),
        ] {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(&name, HeaderValue::from_str(value).unwrap());
            }
            let found = only(&headers, &name);
            let found = found.as_ref().map(Option::as_deref);
            assert_eq!(found.ok(), expected, "{values:?}");
        }
    }

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

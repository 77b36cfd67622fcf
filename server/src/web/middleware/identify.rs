//! Authenticates by other evidence than a session, if switched on: HTTP Basic, and the header of a trusted proxy.
//!
//! It holds for the one request: no session begins. A request with a session is taken by its session.

use std::net::IpAddr;

use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use entity_core::{Caller, Error, ErrorKind, Result};
use secrecy::ExposeSecret as _;
use subtle::ConstantTimeEq as _;

use crate::base::address::{self, ClientAddress};
use crate::base::config::Config;
use crate::guard::auth::Evidence;
use crate::web::app::App;
use crate::web::request_context::RequestContext;

/// The header with the secret of the proxy.
const SECRET: HeaderName = HeaderName::from_static("x-proxy-secret");

/// Returns whether the request with this head may be authenticated although it has no session.
pub(crate) fn has_evidence(app: &App, parts: &Parts, arrived: &ClientAddress) -> bool {
    let named = |name: &HeaderName| parts.headers.contains_key(name);
    (app.config.auth.basic && named(&AUTHORIZATION))
        || proxy(&app.config, &parts.headers, arrived).is_some_and(|it| named(it.0))
}

/// Returns the header in which the sender may name a user, and the sender's address, if it is a trusted proxy.
fn proxy<'a>(
    config: &'a Config,
    headers: &HeaderMap,
    arrived: &ClientAddress,
) -> Option<(&'a HeaderName, IpAddr)> {
    let (name, peer) = (config.auth.trusted_header.as_ref()?, arrived.peer?);
    let told = headers.get(SECRET).map_or(&b""[..], HeaderValue::as_bytes);
    let secret = config.auth.trusted_secret.as_ref();
    let is_known = secret.is_none_or(|it| it.0.expose_secret().as_bytes().ct_eq(told).into());
    (is_known && config.proxy.trusts(peer)).then_some((name, peer))
}

/// Authenticates the request by its evidence, if it has no session.
///
/// # Errors
/// The evidence is malformed or wrong, or a proxy names somebody else than the session.
pub(crate) async fn authenticate(app: &App, context: &mut RequestContext) -> Result<()> {
    if !(app.config.auth.basic || app.config.auth.trusted_header.is_some()) {
        return Ok(());
    }
    if let Some(user) = &context.origin.caller.user {
        return match named_by_proxy(app, context)? {
            Some(Evidence::Trusted { username, .. })
                if !username.eq_ignore_ascii_case(&user.eid) =>
            {
                Err(Error::new(
                    ErrorKind::Unauthenticated,
                    "the session is of another person than the one who was logged in before this service: delete the \
                     cookies of this address, and ask again",
                ))
            }
            _ => Ok(()),
        };
    }
    let Some(evidence) = evidence(app, context)? else {
        return Ok(());
    };
    let user = Box::pin(app.login.authenticate(&evidence, &context.origin)).await;
    let user = user.map_err(|error| match (&evidence, error.kind()) {
        (Evidence::Trusted { username, .. }, ErrorKind::Unauthenticated) => Error::new(
            ErrorKind::Unauthenticated,
            format!("`{username}` has no account here that is open: ask the administrators of this service for one"),
        )
        .with_source(error),
        _ => error,
    })?;
    context.origin.caller = Caller::user(user.id, user.eid);
    Ok(())
}

/// Returns whom a trusted proxy names.
fn named_by_proxy(app: &App, context: &RequestContext) -> Result<Option<Evidence>> {
    let headers = &context.parts.headers;
    let Some((name, peer)) = proxy(&app.config, headers, &context.arrived) else {
        return Ok(None);
    };
    let username = only(headers, name)?;
    Ok(username.map(|username| Evidence::Trusted { username, peer }))
}

fn evidence(app: &App, context: &RequestContext) -> Result<Option<Evidence>> {
    let trusted = named_by_proxy(app, context)?;
    if trusted.is_some() {
        return Ok(trusted);
    }
    // A password in every request must not cross the network in the clear.
    let is_private = context.arrived.is_secure || address::is_local(&context.parts, &app.config);
    match app.config.auth.basic && is_private {
        true => basic(&context.parts.headers),
        false => Ok(None),
    }
}

/// The value of the header in which a proxy names the user. A second one may come from the client, and nobody knows
/// which of them is the proxy's.
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

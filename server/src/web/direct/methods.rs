//! The methods that an address takes: those of its type, and those that the service itself answers there.

use axum::http::HeaderName;
use axum::response::Response;
use entity_core::engine::{self, DirectPath};
use entity_core::{Error, Result, Verb};

use super::request::DirectRequest;
use super::{body, login_form, norefresh, respond};
use crate::base::error;
use crate::web::events;

/// The header that tells by which kinds of documents an address may be patched.
const ACCEPT_PATCH: HeaderName = HeaderName::from_static("accept-patch");

/// Returns whether the request makes a session: that is a login, which no type can answer, for it sets a cookie.
pub(super) fn is_login(path: &DirectPath, verb: Verb) -> bool {
    let is_collection = path.segments.is_empty() || path.segments == ["new"];
    path.prefix == "session" && is_collection && verb == Verb::Post
}

/// Answers `OPTIONS`.
pub(super) fn answer(direct: DirectRequest<'_>) -> Result<Response> {
    let offered = offered(direct)?;
    let mut response = error::options(&offered);
    if offered.contains(&Verb::Patch) {
        let kinds = format!("{}, {}", body::MERGE_PATCH, body::JSON_PATCH);
        respond::set(response.headers_mut(), ACCEPT_PATCH, Some(&kinds));
    }
    Ok(response)
}

/// Refuses a method that the address does not take before the body is looked at: no body makes that good, but a
/// form, which may name another one.
pub(super) fn check(direct: DirectRequest<'_>, sent: Verb) -> Result<()> {
    let may_change = sent == Verb::Post && direct.context.has_form();
    if sent.is_safe() || may_change {
        return Ok(());
    }
    // What leads nowhere is told later, and in other words.
    match offered(direct) {
        Ok(offered) if !offered.contains(&sent) => Err(Error::method_not_allowed(offered)),
        _ => Ok(()),
    }
}

/// The verbs that the address takes.
pub(super) fn offered(direct: DirectRequest<'_>) -> Result<Vec<Verb>> {
    let path = direct.path;
    let is_own = |verb: &Verb| {
        login_form::is_asked(path, *verb)
            || norefresh::is_asked(path, *verb)
            || events::is_asked(path, *verb)
            || is_login(path, *verb)
    };
    let own: Vec<Verb> = Verb::ALL.into_iter().filter(is_own).collect();
    match engine::allowed(direct.registry(), path) {
        Err(_) if own.is_empty() && direct.context.origin.caller.is_anonymous() => {
            Err(Error::unauthenticated())
        }
        Err(error) if own.is_empty() => Err(error),
        offered => Ok([offered.unwrap_or_default(), own].concat()),
    }
}

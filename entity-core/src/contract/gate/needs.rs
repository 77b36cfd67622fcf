//! Needs, as the authorizer decides about them: for a caller, in a site or in all. Nothing here knows the type of an
//! entity, so that it is compiled once for all types.

use crate::contract::access::{Caller, Decision, Need, Scope};
use crate::contract::context::Context;
use crate::contract::presence::note_visit;
use crate::primitives::error::{Error, Result};

/// Returns whether the caller holds `function` in `site`. Nobody holds one in a site that does not exist.
///
/// # Errors
/// Returns an error if a permission could not be decided.
pub async fn holds(cx: &Context, function: &str, site: &str) -> Result<bool> {
    let decision = cx.authorizer().decide(cx, function, site).await?;
    Ok(decision.is_granted())
}

/// Returns whether the caller meets `need` in `site` or, without a site, anywhere; `None` if it demands no more than a
/// session, which the caller has.
pub(crate) async fn may_meet(cx: &Context, need: Need, site: Option<&str>) -> Result<Option<bool>> {
    if admit(cx.caller(), need).is_err() {
        return Ok(Some(false));
    }
    let may = match (need.of(cx.caller()), site) {
        (Need::Site(function) | Need::SiteOrOwn(function, _), Some(site)) => {
            holds(cx, function, site).await?
        }
        (Need::Site(function) | Need::SiteOrOwn(function, _), None) => {
            cx.authorizer().scope(cx, function).await? != Scope::Sites(Vec::new())
        }
        (Need::Account(function), _) => cx.authorizer().holds(cx, function).await?,
        (Need::Superuser | Need::PublicView(..), _) => cx.authorizer().is_superuser(cx).await?,
        (Need::Session | Need::Public, _) => return Ok(None),
    };
    Ok(Some(may))
}

/// Checks that the caller meets `need`, and returns the function that was used, if any. A need in a site is looked up
/// in `site`.
///
/// # Errors
/// Returns an error if nobody is logged in, if the need is one in a site and `site` is missing or does not exist, or if
/// the caller does not meet the need.
pub async fn demand_in_site(
    cx: &Context,
    need: Need,
    site: Option<&str>,
) -> Result<Option<&'static str>> {
    admit(cx.caller(), need)?;
    match need.of(cx.caller()) {
        Need::Site(function) | Need::SiteOrOwn(function, _) => {
            let site = site.ok_or_else(|| Error::bad_request("the request must name a site"))?;
            granted(cx, function, site).await?;
            Ok(Some(function))
        }
        other => demand_of_account(cx, other).await,
    }
}

/// Refuses a caller without a session, unless the need is public. This is called before anything is looked up.
pub(crate) fn admit(caller: &Caller, need: Need) -> Result<()> {
    match caller.is_anonymous() && !need.is_public() {
        true => Err(Error::unauthenticated()),
        false => Ok(()),
    }
}

/// Returns the error for a caller who may not do something: an anonymous caller is asked to log in.
pub(super) fn refusal(caller: &Caller) -> Error {
    match caller.is_anonymous() {
        true => Error::unauthenticated(),
        false => Error::forbidden(),
    }
}

/// Checks that the caller meets `need` of an entity of this site and owner.
pub(super) async fn demand_for(
    cx: &Context,
    need: Need,
    site: Option<&str>,
    owner: Option<&str>,
) -> Result<Option<&'static str>> {
    let is_owner = || cx.caller().user_id().is_some_and(|it| owner == Some(it));
    let (function, own) = match need.of(cx.caller()) {
        Need::Site(function) => (function, None),
        Need::SiteOrOwn(function, own) => (function, Some(own)),
        other => return demand_of_account(cx, other).await,
    };
    let Some(site) = site else {
        return demand_of_account(cx, Need::Superuser).await;
    };
    let decision = cx.authorizer().decide(cx, function, site).await?;
    match own {
        Some(own) if !decision.is_granted() && is_owner() => {
            granted(cx, own, site).await?;
            Ok(Some(own))
        }
        _ => told(cx.caller(), decision).map(|()| Some(function)),
    }
}

pub(super) async fn demand_of_account(cx: &Context, need: Need) -> Result<Option<&'static str>> {
    let (is_held, function) = match need {
        Need::Public => (true, None),
        Need::Session => (!cx.caller().is_anonymous(), None),
        Need::Account(function) => (cx.authorizer().holds(cx, function).await?, Some(function)),
        Need::Superuser | Need::Site(_) | Need::SiteOrOwn(..) | Need::PublicView(..) => {
            (cx.authorizer().is_superuser(cx).await?, None)
        }
    };
    match is_held {
        true => Ok(function),
        false => Err(refusal(cx.caller())),
    }
}

/// Returns the sites whose entities a list may show: only `site`, if the search names one.
pub(super) async fn scope(cx: &Context, need: Need, site: Option<&str>) -> Result<Scope> {
    admit(cx.caller(), need)?;
    match (need.of(cx.caller()), site) {
        (Need::Site(function) | Need::SiteOrOwn(function, _), Some(site)) => {
            granted(cx, function, site).await?;
            Ok(Scope::Sites(vec![site.to_owned()]))
        }
        // The public belongs to no site: it finds what is open to it by naming it.
        (Need::Site(_), None) if need.is_partly_public(cx.caller()) => {
            Err(Error::unauthenticated())
        }
        (Need::Site(function) | Need::SiteOrOwn(function, _), None) => {
            cx.authorizer().scope(cx, function).await
        }
        (other, _) => demand_of_account(cx, other)
            .await
            .map(|_function| Scope::Everything),
    }
}

async fn granted(cx: &Context, function: &str, site: &str) -> Result<()> {
    let decision = cx.authorizer().decide(cx, function, site).await?;
    told(cx.caller(), decision)?;
    note_visit(cx, site);
    Ok(())
}

/// Converts `decision` into the result for `caller`: an unknown site is not found.
fn told(caller: &Caller, decision: Decision) -> Result<()> {
    match decision {
        Decision::Granted => Ok(()),
        Decision::Denied => Err(refusal(caller)),
        Decision::UnknownSite => Err(Error::not_found()),
    }
}

//! Who sees which member, and who may make whom a member as what.

use entity_core::{Context, Decision, Error, Permit, Result, Scope};
use sea_orm::{EntityTrait, QuerySelect};

use super::Membership;
use crate::authorizer::{self, ADMIN_SITE};
use crate::db::site;

/// Either of these opens the list of a site's members.
const ROSTER: [&str; 2] = ["roster.viewallmembers", "site.viewRoster"];
/// Whoever holds it manages the whole site, its members' roles included.
const MANAGES_SITE: &str = "site.upd";

/// Everybody sees what they belong to themselves; others are for those who hold the roster.
pub(super) async fn may_see(cx: &Context, membership: &Membership) -> Result<Permit> {
    if is_own(cx, membership) || holds_roster(cx, &membership.site_id).await?.is_granted() {
        return Ok(Permit::Allowed);
    }
    Ok(Permit::Hidden)
}

/// Whoever manages the site gives any of its roles; others none that holds a function which neither they
/// themselves hold nor whoever joins the site. Members of the administration site are super users: only such make others.
pub(super) async fn may_give(cx: &Context, site: &str, role: &str) -> Result<Permit> {
    if cx.authorizer().is_superuser(cx).await? {
        return Ok(Permit::Allowed);
    }
    if site == ADMIN_SITE {
        return Ok(Permit::Forbidden);
    }
    let authorizer = authorizer::of(cx)?;
    let own = authorizer.functions_of_caller(cx, site).await?;
    let roles = authorizer.roles_of_realm(cx, site).await?;
    let joiner_role = joiner_role(cx, site).await?;
    let common = joiner_role.and_then(|it| roles.get(&it));
    let is_common = |function| common.is_some_and(|it| it.contains(function));
    let is_above = roles
        .get(role)
        .is_some_and(|it| it.iter().any(|it| !own.contains(it) && !is_common(it)));
    match own.contains(MANAGES_SITE) || !is_above {
        true => Ok(Permit::Allowed),
        false => Ok(Permit::Forbidden),
    }
}

/// Insists on [`may_give`]. To be asked before the role is written: afterwards those who gave it to themselves
/// hold it.
pub(super) async fn demand_may_give(cx: &Context, site: &str, role: &str) -> Result<()> {
    match may_give(cx, site, role).await? {
        Permit::Allowed => Ok(()),
        Permit::Forbidden | Permit::Hidden => Err(Error::forbidden()),
    }
}

/// The role of those who join the site by themselves, if it has one.
pub(super) async fn joiner_role(cx: &Context, site_id: &str) -> Result<Option<String>> {
    let found: Option<Option<String>> = site::Entity::find_by_id(site_id)
        .select_only()
        .column(site::Column::JoinerRole)
        .into_tuple()
        .one(cx.db()?)
        .await?;
    Ok(found.flatten())
}

/// Members of a joinable site may leave it. Others are removed by those who could have made them members.
pub(super) async fn may_end(cx: &Context, membership: &Membership) -> Result<Permit> {
    let site = membership.site_id.as_str();
    if is_own(cx, membership) && membership.is_joinable && site != ADMIN_SITE {
        return Ok(Permit::Allowed);
    }
    let function = "site.upd.site.mbrshp";
    match cx.authorizer().decide(cx, function, site).await? {
        Decision::Granted => may_give(cx, site, &membership.member_role).await,
        Decision::Denied | Decision::UnknownSite => Ok(Permit::Forbidden),
    }
}

/// Insists that the caller holds the roster of `site`.
pub(super) async fn demand_roster(cx: &Context, site: &str) -> Result<()> {
    match holds_roster(cx, site).await? {
        Decision::Granted => Ok(()),
        Decision::Denied => Err(Error::forbidden()),
        Decision::UnknownSite => Err(Error::not_found()),
    }
}

/// The sites whose rosters the caller holds.
pub(super) async fn rosters(cx: &Context) -> Result<Scope> {
    let mut all = Vec::new();
    for function in ROSTER {
        match cx.authorizer().scope(cx, function).await? {
            Scope::Everything => return Ok(Scope::Everything),
            Scope::Sites(sites) => all.extend(sites),
        }
    }
    all.sort_unstable();
    all.dedup();
    Ok(Scope::Sites(all))
}

/// What of a member's person the caller may know in a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// The e-mail address.
    pub(super) email: bool,
    /// The external id.
    pub(super) eid: bool,
}

/// What the caller may know of the user `user` as a member of `site`.
pub(super) async fn known(cx: &Context, user: &str, site: &str) -> Result<Known> {
    if cx.caller().user_id() == Some(user) {
        return Ok(Known {
            email: true,
            eid: true,
        });
    }
    let authorizer = cx.authorizer();
    let email = authorizer.decide(cx, "roster.viewemail", site).await?;
    let eid = authorizer.decide(cx, "roster.viewid", site).await?;
    Ok(Known {
        email: email.is_granted(),
        eid: eid.is_granted(),
    })
}

async fn holds_roster(cx: &Context, site: &str) -> Result<Decision> {
    let mut decision = Decision::Denied;
    for function in ROSTER {
        decision = cx.authorizer().decide(cx, function, site).await?;
        if decision.is_granted() {
            return Ok(decision);
        }
    }
    Ok(decision)
}

fn is_own(cx: &Context, membership: &Membership) -> bool {
    cx.caller().user_id() == Some(membership.user_id.as_str())
}

//! Visibility of members, and the roles that a caller may give to others.

use entity_core::{Context, Decision, Error, Permit, Result, gate};
use sea_orm::{EntityTrait, QuerySelect};

use super::Membership;
use crate::people::authorizer;
use crate::people::group;
use crate::people::site::id::ADMIN_SITE;
use crate::people::site::site;
use crate::people::user;

/// Either of these opens the list of a site's members.
pub(super) const ROSTER: [&str; 2] = ["roster.viewallmembers", "site.viewRoster"];
/// The function to manage the whole site, its members' roles included.
pub(super) const MANAGES_SITE: &str = "site.upd";
/// The function to change the members of a site.
pub(crate) const MANAGES_MEMBERS: &str = "site.upd.site.mbrshp";
/// The account function of those who add people without asking them; others invite.
const ENROLS: &str = "user.enrol";
/// The function to see also those members who do not want to be seen, for those who may see the roster.
pub(super) const SEES_HIDDEN: &str = "roster.viewhidden";

/// A membership of a site takes the function for it and a role that the caller may give, one of a group a caller
/// who looks after the groups.
pub(super) async fn may_make(cx: &Context, membership: &Membership) -> Result<Permit> {
    let site = membership.site_id.as_str();
    let may_manage = match membership.group_id {
        None => gate::holds(cx, MANAGES_MEMBERS, site).await?,
        Some(_) => group::may_manage(cx, site).await?,
    };
    match (may_manage, &membership.group_id) {
        (false, _) => Ok(Permit::Forbidden),
        (true, None) => may_give(cx, site, &membership.member_role).await,
        (true, Some(_)) => Ok(Permit::Allowed),
    }
}

/// Whoever manages the site gives any of its roles; others none that holds a function which neither they
/// themselves hold nor whoever joins the site. Members of the administration site are super users: only such make others.
pub(super) async fn may_give(cx: &Context, site: &str, role: &str) -> Result<Permit> {
    may_give_as(cx, cx.user_id()?, site, role).await
}

/// Returns whether `giver` may make somebody a member of `site` in the role `role` at this moment, if they asked
/// themselves.
pub(crate) async fn may_make_as(cx: &Context, giver: &str, site: &str, role: &str) -> Result<bool> {
    let authorizer = authorizer::of(cx)?;
    let own = authorizer.functions_of(cx, Some(giver), site).await?;
    let roles = authorizer.roles_of_realm(cx, site).await?;
    let is_possible = own.contains(MANAGES_MEMBERS) && roles.contains_key(role);
    Ok(is_possible && may_give_as(cx, giver, site, role).await? == Permit::Allowed)
}

async fn may_give_as(cx: &Context, giver: &str, site: &str, role: &str) -> Result<Permit> {
    let authorizer = authorizer::of(cx)?;
    if authorizer.subject(cx, giver).await?.is_superuser {
        return Ok(Permit::Allowed);
    }
    if site == ADMIN_SITE {
        return Ok(Permit::Forbidden);
    }
    let own = authorizer.functions_of(cx, Some(giver), site).await?;
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

/// Returns whether the caller adds people without asking them; if not, whom they add is invited.
pub(super) async fn may_enrol(cx: &Context) -> Result<bool> {
    cx.authorizer().holds(cx, ENROLS).await
}

/// The role of those who join the site by themselves, if it has one.
pub(super) async fn joiner_role(cx: &Context, site_id: &str) -> Result<Option<String>> {
    let found: Option<Option<String>> = cx
        .db()?
        .first(
            site::Entity::find_by_id(site_id)
                .select_only()
                .column(site::Column::JoinerRole),
        )
        .await?;
    Ok(found.flatten())
}

/// Everybody may leave. Others are removed by those who could have made them members.
pub(super) async fn may_end(cx: &Context, membership: &Membership) -> Result<Permit> {
    match may_leave(cx, membership) {
        true => Ok(Permit::Allowed),
        false => may_make(cx, membership).await,
    }
}

/// Returns whether it is the caller's own membership of a site. Whom the institution's roster put there stays.
pub(super) fn may_leave(cx: &Context, membership: &Membership) -> bool {
    is_own(cx, membership) && membership.group_id.is_none() && !membership.provided
}

/// Returns whether it is the caller's own membership of a site, or anybody's for super users: then the caller says
/// whether others see it.
pub(super) async fn may_hide(cx: &Context, membership: &Membership) -> Result<bool> {
    Ok(is_own(cx, membership) || cx.authorizer().is_superuser(cx).await?)
}

/// Insists that the caller holds the roster of `site`.
pub(super) async fn demand_roster(cx: &Context, site: &str) -> Result<()> {
    demand(holds_roster(cx, site).await?)
}

/// Insists that the caller holds the roster of `site`, or changes who is in its groups.
pub(super) async fn demand_group_roster(cx: &Context, site: &str) -> Result<()> {
    demand(holds_group_roster(cx, site).await?)
}

/// The facts of a member's person that the caller may know in a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// The e-mail address.
    pub(super) email: bool,
    /// The external id.
    pub(super) eid: bool,
}

/// Returns the facts of the member that the caller may know: of those who neither accepted an invitation nor were
/// enrolled by mandate, no more than the name. Whoever may look at all accounts learns nothing new here.
pub(super) async fn known(cx: &Context, membership: &Membership) -> Result<Known> {
    if is_own(cx, membership) {
        return Ok(Known {
            email: true,
            eid: true,
        });
    }
    if !membership.is_told && !user::may_view(cx).await? {
        return Ok(Known {
            email: false,
            eid: false,
        });
    }
    let site = membership.site_id.as_str();
    Ok(Known {
        email: gate::holds(cx, "roster.viewemail", site).await?,
        eid: gate::holds(cx, "roster.viewid", site).await?,
    })
}

fn demand(decision: Decision) -> Result<()> {
    match decision {
        Decision::Granted => Ok(()),
        Decision::Denied => Err(Error::forbidden()),
        Decision::UnknownSite => Err(Error::not_found()),
    }
}

async fn holds_group_roster(cx: &Context, site: &str) -> Result<Decision> {
    let decision = holds_roster(cx, site).await?;
    match decision == Decision::Denied && group::may_manage(cx, site).await? {
        true => Ok(Decision::Granted),
        false => Ok(decision),
    }
}

/// Allows what tells of the members of `site` to those who hold its roster.
pub(super) async fn permits_roster(cx: &Context, site: &str) -> Result<Permit> {
    match holds_roster(cx, site).await?.is_granted() {
        true => Ok(Permit::Allowed),
        false => Ok(Permit::Forbidden),
    }
}

/// Returns whether the caller holds the roster of `site`.
pub(super) async fn holds_roster(cx: &Context, site: &str) -> Result<Decision> {
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

/// The role that new members of `site` are to have, if the caller may give it: without one, that of those who
/// join by themselves.
pub(crate) async fn given_role(cx: &Context, site: &str, role: Option<String>) -> Result<String> {
    let role = match role.filter(|it| !it.trim().is_empty()) {
        Some(role) => role,
        None => joiner_role(cx, site)
            .await?
            .ok_or_else(|| Error::field("memberRole", "is required in this site"))?,
    };
    check_role(cx, site, &role).await?;
    demand_may_give(cx, site, &role).await?;
    Ok(role)
}

/// Insists that the site has the role.
pub(super) async fn check_role(cx: &Context, site_id: &str, role: &str) -> Result<()> {
    let roles = authorizer::of(cx)?.roles_of_realm(cx, site_id).await?;
    if roles.contains_key(role) {
        return Ok(());
    }
    let names: Vec<String> = roles.into_keys().collect();
    Err(Error::field(
        "memberRole",
        format!("must be one of the site's roles: {}", names.join(", ")),
    ))
}

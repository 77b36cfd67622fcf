//! Coming and going by oneself: joining a site that is open to that, leaving any, and being seen there or not.

use entity_core::{ActionResult, Arguments, Context, Done, Error, Reference, Result, db};
use sea_orm::ActiveValue::Set;
use sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel};

use super::location::Location;
use super::{Membership, Memberships, rules, write};
use crate::base::parameters;
use crate::people::authorizer;
use crate::people::site::id::ADMIN_SITE;
use crate::people::site::{self, Site};
use crate::storage::db::membership::{self, Origin};

/// `POST membership/join/site`: makes the caller a member, in the role that the site gives to those who join.
/// Nothing happens to those who are members, even to those whose membership does not count.
pub(super) async fn join(cx: &Context, arguments: Arguments) -> Result<ActionResult<Memberships>> {
    let site = named(&arguments)?;
    become_member(cx, &site).await?;
    Ok(ActionResult::Done.about(Reference::entity("site", site)))
}

/// Makes the caller a member of `site`, as [`join`] does.
pub(crate) async fn become_member(cx: &Context, site: &str) -> Result<()> {
    let (site, own) = own(cx, site).await?;
    let role = joining_role(cx, &site).await?;
    if own.is_none() {
        insert(cx, &site.id, &role, Origin::Joined).await?;
        emit_event(cx, "membership.join", &site.id)?;
    }
    Ok(())
}

/// Makes the caller a member of `site` who accepted an invitation to it. A member keeps the role that they have, and
/// has now agreed to be one.
pub(crate) async fn admit(cx: &Context, site: &str, role: &str) -> Result<()> {
    let id = (cx.user_id()?.to_owned(), site.to_owned());
    let present: Option<membership::Model> =
        cx.db()?.first(membership::Entity::find_by_id(id)).await?;
    match present {
        None => {
            insert(cx, site, role, Origin::Accepted).await?;
            emit_event(cx, "membership.new", site)
        }
        Some(row) if !row.origin.is_told() => {
            let mut row = row.into_active_model();
            row.origin = Set(Origin::Accepted);
            row.update(cx.db()?).await?;
            Ok(())
        }
        Some(_) => Ok(()),
    }
}

/// Returns whether the caller is a member of `site`, also one whose membership does not count at present.
pub(crate) async fn is_member(cx: &Context, site: &str) -> Result<bool> {
    let id = (cx.user_id()?.to_owned(), site.to_owned());
    let present: Option<membership::Model> =
        cx.db()?.first(membership::Entity::find_by_id(id)).await?;
    Ok(present.is_some())
}

async fn insert(cx: &Context, site: &str, role: &str, origin: Origin) -> Result<()> {
    let row = membership::Model::new(cx.user_id()?, site, role, cx.now(), origin);
    membership::Entity::insert(row.into_active_model())
        .exec_without_returning(cx.db()?)
        .await?;
    Ok(())
}

/// `POST membership/unjoin/site`: ends the caller's membership of a site, unless the student system made it.
pub(super) async fn unjoin(cx: &Context, arguments: Arguments) -> Result<Done> {
    leave(cx, &named(&arguments)?).await?;
    Ok(Done)
}

/// Ends the caller's membership of `site`, as [`unjoin`] does.
pub(crate) async fn leave(cx: &Context, site: &str) -> Result<()> {
    let (site, own) = own(cx, site).await?;
    match own {
        Some(membership) if rules::may_leave(cx, &membership) => {
            write::end(cx, &membership).await?;
            emit_event(cx, "membership.unjoin", &site.id)?;
        }
        None if site.joinable => {}
        _ => return Err(Error::forbidden()),
    }
    Ok(())
}

/// `PUT membership/id/hidden` and `DELETE membership/id/hidden`.
pub(super) async fn hide(
    cx: &Context,
    current: Membership,
    is_hidden: bool,
) -> Result<ActionResult<Memberships>> {
    if current.group_id.is_some() || current.invitation.is_some() {
        return Err(Error::not_found());
    }
    if !rules::may_hide(cx, &current).await? {
        return Err(Error::forbidden());
    }
    if current.hidden != is_hidden {
        let row = membership::ActiveModel {
            is_hidden: Set(is_hidden),
            ..Default::default()
        };
        write::set(cx, &current, row).await?;
        let reference = format!("/membership/{}", current.id);
        cx.emit("membership.hide", reference, Some(&current.site_id));
    }
    Ok(ActionResult::Done)
}

/// `PUT membership/id/provided` and `DELETE membership/id/provided`: the student system speaks through an administrator.
pub(super) async fn provide(
    cx: &Context,
    current: Membership,
    is_provided: bool,
) -> Result<ActionResult<Memberships>> {
    if current.group_id.is_some() || current.invitation.is_some() {
        return Err(Error::not_found());
    }
    let mut row = membership::ActiveModel {
        is_provided: Set(is_provided),
        ..Default::default()
    };
    if is_provided {
        row.origin = Set(Origin::Provided);
    }
    write::set(cx, &current, row).await?;
    let reference = format!("/membership/{}", current.id);
    cx.emit("membership.provide", reference, Some(&current.site_id));
    Ok(ActionResult::Done)
}

/// The site with this id, and the caller's membership of it.
async fn own(cx: &Context, id: &str) -> Result<(Site, Option<Membership>)> {
    let found: Vec<Site> = db::load(cx, site::site::Entity::find_by_id(id)).await?;
    let site = found.into_iter().next().ok_or_else(Error::not_found)?;
    let own = super::one(cx, cx.user_id()?, Location::Site(id)).await?;
    Ok((site, own))
}

/// The id of the site: `…/site`, `…/site/site`, or the parameter `siteId`.
fn named(arguments: &Arguments) -> Result<String> {
    match (arguments.optional("siteId"), arguments.optional("site")) {
        (None, _) => parameters::required(arguments, "siteId"),
        (Some(site), None) | (Some("site"), Some(site)) => Ok(site.to_owned()),
        _ => Err(Error::not_found()),
    }
}

/// The role of those who join `site`. One that looks after the site is none, whatever it was when it was chosen.
async fn joining_role(cx: &Context, site: &Site) -> Result<String> {
    let is_open = site.joinable && site.published && site.id != ADMIN_SITE;
    let role = site.joiner_role.as_deref().filter(|_| is_open);
    let facts = authorizer::of(cx)?.site(cx, &site.id).await?;
    let is_harmless = |role: &&str| {
        (*facts)
            .as_ref()
            .is_some_and(|it| it.has_role(role) && !it.role_holds(role, "site.upd"))
    };
    role.filter(is_harmless)
        .map(ToOwned::to_owned)
        .ok_or_else(Error::forbidden)
}

fn emit_event(cx: &Context, kind: &str, site: &str) -> Result<()> {
    let reference = format!("/membership/{}::site:{site}", cx.user_id()?);
    cx.emit(kind, reference, Some(site));
    Ok(())
}

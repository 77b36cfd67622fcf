//! The members of a group: adding and removing one, or many at once.

use entity_core::{Arguments, Context, Done, Error, Result};

use super::Membership;
use super::location::Location;
use super::write::{self, Draft};
use crate::storage::db::site_parts::SiteGroup;
use crate::{
    base::parameters,
    people::{group, user},
};

/// The parameter that names those who are put into a group.
const USER_IDS: &str = "userIds";

/// Puts the user whom `draft` names into the group `id`, which is said to be in `site` or anywhere.
pub(super) async fn create(
    cx: &Context,
    site: Option<&str>,
    id: &str,
    draft: Draft,
) -> Result<Membership> {
    let group = group::find(cx, site, id).await?;
    group::demand_manager(cx, &group.site_id).await?;
    let (field, name) = write::named(&draft)?;
    let found = users(cx, &group.site_id, field, &[name]).await?;
    let user = found.into_iter().next().ok_or_else(Error::not_found)?;
    group::add(cx, &group, std::slice::from_ref(&user)).await?;
    group::emit_event(cx, &group);
    let location = Location::Group {
        site: None,
        group: id,
    };
    let made = write::read_back(cx, &user, location).await?;
    check_unchanged(&made, draft.member_role, draft.active)?;
    Ok(made)
}

/// Whoever is in a group is there what they are in the site: nothing else can be said of it.
pub(super) fn check_unchanged(
    current: &Membership,
    role: Option<String>,
    active: Option<bool>,
) -> Result<()> {
    let role = role.filter(|it| !it.is_empty());
    if role.is_some_and(|it| it != current.member_role) {
        return Err(Error::field(
            "memberRole",
            format!("must be that in the site, `{}`", current.member_role),
        ));
    }
    match active.is_some_and(|it| it != current.active) {
        true => Err(Error::field("active", "must be as in the site")),
        false => Ok(()),
    }
}

/// Takes a user out of a group.
pub(super) async fn delete(cx: &Context, current: &Membership) -> Result<()> {
    let Some(id) = &current.group_id else {
        return Err(Error::internal(
            "a membership of a site is not one of a group",
        ));
    };
    let group = group::find(cx, Some(&current.site_id), id).await?;
    group::remove(cx, &group, std::slice::from_ref(&current.user_id)).await?;
    group::emit_event(cx, &group);
    Ok(())
}

/// `POST membership/group/group`: adds or removes users, or lets the group have exactly these.
pub(super) async fn change(cx: &Context, arguments: Arguments) -> Result<Done> {
    let group = group::find(cx, None, arguments.argument("groupId")?).await?;
    group::demand_manager(cx, &group.site_id).await?;
    let action = parameters::required(&arguments, "action")?;
    let names = parameters::texts(&arguments, "userIds")?
        .ok_or_else(|| Error::field("userIds", "is required"))?;
    let users = users(cx, &group.site_id, USER_IDS, &names).await?;
    match action.as_str() {
        "add" => add(cx, &group, &users).await?,
        "remove" => group::remove(cx, &group, &users).await?,
        "update" => {
            let present = group::members(cx, &group.id).await?;
            let (_, gone): (Vec<_>, Vec<_>) =
                present.into_iter().partition(|it| users.contains(it));
            group::remove(cx, &group, &gone).await?;
            add(cx, &group, &users).await?;
        }
        _ => return Err(Error::field("action", "must be add, update or remove")),
    }
    group::emit_event(cx, &group);
    Ok(Done)
}

/// Puts those whom `names` name into `group`. All must be members of its site.
pub(crate) async fn put_into(cx: &Context, group: &SiteGroup, names: &[String]) -> Result<()> {
    let users = users(cx, &group.site_id, USER_IDS, names).await?;
    add(cx, group, &users).await
}

/// Puts those of `users`, who are members of its site, into `group` who are not there yet.
async fn add(cx: &Context, group: &SiteGroup, users: &[String]) -> Result<()> {
    let present = group::members(cx, &group.id).await?;
    let users = users.iter().filter(|it| !present.contains(it));
    group::add(cx, group, &users.cloned().collect::<Vec<_>>()).await
}

/// The internal ids of the members of `site` whom `names` name, which the field `field` holds. Whoever is no member
/// is refused in the same words as who does not exist, and so is a member by an id or address that the caller may not
/// know: nobody finds out here whose it is.
async fn users(cx: &Context, site: &str, field: &str, names: &[String]) -> Result<Vec<String>> {
    let found = user::by_names(cx, names).await?;
    let all: Vec<String> = found.values().cloned().collect();
    let strangers = group::strangers(cx, site, &all).await?;
    let mut users: Vec<String> = Vec::with_capacity(names.len());
    for name in names {
        let user = found.get(name).filter(|it| !strangers.contains(it));
        let is_known = match user {
            Some(user) => user == name || is_known_by(cx, site, user, name).await?,
            None => false,
        };
        match user {
            Some(user) if is_known => {
                if !users.contains(user) {
                    users.push(user.clone());
                }
            }
            _ => {
                return Err(Error::field(
                    field,
                    format!("has `{name}`, which is no member of the site"),
                ));
            }
        }
    }
    Ok(users)
}

/// Returns whether the caller may know that `name` is the external id or the e-mail address of the member `user`.
async fn is_known_by(cx: &Context, site: &str, user: &str, name: &str) -> Result<bool> {
    let member = super::one(cx, user, Location::Site(site)).await?;
    Ok(member.is_some_and(|it| {
        it.user_eid.eq_ignore_ascii_case(name) || it.user_email.eq_ignore_ascii_case(name)
    }))
}

//! Who is in a group: adding and removing one, or many at once.

use entity_core::{Arguments, Context, Error, Outcome, Result};

use super::location::Location;
use super::write::{self, Draft};
use super::{Membership, Memberships};
use crate::db::site_group;
use crate::{group, parameters, user};

/// Puts the user whom `draft` names into the group `id`, which is said to be in `site` or anywhere.
pub(super) async fn create(
    cx: &Context,
    site: Option<&str>,
    id: &str,
    draft: Draft,
) -> Result<Membership> {
    let group = group::find(cx, site, id).await?;
    group::demand_manager(cx, &group.site_id).await?;
    let user = write::user(cx, &draft).await?;
    demand_members(cx, &group, "userId", std::slice::from_ref(&user)).await?;
    group::add(cx, &group, std::slice::from_ref(&user)).await?;
    group::tell(cx, &group);
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
    group::tell(cx, &group);
    Ok(())
}

/// `POST membership/group/group`: adds or removes users, or lets the group have exactly these.
pub(super) async fn change(cx: &Context, arguments: Arguments) -> Result<Outcome<Memberships>> {
    let group = group::find(cx, None, arguments.argument("groupId")?).await?;
    group::demand_manager(cx, &group.site_id).await?;
    let action = parameters::required(&arguments, "action")?;
    let names = parameters::texts(&arguments, "userIds")?
        .ok_or_else(|| Error::field("userIds", "is required"))?;
    let users = users(cx, &names).await?;
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
    group::tell(cx, &group);
    Ok(Outcome::Done)
}

/// Puts those whom `names` name into `group`. All must be members of its site.
pub(crate) async fn put_into(
    cx: &Context,
    group: &site_group::Model,
    names: &[String],
) -> Result<()> {
    let users = users(cx, names).await?;
    add(cx, group, &users).await
}

/// Puts those of `users` into `group` who are not there yet. All must be members of its site.
async fn add(cx: &Context, group: &site_group::Model, users: &[String]) -> Result<()> {
    demand_members(cx, group, "userIds", users).await?;
    let present = group::members(cx, &group.id).await?;
    let users = users.iter().filter(|it| !present.contains(it));
    group::add(cx, group, &users.cloned().collect::<Vec<_>>()).await
}

/// The internal ids of those whom `names` name by internal or external id.
async fn users(cx: &Context, names: &[String]) -> Result<Vec<String>> {
    let found = user::by_names(cx, names).await?;
    let mut users: Vec<String> = Vec::with_capacity(names.len());
    for name in names {
        let user = found.get(name).ok_or_else(|| {
            Error::field(
                "userIds",
                format!("has `{name}`, which is no member of the site"),
            )
        })?;
        if !users.contains(user) {
            users.push(user.clone());
        }
    }
    Ok(users)
}

async fn demand_members(
    cx: &Context,
    group: &site_group::Model,
    field: &str,
    users: &[String],
) -> Result<()> {
    let strangers = group::strangers(cx, &group.site_id, users).await?;
    match strangers.is_empty() {
        true => Ok(()),
        false => Err(Error::field(field, "must be members of the site")),
    }
}

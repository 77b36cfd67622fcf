//! Groups within a site: finding one, the permission to change its members, and changing them.
//!
//! Whoever is in a group is a member of its site, in the role that they have there: groups give nobody a right.

use entity_core::{Context, Decision, Error, Result, db};
use sea_orm::{ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, QuerySelect as _};

use crate::storage::db::site_parts::{SiteGroup, groups_of, site_group};
use crate::storage::db::{group_member, membership};

/// The function to change the groups of a site and their members.
pub(crate) const MANAGES_GROUPS: &str = "site.upd.grp.mbrshp";
/// The function to manage the whole site.
const MANAGES_SITE: &str = "site.upd";

/// The group `id`.
///
/// # Errors
/// There is none, or none in the site `site`, if that is said.
pub(crate) async fn find(cx: &Context, site: Option<&str>, id: &str) -> Result<SiteGroup> {
    let mut found = db::load(cx, site_group::Entity::find_by_id(id)).await?;
    found.retain(|it: &SiteGroup| site.is_none_or(|site| it.site_id == site));
    found.pop().ok_or_else(Error::not_found)
}

/// The reference of a group.
pub(crate) fn reference(site: &str, id: &str) -> String {
    format!("/site/{site}/group/{id}")
}

/// Returns whether the caller may change who is in the groups of `site`, and so sees who is.
pub(crate) async fn may_manage(cx: &Context, site: &str) -> Result<bool> {
    for function in [MANAGES_GROUPS, MANAGES_SITE] {
        if let Decision::Granted = cx.authorizer().decide(cx, function, site).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Insists on [`may_manage`].
pub(crate) async fn demand_manager(cx: &Context, site: &str) -> Result<()> {
    match may_manage(cx, site).await? {
        true => Ok(()),
        false => Err(Error::forbidden()),
    }
}

/// The ids among `users` that are not members of `site`.
pub(crate) async fn strangers(cx: &Context, site: &str, users: &[String]) -> Result<Vec<String>> {
    let named = db::among(cx, membership::Column::UserId.into_expr(), users)?;
    let members = membership::Entity::find()
        .select_only()
        .column(membership::Column::UserId)
        .filter(membership::Column::SiteId.eq(site))
        .filter(named);
    let members: Vec<String> = cx.db()?.select(&members).await?;
    let strangers = users.iter().filter(|it| !members.contains(it));
    Ok(strangers.cloned().collect())
}

/// One of `groups` that is no group of `site`, if there is one.
pub(crate) async fn unknown(cx: &Context, site: &str, groups: &[String]) -> Result<Option<String>> {
    let known = site_group::Entity::find()
        .select_only()
        .column(site_group::Column::Id)
        .filter(site_group::Column::SiteId.eq(site))
        .filter(db::among(cx, site_group::Column::Id.into_expr(), groups)?);
    let known: Vec<String> = cx.db()?.select(&known).await?;
    Ok(groups.iter().find(|it| !known.contains(it)).cloned())
}

/// The internal ids of those who are in the group `id`.
pub(crate) async fn members(cx: &Context, id: &str) -> Result<Vec<String>> {
    let rows: Vec<group_member::Model> = cx
        .db()?
        .select(&group_member::Entity::find().filter(group_member::Column::GroupId.eq(id)))
        .await?;
    Ok(rows.into_iter().map(|it| it.user_id).collect())
}

/// Returns the groups of `site`, each as its id and its title, by title.
pub(crate) async fn titles(cx: &Context, site: &str) -> Result<Vec<(String, String)>> {
    let groups = groups_of(cx, site).await?.into_iter();
    Ok(groups.map(|it| (it.id, it.title)).collect())
}

/// The ids of those groups of `site` that `user` is in.
pub(crate) async fn of_user(cx: &Context, site: &str, user: &str) -> Result<Vec<String>> {
    let db = cx.db()?;
    let mut sql = db.sql("SELECT g.id FROM site_group g JOIN group_member m ON m.group_id = g.id");
    sql.push(" WHERE g.site_id = ").bind(site);
    sql.push(" AND m.user_id = ").bind(user);
    db.rows(sql.into_statement(), db::columns).await
}

/// Puts `users`, who are in the site and not yet in the group, into `group`.
pub(crate) async fn add(cx: &Context, group: &SiteGroup, users: &[String]) -> Result<()> {
    if users.is_empty() {
        return Ok(());
    }
    let rows = users.iter().map(|it| {
        let row = group_member::Model {
            group_id: group.id.clone(),
            user_id: it.clone(),
            site_id: Some(group.site_id.clone()),
        };
        row.into_active_model()
    });
    group_member::Entity::insert_many(rows)
        .exec_without_returning(cx.db()?)
        .await?;
    Ok(())
}

/// Takes `users` out of `group`.
pub(crate) async fn remove(cx: &Context, group: &SiteGroup, users: &[String]) -> Result<()> {
    group_member::Entity::delete_many()
        .filter(group_member::Column::GroupId.eq(&group.id))
        .filter(group_member::Column::UserId.is_in(users))
        .exec(cx.db()?)
        .await?;
    Ok(())
}

/// Tells that somebody changed `group`, or who is in it.
pub(crate) fn emit_event(cx: &Context, group: &SiteGroup) {
    let reference = reference(&group.site_id, &group.id);
    cx.emit(MANAGES_GROUPS, reference, Some(&group.site_id));
}

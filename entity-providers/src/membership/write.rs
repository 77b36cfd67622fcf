//! Making, changing and ending memberships.

use entity_core::{Context, Create, Delete, Error, Result, Update};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, Func};
use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, IntoActiveModel, QueryFilter, QuerySelect,
};
use serde::Deserialize;

use super::{Membership, Memberships, query, rules, site_of};
use crate::authorizer;
use crate::db::sql::Sql;
use crate::db::{membership, user_account};

/// What a client sends to make somebody a member.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Draft {
    user_id: Option<String>,
    user_eid: Option<String>,
    location_reference: String,
    member_role: Option<String>,
    active: bool,
}

/// What a client sends to change a membership.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Changes {
    member_role: Option<String>,
    active: Option<bool>,
}

impl Create for Memberships {
    type Draft = Draft;

    fn site(draft: &Draft) -> Option<&str> {
        site_of(&draft.location_reference).ok()
    }

    async fn create(cx: &Context, draft: Draft) -> Result<Membership> {
        let site_id = site_of(&draft.location_reference)?.to_owned();
        let user_id = user(cx, &draft).await?;
        let role = match draft.member_role.filter(|it| !it.trim().is_empty()) {
            Some(role) => role,
            None => rules::joiner_role(cx, &site_id)
                .await?
                .ok_or_else(|| Error::field("memberRole", "is required in this site"))?,
        };
        check_role(cx, &site_id, &role).await?;
        rules::demand_may_give(cx, &site_id, &role).await?;
        let model = membership::Model {
            user_id: user_id.clone(),
            site_id: site_id.clone(),
            role,
            is_active: draft.active,
            is_provided: false,
            // Whoever gets a new site finds it at hand.
            is_pinned: true,
            pinned_position: None,
            created: cx.now().timestamp_millis(),
        };
        membership::Entity::insert(model.into_active_model())
            .exec_without_returning(cx.db()?)
            .await?;
        read_back(cx, &user_id, &site_id).await
    }
}

impl Update for Memberships {
    type Changes = Changes;

    async fn update(cx: &Context, current: Membership, changes: Changes) -> Result<Membership> {
        let mut model = membership::ActiveModel {
            is_active: Set(changes.active.unwrap_or(current.active)),
            ..Default::default()
        };
        if let Some(role) = changes.member_role {
            check_role(cx, &current.site_id, &role).await?;
            rules::demand_may_give(cx, &current.site_id, &role).await?;
            model.role = Set(role);
        }
        membership::Entity::update_many()
            .set(model)
            .filter(membership::Column::UserId.eq(&current.user_id))
            .filter(membership::Column::SiteId.eq(&current.site_id))
            .exec(cx.db()?)
            .await?;
        read_back(cx, &current.user_id, &current.site_id).await
    }
}

impl Delete for Memberships {
    /// Whoever is no member of the site is in none of its groups either.
    async fn delete(cx: &Context, current: Membership) -> Result<()> {
        let connection = cx.db()?;
        let mut sql = Sql::new(
            connection.get_database_backend(),
            "DELETE FROM group_member WHERE user_id = ",
        );
        sql.bind(current.user_id.as_str());
        sql.push(" AND group_id IN (SELECT id FROM site_group WHERE site_id = ")
            .bind(current.site_id.as_str());
        sql.push(")");
        connection.execute_raw(sql.into_statement()).await?;
        membership::Entity::delete_by_id((current.user_id, current.site_id))
            .exec(connection)
            .await?;
        Ok(())
    }
}

/// The internal id of the user that a draft names, one way or the other.
async fn user(cx: &Context, draft: &Draft) -> Result<String> {
    let given = |it: &Option<String>| it.clone().filter(|it| !it.is_empty());
    let (name, condition) = match (given(&draft.user_id), given(&draft.user_eid)) {
        (Some(id), _) => ("userId", user_account::Column::Id.eq(id)),
        (None, Some(eid)) => {
            let column = Expr::col(user_account::Column::Eid);
            let same = Expr::expr(Func::lower(column)).eq(eid.to_lowercase());
            ("userEid", same)
        }
        (None, None) => return Err(Error::field("userId", "is required, or `userEid`")),
    };
    let found: Option<String> = user_account::Entity::find()
        .select_only()
        .column(user_account::Column::Id)
        .filter(condition)
        .into_tuple()
        .one(cx.db()?)
        .await?;
    found.ok_or_else(|| Error::field(name, "must be that of a user"))
}

/// Insists that the site has the role.
async fn check_role(cx: &Context, site_id: &str, role: &str) -> Result<()> {
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

async fn read_back(cx: &Context, user_id: &str, site_id: &str) -> Result<Membership> {
    query::one(cx, user_id, site_id)
        .await?
        .ok_or_else(|| Error::internal("a membership that was just written is not there"))
}

//! Making, changing and ending memberships.

use entity_core::db::{Secret, Sql};
use entity_core::{Context, Create, Delete, Error, Need, Result, Update, gate};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::ExprTrait;
use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, IntoActiveModel, QueryFilter, QuerySelect,
};
use serde::Deserialize;

use super::location::Location;
use super::{Membership, Memberships, of_group, pending, rules};
use crate::people::authorizer::keep_maintained;
use crate::people::invitation::{self, Invited};
use crate::people::user;
use crate::storage::db::membership::{self, Origin};

/// The fields that name the user.
const USER_ID: &str = "userId";
const USER_EID: &str = "userEid";

/// The fields that a client sends to make somebody a member.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Draft {
    user_id: Option<String>,
    user_eid: Option<String>,
    location_reference: String,
    pub(super) member_role: Option<String>,
    pub(super) active: Option<bool>,
}

/// The fields that a client sends to change a membership.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Changes {
    member_role: Option<String>,
    active: Option<bool>,
}

impl Create for Memberships {
    type Draft = Draft;

    /// Only the site of a membership of a site is known by the draft alone.
    fn site(draft: &Draft) -> Option<&str> {
        match Location::parse(&draft.location_reference) {
            Ok(Location::Site(site)) => Some(site),
            _ => None,
        }
    }

    async fn create(cx: &Context, draft: Draft) -> Result<Membership> {
        let location = draft.location_reference.clone();
        match Location::parse(&location)? {
            Location::Site(site) => create_in_site(cx, site, draft).await,
            Location::Group { site, group } => of_group::create(cx, site, group, draft).await,
        }
    }
}

async fn create_in_site(cx: &Context, site: &str, draft: Draft) -> Result<Membership> {
    let need = Need::Site(rules::MANAGES_MEMBERS);
    gate::demand_in_site(cx, need, Some(site)).await?;
    if !rules::may_enrol(cx).await? {
        return invite(cx, site, draft).await;
    }
    let user = user(cx, &draft).await?;
    let role = rules::given_role(cx, site, draft.member_role).await?;
    let row = membership::Model {
        is_active: draft.active.unwrap_or(true),
        ..membership::Model::new(&user, site, &role, cx.now(), Origin::Mandate)
    };
    membership::Entity::insert(row.into_active_model())
        .exec_without_returning(cx.db()?)
        .await?;
    read_back(cx, &user, Location::Site(site)).await
}

/// Invites the user whom `draft` names, whether there is such a user or not.
async fn invite(cx: &Context, site: &str, draft: Draft) -> Result<Membership> {
    let (field, name) = named(&draft)?;
    let invited = Invited {
        field,
        name,
        role: rules::given_role(cx, site, draft.member_role).await?,
    };
    let made = invitation::invite(cx, site, vec![invited], Secret::default()).await?;
    let id = made.into_iter().next().unwrap_or_default();
    let made = pending::find(cx, &id, Location::Site(site)).await?;
    made.ok_or_else(|| Error::internal("an invitation that was just written is not there"))
}

impl Update for Memberships {
    type Changes = Changes;

    async fn update(cx: &Context, current: Membership, changes: Changes) -> Result<Membership> {
        if current.group_id.is_some() {
            of_group::check_unchanged(&current, changes.member_role, changes.active)?;
            return Ok(current);
        }
        let mut model = membership::ActiveModel {
            is_active: Set(changes.active.unwrap_or(current.active)),
            ..Default::default()
        };
        if let Some(role) = changes.member_role {
            rules::check_role(cx, &current.site_id, &role).await?;
            rules::demand_may_give(cx, &current.site_id, &role).await?;
            model.role = Set(role);
        }
        keep_maintained(cx, &current.site_id, set(cx, &current, model)).await?;
        read_back(cx, &current.user_id, Location::Site(&current.site_id)).await
    }
}

/// Changes the row of `current`, a membership of a site.
pub(super) async fn set(
    cx: &Context,
    current: &Membership,
    row: membership::ActiveModel,
) -> Result<()> {
    membership::Entity::update_many()
        .set(row)
        .filter(membership::Column::UserId.eq(&current.user_id))
        .filter(membership::Column::SiteId.eq(&current.site_id))
        .exec(cx.db()?)
        .await?;
    Ok(())
}

impl Delete for Memberships {
    async fn delete(cx: &Context, current: Membership) -> Result<()> {
        match (&current.group_id, &current.invitation) {
            (Some(_), _) => of_group::delete(cx, &current).await,
            (None, Some(id)) => invitation::end(cx, id).await.map(|_was_there| ()),
            (None, None) => end(cx, &current).await,
        }
    }
}

/// Ends a membership of a site. Whoever is no member of the site is in none of its groups either.
pub(super) async fn end(cx: &Context, current: &Membership) -> Result<()> {
    let removal = async {
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
        membership::Entity::delete_by_id((current.user_id.clone(), current.site_id.clone()))
            .exec(connection)
            .await?;
        Ok(())
    };
    keep_maintained(cx, &current.site_id, removal).await
}

/// The internal id of the user that a draft names, one way or the other.
pub(super) async fn user(cx: &Context, draft: &Draft) -> Result<String> {
    let (field, name) = named(draft)?;
    let condition = if field == USER_ID {
        user::user::Column::Id.eq(name)
    } else {
        user::lower(user::user::Column::Eid).eq(name.to_lowercase())
    };
    let found: Option<String> = cx
        .db()?
        .first(
            user::user::Entity::find()
                .select_only()
                .column(user::user::Column::Id)
                .filter(condition),
        )
        .await?;
    found.ok_or_else(|| Error::field(field, "must be that of a user"))
}

/// The field in which a draft names the user, and the name.
pub(super) fn named(draft: &Draft) -> Result<(&'static str, String)> {
    let given = |it: &Option<String>| it.clone().filter(|it| !it.is_empty());
    match (given(&draft.user_id), given(&draft.user_eid)) {
        (Some(id), _) => Ok((USER_ID, id)),
        (None, Some(eid)) => Ok((USER_EID, eid)),
        (None, None) => Err(Error::field(USER_ID, "is required, or `userEid`")),
    }
}

/// The membership that was just written.
pub(super) async fn read_back(
    cx: &Context,
    user: &str,
    location: Location<'_>,
) -> Result<Membership> {
    super::one(cx, user, location)
        .await?
        .ok_or_else(|| Error::internal("a membership that was just written is not there"))
}

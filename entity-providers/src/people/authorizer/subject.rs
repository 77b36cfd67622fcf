//! The subject of a decision: the account, the memberships and the groups of a user.

use std::collections::{HashMap, HashSet};

use entity_core::{Context, Result};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};

use super::SiteFacts;
use crate::people::site::id::ADMIN_SITE;
use crate::people::user::user;
use crate::storage::db::{group_member, membership};

/// The subject of a decision: the account, the memberships and the groups of a user.
#[derive(Clone, Debug, Default)]
pub struct Subject {
    /// True if there is such a user.
    pub is_known: bool,
    /// True if the account is shut: then the user holds nothing anywhere.
    pub is_disabled: bool,
    /// The type of the account, such as `registered` or `maintain`.
    pub account_type: String,
    /// True if the user may do everything.
    pub is_superuser: bool,
    /// The memberships of the user, by site.
    pub members: HashMap<String, Member>,
    /// The groups that the user is in, of all sites.
    pub groups: HashSet<String>,
}

/// The membership of a user in a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The role.
    pub role: String,
    /// True if it counts.
    pub is_active: bool,
}

impl Subject {
    /// Returns the role of the user in the site, if the user is a member whose membership counts.
    pub fn role_in(&self, site: &str) -> Option<&str> {
        let member = self.members.get(site).filter(|it| it.is_active);
        member.map(|it| it.role.as_str())
    }
}

/// Reads the subject for the user `id`; `admin` is the administration site.
pub(super) async fn load(cx: &Context, id: &str, admin: Option<&SiteFacts>) -> Result<Subject> {
    let Some((is_disabled, account_type)) = account(cx, id).await? else {
        return Ok(Subject::default());
    };
    let members = members(cx, id).await?;
    let is_superuser = !is_disabled
        && members
            .get(ADMIN_SITE)
            .zip(admin)
            .is_some_and(|(member, admin)| {
                member.is_active && admin.role_holds(&member.role, "site.upd")
            });
    Ok(Subject {
        is_known: true,
        is_disabled,
        account_type,
        is_superuser,
        members,
        groups: groups(cx, id).await?,
    })
}

/// Returns whether the account is shut, and its type.
async fn account(cx: &Context, id: &str) -> Result<Option<(bool, String)>> {
    let statement = user::Entity::find()
        .select_only()
        .column(user::Column::Disabled)
        .column(user::Column::Type)
        .filter(user::Column::Id.eq(id));
    cx.db()?.first(statement).await
}

async fn members(cx: &Context, id: &str) -> Result<HashMap<String, Member>> {
    use membership::Column::{IsActive, Role, SiteId, UserId};
    let rows: Vec<(String, String, bool)> = cx
        .db()?
        .select(
            &membership::Entity::find()
                .select_only()
                .columns([SiteId, Role, IsActive])
                .filter(UserId.eq(id)),
        )
        .await?;
    Ok(rows
        .into_iter()
        .map(|(site, role, is_active)| (site, Member { role, is_active }))
        .collect())
}

async fn groups(cx: &Context, id: &str) -> Result<HashSet<String>> {
    let rows: Vec<String> = cx
        .db()?
        .select(
            &group_member::Entity::find()
                .select_only()
                .column(group_member::Column::GroupId)
                .filter(group_member::Column::UserId.eq(id)),
        )
        .await?;
    Ok(rows.into_iter().collect())
}

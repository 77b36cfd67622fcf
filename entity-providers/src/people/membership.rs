//! `/direct/membership`: the members of sites and groups, with their roles.
//!
//! Users see what they themselves belong to; the members of a site are for those who hold its roster, and those
//! of its groups also for those who change them. A member may choose not to be seen: then only those see the
//! membership who hold `roster.viewhidden` besides. Whoever may change members still gives nobody a role that
//! holds more than their own: `rules` says how. Nobody takes away the last member who looks after a site.
//!
//! Whoever may change members and does not hold the account function `user.enrol` invites people instead: what is
//! answered then looks like a membership that does not count yet, and tells what was typed.

mod actions;
mod enrol;
pub(crate) mod join;
mod location;
pub(crate) mod named;
pub(crate) mod of_group;
mod pending;
pub mod presence;
mod provider;
pub mod roster;
pub(crate) mod rules;
mod table;
#[cfg(test)]
mod tests;
mod wanted;
mod write;

use entity_core::db::{self, RowPolicy};
use entity_core::wire::Millis;
use entity_core::{Context, Entity, Result, Version, standard};
use sea_orm::sea_query::ExprTrait as _;
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};
use serde::Serialize;

use self::location::Location;
use crate::people::group::{self, MANAGES_GROUPS};
use crate::people::user::{FULL_NAME, FULL_NAME_FOLDED, SORT_NAME};

/// The provider of memberships.
#[derive(Clone, Copy, Debug)]
pub struct Memberships;

/// A user as a member of a site, or of a group in it.
#[standard(facts)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(table = "member", source = MEMBERS, sight = SIGHT)]
#[entity(
    join = "user_account u ON u.id = this.user_id",
    join = "site s ON s.id = this.site_id"
)]
#[entity(version = Self::to_version, listed("memberRole", "userEmail", "siteId"))]
#[entity(complete = Self::redact, removal = Self::removal_of, layout = people)]
pub struct Membership {
    /// The user and the site, or the group: `user::site:site`, `user::group:group`.
    #[entity(id)]
    pub id: String,
    /// The internal id of the user.
    #[entity(owner, on_create, references = "user", label = "Person")]
    pub user_id: String,
    /// The external id of the user; empty for those who may not know it.
    #[entity(sql = "u.eid", on_create, label = "User name")]
    #[entity(hint = "The name with which the person logs in.")]
    pub user_eid: String,
    /// The external id again, as people are shown it.
    #[entity(computed = |it, _| it.user_eid.clone(), for_programs)]
    pub user_display_id: String,
    /// The name of the user.
    #[entity(title, sql = FULL_NAME, folded = FULL_NAME_FOLDED, column, search)]
    #[entity(label = "Name")]
    pub user_display_name: String,
    /// The first name of the user.
    #[entity(sql = "u.first_name", for_programs)]
    pub user_first_name: String,
    /// The last name of the user.
    #[entity(sql = "u.last_name", for_programs)]
    pub user_last_name: String,
    /// The name as lists are sorted by it.
    #[entity(sql = SORT_NAME, column, label = "Last name first")]
    pub user_sort_name: String,
    /// The e-mail address of the user; empty for those who may not know it.
    #[entity(sql = "u.email", email, label = "E-mail", fact)]
    pub user_email: String,
    /// The role in the site, in its groups too; without one, that of those who join by themselves.
    #[entity(optional, column = "role", label = "Role", offered = "role", fact)]
    pub member_role: String,
    /// True if the membership of the site counts.
    #[entity(column = "is_active", default = "true")]
    pub active: bool,
    /// True if the student system made it.
    #[entity(column = "is_provided", read_only, label = "From the student system")]
    pub provided: bool,
    /// True if the user does not want to be seen in the site.
    #[entity(column = "is_hidden", read_only, uncompared, badge = warn)]
    pub hidden: bool,
    /// The reference of the site, `/site/site`, or of the group, `/site/site/group/group` or `/group/group`.
    #[entity(required, on_create, computed = Self::to_reference, for_programs)]
    pub location_reference: String,
    /// The site.
    #[entity(site, read_only, references = "site")]
    pub site_id: String,
    /// The site's type.
    #[entity(sql = "s.type", for_programs)]
    pub site_type: Option<String>,
    /// When the user last logged in, for those who may know the e-mail address.
    #[entity(sql = "u.last_login", label = "Last login")]
    pub last_login_time: Option<Millis>,
    /// The group, if it is a membership of one.
    #[serde(skip)]
    #[entity(hidden)]
    pub(crate) group_id: Option<String>,
    /// True if the roster may tell more than the name: see [`Origin`](crate::storage::db::membership::Origin).
    #[serde(skip)]
    #[entity(hidden)]
    pub(crate) is_told: bool,
    /// The invitation, if it is none yet but that.
    #[serde(skip)]
    #[entity(skip)]
    pub(crate) invitation: Option<String>,
}

/// The members of sites and of groups. A group's member is what they are in the site, and nobody but people puts anybody
/// into a group.
const MEMBERS: &str = "SELECT m.user_id || '::site:' || m.site_id AS id, m.user_id, m.site_id, \
    CAST(NULL AS TEXT) AS group_id, m.role, m.is_active, m.is_provided, m.is_hidden, \
    m.origin IN ('accepted', 'mandate', 'provided') AS is_told FROM membership m \
    UNION ALL SELECT gm.user_id || '::group:' || gm.group_id, m.user_id, m.site_id, \
    gm.group_id, m.role, m.is_active, FALSE, m.is_hidden, \
    m.origin IN ('accepted', 'mandate', 'provided') FROM group_member gm \
    JOIN site_group g ON g.id = gm.group_id \
    JOIN membership m ON m.user_id = gm.user_id AND m.site_id = g.site_id";

/// Everybody sees what they belong to themselves; others are for those who hold the roster, and those in a group also for
/// those who put them there. Who does not want to be seen is for few of them.
const SIGHT: RowPolicy = RowPolicy::Any(&[
    RowPolicy::Own,
    RowPolicy::All(&[
        RowPolicy::Any(&[
            RowPolicy::Holds(rules::ROSTER[0]),
            RowPolicy::Holds(rules::ROSTER[1]),
            RowPolicy::All(&[
                RowPolicy::Sql("this.group_id IS NOT NULL"),
                RowPolicy::Any(&[
                    RowPolicy::Holds(MANAGES_GROUPS),
                    RowPolicy::Holds(rules::MANAGES_SITE),
                ]),
            ]),
        ]),
        RowPolicy::Any(&[
            RowPolicy::Sql("NOT this.is_hidden"),
            RowPolicy::Holds(rules::SEES_HIDDEN),
        ]),
    ]),
]);

impl Membership {
    fn to_reference(&self, _cx: &Context) -> String {
        match &self.group_id {
            None => format!("/site/{}", self.site_id),
            Some(group) => group::reference(&self.site_id, group),
        }
    }

    /// Takes out what the caller may not know of the members.
    async fn redact(cx: &Context, memberships: &mut [Self]) -> Result<()> {
        for membership in memberships {
            let known = rules::known(cx, membership).await?;
            if !known.eid {
                membership.user_eid.clear();
                membership.user_display_id.clear();
            }
            if !known.email {
                membership.user_email.clear();
                membership.last_login_time = None;
            }
        }
        Ok(())
    }

    /// Returns what it is called to end the membership.
    fn removal_of(&self, caller: Option<&str>) -> &'static str {
        match (&self.group_id, caller == Some(&*self.user_id)) {
            (None, true) => "Leave the course",
            (None, false) => "Remove from the course",
            (Some(_), true) => "Leave the group",
            (Some(_), false) => "Remove from the group",
        }
    }

    /// Leaves out everything about the user but the id.
    fn strip(&mut self) {
        for text in [
            &mut self.user_eid,
            &mut self.user_display_id,
            &mut self.user_display_name,
            &mut self.user_first_name,
            &mut self.user_last_name,
            &mut self.user_sort_name,
            &mut self.user_email,
        ] {
            text.clear();
        }
        self.last_login_time = None;
    }

    fn to_version(&self) -> Version {
        Version::of(&(
            &self.id,
            (&self.user_eid, &self.user_email),
            (&self.user_first_name, &self.user_last_name),
            (&self.member_role, self.active, self.provided, self.hidden),
            &self.site_type,
            self.last_login_time.map(|it| it.0),
        ))
    }
}

/// Returns the membership of `user` at `location`, whoever asks.
async fn one(cx: &Context, user: &str, location: Location<'_>) -> Result<Option<Membership>> {
    use self::membership::Column::{GroupId, SiteId, UserId};
    let place = match location {
        Location::Site(site) => SiteId.eq(site).and(GroupId.is_null()),
        Location::Group { group, .. } => GroupId.eq(group),
    };
    let named = membership::Entity::find().filter(UserId.eq(user).and(place));
    Ok(db::find(cx, named).await?.pop())
}

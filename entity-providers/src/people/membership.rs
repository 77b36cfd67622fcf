//! `/direct/membership`: who belongs to which site or group, and as what.
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
mod join;
mod location;
mod named;
mod of_group;
mod pending;
pub mod presence;
mod query;
pub mod roster;
mod rules;
#[cfg(test)]
mod tests;
mod wanted;
mod write;

use entity_core::db::Counted;
use entity_core::db::archive::Archived;
use entity_core::wire::Millis;
use entity_core::{
    Access, Context, Entity, List, Need, Operation, Page, Permit, Provider, Read, Result, Scope,
    Search, Version, gate,
};
use serde::Serialize;

use self::location::Location;
use self::wanted::Wanted;

pub(crate) use self::join::{admit, become_member, is_member};
pub(crate) use self::named::{active_members, members_named};
pub(crate) use self::of_group::put_into as put_into_group;
pub(crate) use self::rules::{MANAGES_MEMBERS, may_make_as};
pub(crate) use self::write::given_role;

/// The provider of memberships.
#[derive(Clone, Copy, Debug)]
pub struct Memberships;

entity_core::register!(Memberships);

/// A user as a member of a site, or of a group in it.
#[expect(
    clippy::struct_excessive_bools,
    reason = "these are the fields that clients read"
)]
#[derive(Clone, Debug, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(version = Self::to_version, listed("memberRole", "userEmail", "siteId"))]
#[entity(removal = Self::removal_of, layout = people)]
pub struct Membership {
    /// The user and the site, or the group: `user::site:site`, `user::group:group`.
    #[entity(id, column = "id")]
    pub id: String,
    /// The internal id of the user.
    #[entity(owner, on_create, column, references = "user", label = "Person")]
    pub user_id: String,
    /// The external id of the user; empty for those who may not know it.
    #[entity(on_create, label = "User name")]
    #[entity(hint = "The name with which the person logs in.")]
    pub user_eid: String,
    /// The external id again, as people are shown it.
    #[entity(for_programs)]
    pub user_display_id: String,
    /// The name of the user.
    #[entity(title, column = "display_name", label = "Name")]
    pub user_display_name: String,
    /// The first name of the user.
    #[entity(for_programs)]
    pub user_first_name: String,
    /// The last name of the user.
    #[entity(for_programs)]
    pub user_last_name: String,
    /// The name as lists are sorted by it.
    #[entity(column = "sort_name", label = "Last name first")]
    pub user_sort_name: String,
    /// The e-mail address of the user; empty for those who may not know it.
    #[entity(email, label = "E-mail", fact)]
    pub user_email: String,
    /// The role in the site, in its groups too; without one, that of those who join by themselves.
    #[entity(writable, column = "role", label = "Role", offered = "role", fact)]
    pub member_role: String,
    /// True if the membership of the site counts.
    #[entity(writable, column = "is_active", default = "true")]
    pub active: bool,
    /// True if the student system made it.
    #[entity(column = "is_provided", label = "From the student system")]
    pub provided: bool,
    /// True if the user does not want to be seen in the site.
    #[entity(badge = warn)]
    pub hidden: bool,
    /// The reference of the site, `/site/site`, or of the group, `/site/site/group/group` or `/group/group`.
    #[entity(required, on_create, for_programs)]
    pub location_reference: String,
    /// The site.
    #[entity(site, column, references = "site")]
    pub site_id: String,
    /// The site's type.
    #[entity(for_programs)]
    pub site_type: Option<String>,
    /// When the user last logged in, for those who may know the e-mail address.
    #[entity(label = "Last login")]
    pub last_login_time: Option<Millis>,
    /// The group, if it is a membership of one.
    #[serde(skip)]
    #[entity(skip)]
    pub(crate) group_id: Option<String>,
    /// True if the roster may tell more than the name: see [`Origin`](crate::storage::db::membership::Origin).
    #[serde(skip)]
    #[entity(skip)]
    pub(crate) is_told: bool,
    /// The invitation, if it is none yet but that.
    #[serde(skip)]
    #[entity(skip)]
    pub(crate) invitation: Option<String>,
}

impl Membership {
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

impl Provider for Memberships {
    type Entity = Membership;

    const PREFIX: &'static str = "membership";
    const TOOL: &'static str = "sakai.siteinfo";
    const PLURAL: Option<&'static str> = Some("People");
    const SINGULAR: Option<&'static str> = Some("Person");

    const ACCESS: Access = Access {
        read: Need::Session,
        // What it takes depends on whether it is one of a site or of a group: `permits` knows.
        create: Need::Session,
        update: Need::Site(rules::MANAGES_MEMBERS),
        // Members of a joinable site may leave it: `permits` knows which it is.
        delete: Need::Session,
    };
    const COUNTED: &'static [Counted] = &[
        Counted::new("membership", &["role"]).within("site_id"),
        Counted::new("group_member", &[]).within("site_id"),
    ];
    const ARCHIVED: &'static [Archived] = crate::people::site::archive::OF_MEMBERS;

    async fn permits(cx: &Context, entity: &Membership, operation: Operation) -> Result<Permit> {
        match operation {
            Operation::Read => rules::may_see(cx, entity).await,
            Operation::Update if entity.invitation.is_some() => Ok(Permit::Forbidden),
            Operation::Create | Operation::Update => rules::may_make(cx, entity).await,
            Operation::Delete => rules::may_end(cx, entity).await,
        }
    }

    async fn offers_creation(cx: &Context, site: Option<&str>) -> Result<bool> {
        for function in [rules::MANAGES_MEMBERS, crate::people::group::MANAGES_GROUPS] {
            let is_held = match site {
                Some(site) => gate::holds(cx, function, site).await?,
                None => cx.authorizer().scope(cx, function).await? != Scope::Sites(Vec::new()),
            };
            if is_held {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Read for Memberships {
    async fn read(cx: &Context, id: &str) -> Result<Option<Membership>> {
        let Some((user, location)) = Location::of_id(id) else {
            return Ok(None);
        };
        match query::one(cx, user, location).await? {
            Some(membership) => Ok(Some(membership)),
            None => pending::find(cx, user, location).await,
        }
    }
}

impl List for Memberships {
    const PARAMETERS: &'static [(&'static str, &'static str)] = &[
        (
            "locationReference",
            "the members of this site or group: `/site/site`, `/group/group`",
        ),
        ("siteId", "the members of this site"),
        ("groupId", "the members of this group"),
        ("userId", "the memberships of this user"),
        ("role", "only those who have this role"),
        ("roleId", "the same"),
        (
            "includeSites",
            "false: without the members of sites; true unless said",
        ),
        (
            "includeGroups",
            "true: with the members of groups; false unless said",
        ),
        ("includeMemberDetails", "true: they are always there"),
    ];

    const ORDER: &'static str = "userSortName,id";

    async fn list(cx: &Context, search: &Search) -> Result<Page<Membership>> {
        query::list(cx, search, &Wanted::of_search(cx, search).await?).await
    }

    async fn count(cx: &Context, search: &Search) -> Result<Option<u64>> {
        let count = query::count(cx, search, &Wanted::of_search(cx, search).await?).await?;
        Ok(Some(count))
    }
}

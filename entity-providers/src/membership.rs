//! `/direct/membership`: who belongs to which site, and as what.
//!
//! Users see what they themselves belong to; the members of a site are for those who hold its roster.
//! Whoever may change members still gives nobody a role that holds more than their own: `rules` says how.

mod actions;
mod query;
mod rules;
#[cfg(test)]
mod tests;
mod write;

use entity_core::wire::Millis;
use entity_core::{
    Access, Context, Entity, Error, List, Need, Operation, Page, Permit, Provider, Read, Result,
    Search, Version,
};
use serde::Serialize;

use self::query::Wanted;

/// The provider of memberships.
#[derive(Clone, Copy, Debug)]
pub struct Memberships;

entity_core::register!(Memberships);

/// A user as a member of a site.
#[derive(Clone, Debug, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(version = Self::to_version)]
pub struct Membership {
    /// The user and the site: `user::site:site`.
    #[entity(id, column = "id")]
    pub id: String,
    /// The internal id of the user.
    #[entity(owner, on_create, column, references = "user")]
    pub user_id: String,
    /// The external id of the user; empty for those who may not know it.
    #[entity(on_create)]
    pub user_eid: String,
    /// The external id again, as people are shown it.
    pub user_display_id: String,
    /// The name of the user.
    #[entity(title, column = "display_name")]
    pub user_display_name: String,
    /// The first name of the user.
    pub user_first_name: String,
    /// The last name of the user.
    pub user_last_name: String,
    /// The name as lists are sorted by it.
    #[entity(column = "sort_name")]
    pub user_sort_name: String,
    /// The e-mail address of the user; empty for those who may not know it.
    #[entity(email)]
    pub user_email: String,
    /// The role in the site; without one, that of those who join by themselves.
    #[entity(writable, column = "role")]
    pub member_role: String,
    /// Whether the membership counts.
    #[entity(writable, column = "is_active", default = "true")]
    pub active: bool,
    /// Whether the student system made it.
    #[entity(column = "is_provided")]
    pub provided: bool,
    /// The site's reference: `/site/site`.
    #[entity(required, on_create)]
    pub location_reference: String,
    /// The site.
    #[entity(site, column, references = "site")]
    pub site_id: String,
    /// The site's type.
    pub site_type: Option<String>,
    /// When the user last logged in, for those who may know the e-mail address.
    pub last_login_time: Option<Millis>,
    /// Whether members of the site may come and go by themselves.
    #[serde(skip)]
    #[entity(skip)]
    pub(crate) is_joinable: bool,
}

impl Membership {
    fn to_version(&self) -> Version {
        Version::of(&(
            &self.id,
            (&self.user_eid, &self.user_email),
            (&self.user_first_name, &self.user_last_name),
            (&self.member_role, self.active, self.provided),
            &self.site_type,
            self.last_login_time.map(|it| it.0),
        ))
    }
}

impl Provider for Memberships {
    type Entity = Membership;

    const PREFIX: &'static str = "membership";

    const ACCESS: Access = Access {
        read: Need::Session,
        create: Need::Site("site.upd.site.mbrshp"),
        update: Need::Site("site.upd.site.mbrshp"),
        // Members of a joinable site may leave it: `permits` knows which it is.
        delete: Need::Session,
    };

    async fn permits(cx: &Context, entity: &Membership, operation: Operation) -> Result<Permit> {
        match operation {
            Operation::Read => rules::may_see(cx, entity).await,
            Operation::Create | Operation::Update => {
                rules::may_give(cx, &entity.site_id, &entity.member_role).await
            }
            Operation::Delete => rules::may_end(cx, entity).await,
        }
    }
}

impl Read for Memberships {
    async fn read(cx: &Context, id: &str) -> Result<Option<Membership>> {
        match id.split_once("::site:") {
            Some((user, site)) => query::one(cx, user, site).await,
            // Groups have no members of their own here.
            None => Ok(None),
        }
    }
}

impl List for Memberships {
    const PARAMETERS: &'static [(&'static str, &'static str)] = &[
        (
            "locationReference",
            "the members of this site: `/site/site`",
        ),
        ("siteId", "the members of this site"),
        ("userId", "the memberships of this user"),
        ("role", "only those who have this role"),
        ("roleId", "the same"),
        ("includeSites", "true: there are no others"),
        ("includeGroups", "false: there are none"),
        ("includeMemberDetails", "true: they are always there"),
    ];

    const ORDER: &'static str = "userSortName,id";

    async fn list(cx: &Context, search: &Search) -> Result<Page<Membership>> {
        query::list(cx, search, &wanted(cx, search).await?).await
    }

    async fn count(cx: &Context, search: &Search) -> Result<Option<u64>> {
        let count = query::count(cx, search, &wanted(cx, search).await?).await?;
        Ok(Some(count))
    }
}

/// Which memberships the type's own parameters ask for.
async fn wanted<'a>(cx: &'a Context, search: &'a Search) -> Result<Wanted<'a>> {
    if search.parameter("includeSites") == Some("false") {
        return Err(Error::field("includeSites", "must not be false"));
    }
    let named = match search.parameter("locationReference") {
        Some(reference) => Some(site_of(reference)?),
        None => search.parameter("siteId"),
    };
    match (named, search.parameter("userId")) {
        (Some(site), user) => {
            rules::demand_roster(cx, site).await?;
            Ok(Wanted::OfSite { site, user })
        }
        (None, Some(user)) if Some(user) != cx.caller().user_id() => {
            let scope = rules::rosters(cx).await?;
            Ok(Wanted::OfUser { user, scope })
        }
        (None, _) => Ok(Wanted::Own(cx.user_id()?)),
    }
}

/// The site that a reference names.
fn site_of(reference: &str) -> Result<&str> {
    reference
        .strip_prefix("/site/")
        .filter(|it| !it.is_empty() && !it.contains('/'))
        .ok_or_else(|| Error::field("locationReference", "must be `/site/` and the id of a site"))
}

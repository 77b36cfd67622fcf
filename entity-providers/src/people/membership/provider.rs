//! The provider of memberships: what may be done with them, and by whom.

use entity_core::db::archive::Archived;
use entity_core::db::{self, Counted};
use entity_core::{
    Access, Context, List, Need, Operation, Page, Permit, Provider, Read, Result, Scope, Search,
    gate,
};

use super::location::Location;
use super::rules::{self, MANAGES_MEMBERS};
use super::wanted::Wanted;
use super::{Membership, Memberships, one, pending};
use crate::people::group::MANAGES_GROUPS;

entity_core::register!(Memberships);

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
            Operation::Read if entity.invitation.is_some() => Ok(
                match gate::holds(cx, MANAGES_MEMBERS, &entity.site_id).await? {
                    true => Permit::Allowed,
                    false => Permit::Hidden,
                },
            ),
            Operation::Read => db::permits(cx, entity, operation).await,
            Operation::Update if entity.invitation.is_some() => Ok(Permit::Forbidden),
            Operation::Create | Operation::Update => rules::may_make(cx, entity).await,
            Operation::Delete => rules::may_end(cx, entity).await,
        }
    }

    async fn offers_creation(cx: &Context, site: Option<&str>) -> Result<bool> {
        for function in [MANAGES_MEMBERS, MANAGES_GROUPS] {
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
        match one(cx, user, location).await? {
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
        db::list(cx, &Wanted::of_search(cx, search).await?.search(search)).await
    }

    async fn count(cx: &Context, search: &Search) -> Result<Option<u64>> {
        let search = Wanted::of_search(cx, search).await?.search(search);
        db::count::<Membership>(cx, &search).await.map(Some)
    }
}

//! The memberships that a list is about. The row policy of the type decides which of them the caller sees.

use entity_core::schema::{Field, Kind};
use entity_core::search::FieldOf;
use entity_core::{Arguments, Context, Error, Result, Scope, Search, flag};

use super::location::Location;
use super::{Membership, rules};
use crate::people::group;

/// The group of a membership, which clients do not see.
static GROUP: Field = Field::new("", Kind::Text(99), "").column("group_id");

/// The memberships that a list is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a> {
    /// Of this user only.
    user: Option<&'a str>,
    /// In this site, or in its groups; or in this group.
    place: Option<Location<'a>>,
    kinds: Kinds,
}

impl<'a> Wanted<'a> {
    /// The members of `site`.
    pub(super) fn of_all(site: &'a str) -> Self {
        Self {
            user: None,
            place: Some(Location::Site(site)),
            kinds: Kinds::SITES,
        }
    }

    /// The members of the groups of `site`.
    pub(super) fn of_groups(site: &'a str) -> Self {
        Self {
            kinds: Kinds::GROUPS,
            ..Self::of_all(site)
        }
    }

    /// Returns the search for the members of the group `id`, said to be in `site` or anywhere: for those who hold the
    /// roster of its site, and for those who change who is in its groups.
    pub(super) async fn of_group(cx: &Context, site: Option<&'a str>, id: &'a str) -> Result<Self> {
        let found = group::find(cx, site, id).await?;
        rules::demand_group_roster(cx, &found.site_id).await?;
        Ok(Self {
            user: None,
            place: Some(Location::Group { site, group: id }),
            kinds: Kinds::GROUPS,
        })
    }

    /// Returns the wish that the type's own parameters express: the memberships of the caller, unless they name a place or
    /// a user.
    pub(super) async fn of_search(cx: &'a Context, search: &'a Search) -> Result<Self> {
        let kinds = Kinds::of(|name| search.parameter(name))?;
        let user = search.parameter("userId");
        let place = named(search)?;
        match place {
            Some(Location::Group { site, group }) => {
                let of_group = Self::of_group(cx, site, group).await?;
                return Ok(Self { user, ..of_group });
            }
            Some(Location::Site(site)) if kinds.has_sites => rules::demand_roster(cx, site).await?,
            Some(Location::Site(site)) => rules::demand_group_roster(cx, site).await?,
            None => return Self::of_user(cx, user, kinds),
        }
        Ok(Self { user, place, kinds })
    }

    /// The memberships of the user whom the path names; without one, of the caller.
    pub(super) fn of_arguments(cx: &'a Context, arguments: &'a Arguments) -> Result<Self> {
        let user = arguments.optional("userId");
        Self::of_user(cx, user, Kinds::of(|name| arguments.parameter(name))?)
    }

    /// The memberships of `user`; without one, of the caller.
    fn of_user(cx: &'a Context, user: Option<&'a str>, kinds: Kinds) -> Result<Self> {
        Ok(Self {
            user: Some(user.map_or_else(|| cx.user_id(), Ok)?),
            place: None,
            kinds,
        })
    }

    /// Returns `search`, narrowed to what is wanted and to the role that existing clients ask for by parameters of their
    /// own.
    pub(super) fn search(&self, search: &Search) -> Search {
        let (member, group) = (Membership::FIELD, FieldOf::<String>::new(&GROUP));
        let mut search = search.clone();
        let role = search.parameter("role");
        let role = role.or_else(|| search.parameter("roleId"));
        if let Some(role) = role.map(ToOwned::to_owned) {
            search.narrow(member.member_role.eq(role));
        }
        if let Some(user) = self.user {
            search.narrow(member.user_id.eq(user));
        }
        match self.place {
            Some(Location::Site(site)) => search.narrow(member.site_id.eq(site)),
            Some(Location::Group { group: id, .. }) => search.narrow(group.eq(id)),
            None => {}
        }
        match self.kinds {
            Kinds::SITES => search.narrow(group.is_null()),
            Kinds::GROUPS => search.narrow(group.is_not_null()),
            _ => {}
        }
        search.scope = Scope::Everything;
        search
    }
}

/// Which kinds of memberships are wanted, one at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kinds {
    has_sites: bool,
    has_groups: bool,
}

impl Kinds {
    const SITES: Self = Self {
        has_sites: true,
        has_groups: false,
    };
    const GROUPS: Self = Self {
        has_sites: false,
        has_groups: true,
    };

    fn of<'q>(parameter: impl Fn(&str) -> Option<&'q str>) -> Result<Self> {
        let sent = |name: &'static str, or_else: bool| {
            parameter(name).map_or(Ok(or_else), |it| flag(name, it))
        };
        let kinds = Self {
            has_sites: sent("includeSites", true)?,
            has_groups: sent("includeGroups", false)?,
        };
        match kinds.has_sites || kinds.has_groups {
            true => Ok(kinds),
            false => Err(Error::bad_request(
                "nothing is left: `includeSites` and `includeGroups` can't both be false",
            )),
        }
    }
}

/// The site or group that the type's own parameters name.
fn named(search: &Search) -> Result<Option<Location<'_>>> {
    let group = |group| Location::Group { site: None, group };
    Ok(match search.parameter("locationReference") {
        Some(reference) => Some(Location::parse(reference)?),
        None => match search.parameter("groupId") {
            Some(id) => Some(group(id)),
            None => search.parameter("siteId").map(Location::Site),
        },
    })
}

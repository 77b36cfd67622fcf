//! Which memberships a list is about, and which of them the caller may see.

use entity_core::db::Sql;
use entity_core::{Arguments, Context, Error, Result, Scope, Search, flag};

use super::location::Location;
use super::rules;
use crate::people::group;

/// Which memberships are wanted.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted<'a> {
    /// Of this user only.
    pub(super) user: Option<&'a str>,
    /// In sites, and in which.
    pub(super) sites: Option<Place<'a>>,
    /// In groups, and in which.
    pub(super) groups: Option<Place<'a>>,
    /// Of whom, as far as they do not want to be seen.
    pub(super) sight: Sight<'a>,
}

/// Sites or groups.
#[derive(Clone, Debug)]
pub(super) enum Place<'a> {
    /// All of them.
    Anywhere,
    /// This site, or the groups in it.
    Site(&'a str),
    /// This group.
    Group(&'a str),
    /// These sites, or the groups in them.
    Within(Scope),
}

/// Whom the caller sees of those who do not want to be seen.
#[derive(Clone, Debug, Default)]
pub(super) enum Sight<'a> {
    /// Everybody.
    #[default]
    Everybody,
    /// The caller, and everybody in these sites.
    Some { caller: &'a str, sites: Vec<String> },
}

impl Place<'_> {
    pub(super) fn write(&self, sql: &mut Sql) -> Result<()> {
        match self {
            Self::Anywhere | Self::Within(Scope::Everything) => {
                sql.push("1 = 1");
            }
            Self::Site(site) => {
                sql.push("m.site_id = ").bind(*site);
            }
            Self::Group(group) => {
                sql.push("gm.group_id = ").bind(*group);
            }
            Self::Within(Scope::Sites(sites)) => {
                sql.push("m.site_id").bind_list(sites)?;
            }
        }
        Ok(())
    }
}

impl<'a> Sight<'a> {
    /// Returns the hidden members that the caller may see.
    async fn of(cx: &'a Context) -> Result<Self> {
        Ok(match cx.authorizer().scope(cx, rules::SEES_HIDDEN).await? {
            Scope::Everything => Self::Everybody,
            Scope::Sites(sites) => Self::Some {
                caller: cx.user_id()?,
                sites,
            },
        })
    }

    pub(super) fn write(&self, sql: &mut Sql) -> Result<()> {
        if let Self::Some { caller, sites } = self {
            sql.push(" AND (NOT m.is_hidden OR m.user_id = ")
                .bind(*caller);
            sql.push(" OR m.site_id").bind_list(sites)?.push(")");
        }
        Ok(())
    }
}

impl<'a> Wanted<'a> {
    /// The one of `user` at `location`, whoever asks.
    pub(super) fn one(user: &'a str, location: Location<'a>) -> Self {
        let (sites, groups) = match location {
            Location::Site(site) => (Some(Place::Site(site)), None),
            Location::Group { group, .. } => (None, Some(Place::Group(group))),
        };
        Self {
            user: Some(user),
            sites,
            groups,
            sight: Sight::Everybody,
        }
    }

    /// The members of `site`, for answers that go through the gate: it leaves out whom the caller may not see.
    pub(super) async fn of_all(cx: &'a Context, site: &'a str) -> Result<Self> {
        Ok(Self {
            sites: Some(Place::Site(site)),
            sight: Sight::of(cx).await?,
            ..Self::default()
        })
    }

    /// The members of the groups of `site`, for answers that go through the gate, as those of [`of_all`](Self::of_all).
    pub(super) async fn of_groups(cx: &'a Context, site: &'a str) -> Result<Self> {
        Ok(Self {
            groups: Some(Place::Site(site)),
            sight: Sight::of(cx).await?,
            ..Self::default()
        })
    }

    /// Who is in the group `id`, which is said to be in `site` or anywhere: for those who hold the roster of its
    /// site, and for those who change who is in its groups.
    pub(super) async fn of_group(cx: &'a Context, site: Option<&str>, id: &'a str) -> Result<Self> {
        let group = group::find(cx, site, id).await?;
        rules::demand_group_roster(cx, &group.site_id).await?;
        Ok(Self {
            groups: Some(Place::Group(id)),
            sight: Sight::of(cx).await?,
            ..Self::default()
        })
    }

    /// Returns the wish that the type's own parameters express.
    pub(super) async fn of_search(cx: &'a Context, search: &'a Search) -> Result<Self> {
        let kinds = Kinds::of(|name| search.parameter(name))?;
        let user = search.parameter("userId");
        let wanted = match named(search)? {
            Some(Location::Group { site, group }) => Self::of_group(cx, site, group).await?,
            Some(Location::Site(site)) => kinds.within(cx, site).await?,
            None => return Self::of_user(cx, user, kinds).await,
        };
        Ok(Self { user, ..wanted })
    }

    /// The memberships of the user whom the path names; without one, of the caller.
    pub(super) async fn of_arguments(cx: &'a Context, arguments: &'a Arguments) -> Result<Self> {
        let user = arguments.optional("userId");
        Self::of_user(cx, user, Kinds::of(|name| arguments.parameter(name))?).await
    }

    /// The memberships of `user`; without one, of the caller. Of others, the caller sees the memberships in sites whose
    /// roster the caller may read.
    async fn of_user(cx: &'a Context, user: Option<&'a str>, kinds: Kinds) -> Result<Self> {
        let caller = cx.user_id()?;
        let user = user.unwrap_or(caller);
        if user == caller {
            return Ok(Self {
                user: Some(user),
                sites: kinds.has_sites.then_some(Place::Anywhere),
                groups: kinds.has_groups.then_some(Place::Anywhere),
                sight: Sight::Everybody,
            });
        }
        let sites = Place::Within(rules::rosters(cx).await?);
        let groups = Place::Within(rules::group_rosters(cx).await?);
        Ok(Self {
            user: Some(user),
            sites: kinds.has_sites.then_some(sites),
            groups: kinds.has_groups.then_some(groups),
            sight: Sight::of(cx).await?,
        })
    }
}

/// Which kinds of memberships are wanted, one at least.
#[derive(Clone, Copy, Debug)]
struct Kinds {
    has_sites: bool,
    has_groups: bool,
}

impl Kinds {
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

    /// The members of `site`, and those of its groups.
    async fn within<'a>(self, cx: &'a Context, site: &'a str) -> Result<Wanted<'a>> {
        match self.has_sites {
            true => rules::demand_roster(cx, site).await?,
            false => rules::demand_group_roster(cx, site).await?,
        }
        Ok(Wanted {
            user: None,
            sites: self.has_sites.then_some(Place::Site(site)),
            groups: self.has_groups.then_some(Place::Site(site)),
            sight: Sight::of(cx).await?,
        })
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

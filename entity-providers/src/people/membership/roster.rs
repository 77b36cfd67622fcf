//! `/direct/roster-membership`: the roster of a site, as programs for rosters read it.
//!
//! It shows the members whom `membership/site/{site}` shows, by the same rules and with the same facts about each, as far
//! as their memberships count.

use std::collections::{BTreeMap, HashMap};

use entity_core::db;
use entity_core::search::Grammar;
use entity_core::{
    Access, Action, ActionResult, Actions, Answers, Arguments, Context, Data, Entity, Error, Need,
    Operation, Page, Permit, Provider, Read, Result, Search, Verb, View, Window, flag, gate, shape,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::wanted::Wanted;
use super::{Membership, Memberships, rules};
use crate::people::site;
use crate::people::{authorizer, group};

/// The maximum number of members in one answer, and that of those in groups.
const MOST: u64 = 5_000;
/// The number of members of a page, unless the query says otherwise.
const PAGE: u64 = 50;

type Parameters = &'static [(&'static str, &'static str)];

const OF_MEMBERS: Parameters = &[
    ("groupId", "only those who are in this group"),
    ("roleId", "only those who have this role"),
    (
        "page",
        "the number of a page, from 0: then the answer is an object with `members`, whose `status` is `END` behind the last \
         page",
    ),
    ("pageSize", "how many are on a page; 50 without it"),
    ("all", "true: all of them, as an object with `members`"),
    ("_start", "how many to leave out at the beginning"),
    ("_limit", "how many at most"),
];

/// The provider of rosters.
#[derive(Clone, Copy, Debug)]
pub struct Rosters;

entity_core::register!(Rosters);

/// The roster of a site: its members, their roles and its groups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
pub struct Roster {
    /// The id of the site.
    #[entity(id, site)]
    pub id: String,
    /// The title of the site.
    #[entity(title)]
    pub title: String,
}

impl Provider for Rosters {
    type Entity = Roster;

    const PREFIX: &'static str = "roster-membership";
    const PLURAL: Option<&'static str> = Some("Rosters");
    const SINGULAR: Option<&'static str> = Some("Roster");
    // The functions that open a roster are those of memberships: `permits` asks for them.
    const ACCESS: Access = Access::new(Need::Session, Need::Superuser);

    async fn permits(cx: &Context, roster: &Roster, _operation: Operation) -> Result<Permit> {
        rules::permits_roster(cx, &roster.id).await
    }
}

impl Read for Rosters {
    async fn read(cx: &Context, id: &str) -> Result<Option<Roster>> {
        let title = site::title(cx, id).await?;
        let id = id.to_owned();
        Ok(title.map(|title| Roster { id, title }))
    }
}

impl Actions for Rosters {
    fn actions() -> Vec<Action<Self>> {
        let of_members = Answers::Value(shape::either::<Listed, Paged>);
        vec![
            Action::entity(Verb::Get, "get-membership", Need::Session, get_membership)
                .doc("The members, by name. With `page` or `all`, they are part of an object with numbers.")
                .label("Members")
                .parameters(OF_MEMBERS)
                .answers(of_members),
            Action::entity(Verb::Get, "get-site", Need::Session, get_site)
                .doc("The roles and groups of the site, and how many members there are of each.")
                .label("Roles and groups"),
        ]
    }
}

/// A member of a site, as its roster shows people.
#[derive(Clone, Debug, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[view(of = Membership, beside(groups: BTreeMap<String, String>))]
pub(super) struct RosterMember {
    /// The internal id.
    pub(super) user_id: String,
    /// The external id; empty for those who may not know it.
    #[view(of = user_eid)]
    pub(super) eid: String,
    /// The external id again, as people are shown it.
    #[view(of = user_display_id)]
    display_id: String,
    /// The name.
    #[view(of = user_display_name)]
    pub(super) display_name: String,
    /// The name as lists are sorted by it.
    #[view(of = user_sort_name)]
    sort_name: String,
    /// The e-mail address; empty for those who may not know it.
    #[view(of = user_email)]
    pub(super) email: String,
    /// The role in the site.
    #[view(of = member_role)]
    pub(super) role: String,
    /// The titles of the groups in which the member is, by their ids.
    pub(super) groups: BTreeMap<String, String>,
}

/// Members of a site as a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RosterList")]
struct Listed {
    /// The type: `roster-membership`.
    #[serde(rename = "entityPrefix")]
    prefix: &'static str,
    /// The members, by name.
    #[serde(rename = "roster-membership_collection")]
    collection: Vec<RosterMember>,
}

/// Members of a site with their numbers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "RosterPage")]
struct Paged {
    /// The members, by name.
    members: Vec<RosterMember>,
    /// The number of all members, whatever part of them this is.
    members_total: u64,
    /// The numbers of all members by role.
    role_counts: BTreeMap<String, u64>,
    /// `END` behind the last member; null where there are members.
    status: Option<&'static str>,
}

/// The roster's view of a site.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RosterSite {
    /// The id of the site.
    id: String,
    /// The title of the site.
    title: String,
    /// The roles that members may have.
    user_roles: Vec<String>,
    /// The groups.
    site_groups: Vec<RosterGroup>,
    /// Always empty: there are no enrolments beside memberships.
    site_enrollment_sets: Vec<String>,
    /// The number of members.
    members_total: u64,
    /// The numbers of members by role.
    role_counts: BTreeMap<String, u64>,
}

/// A group of a site.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RosterGroup {
    /// The id.
    id: String,
    /// The title.
    title: String,
    /// The internal ids of those who are in it.
    user_ids: Vec<String>,
}

async fn get_membership(
    cx: &Context,
    roster: Roster,
    arguments: Arguments,
) -> Result<ActionResult<Rosters>> {
    let site = roster.id.as_str();
    let (window, is_paged) = window(&arguments)?;
    let wanted = match arguments.parameter("groupId") {
        Some(id) if !id.is_empty() => Wanted::of_group(cx, Some(site), id).await?,
        _ => Wanted::of_all(site),
    };
    let mut search = counting(window)?;
    let role = arguments.parameter("roleId").filter(|it| !it.is_empty());
    if let Some(role) = role {
        search.insist("roleId", role)?;
    }
    let memberships = listed(cx, &search, &wanted).await?;
    let members = with_groups(cx, site, memberships).await?;
    if !is_paged {
        return Ok(ActionResult::value(Listed {
            prefix: Rosters::PREFIX,
            collection: members,
        }));
    }
    let role_counts = count_by_role(cx, &search, &wanted).await?;
    Ok(ActionResult::value(Paged {
        status: members.is_empty().then_some("END"),
        members,
        members_total: role_counts.values().sum(),
        role_counts,
    }))
}

async fn get_site(cx: &Context, roster: Roster, _: Arguments) -> Result<Data<RosterSite>> {
    let Roster { id, title } = roster;
    let search = counting(Window {
        start: 0,
        limit: MOST,
    })?;
    let roles = authorizer::of(cx)?.roles_of_realm(cx, &id).await?;
    let role_counts = count_by_role(cx, &search, &Wanted::of_all(&id)).await?;
    let in_groups = listed(cx, &search, &Wanted::of_groups(&id)).await?;
    let mut users: HashMap<String, Vec<String>> = HashMap::new();
    for it in in_groups {
        let group = it.group_id.unwrap_or_default();
        users.entry(group).or_default().push(it.user_id);
    }
    let groups = group::titles(cx, &id).await?.into_iter();
    let site_groups = groups.map(|(id, title)| RosterGroup {
        user_ids: users.remove(&id).unwrap_or_default(),
        id,
        title,
    });
    Ok(Data(RosterSite {
        site_groups: site_groups.collect(),
        user_roles: roles.into_keys().collect(),
        site_enrollment_sets: Vec::new(),
        members_total: role_counts.values().sum(),
        role_counts,
        id,
        title,
    }))
}

/// Returns the part of the members that the query asks for, and whether it does so as programs do that turn pages.
fn window(arguments: &Arguments) -> Result<(Window, bool)> {
    if let Some(page) = number(arguments, "page")? {
        let size = number(arguments, "pageSize")?.unwrap_or(PAGE);
        let limit = size.clamp(1, MOST);
        let start = page.saturating_mul(limit);
        return Ok((Window { start, limit }, true));
    }
    let all = arguments.parameter("all").map(|it| flag("all", it));
    let window = Window::parse(&arguments.query, MOST)?;
    Ok((window, all.transpose()?.unwrap_or(false)))
}

/// Returns the number `name` of the query, if there is one.
fn number(arguments: &Arguments, name: &str) -> Result<Option<u64>> {
    let read = |it: &str| {
        let number = it.parse::<u32>();
        number.map(u64::from).map_err(|error| {
            Error::field(name, "must be a whole number, 0 or greater").with_source(error)
        })
    };
    arguments.parameter(name).map(read).transpose()
}

/// Returns the search for a part of those whose memberships count.
pub(super) fn counting(window: Window) -> Result<Search> {
    let mut search = Search::part(window);
    Grammar::of::<Memberships>()?.complete(&mut search);
    search.narrow(Membership::FIELD.active.eq(true));
    Ok(search)
}

/// Returns the memberships that are wanted and that the caller may see.
pub(super) async fn listed(
    cx: &Context,
    search: &Search,
    wanted: &Wanted<'_>,
) -> Result<Vec<Membership>> {
    let page: Page<Membership> = db::list(cx, &wanted.search(search)).await?;
    Ok(gate::retain::<Memberships>(cx, page).await?.items)
}

/// Returns the numbers of the wanted memberships by role.
async fn count_by_role(
    cx: &Context,
    search: &Search,
    wanted: &Wanted<'_>,
) -> Result<BTreeMap<String, u64>> {
    let counts = db::count_by::<Membership>(cx, &wanted.search(search), "role").await?;
    let counts = counts.into_iter();
    Ok(counts.map(|(role, it)| (role, it.unsigned_abs())).collect())
}

/// Returns these members of `site` with their groups there, which one statement finds.
pub(super) async fn with_groups(
    cx: &Context,
    site: &str,
    memberships: Vec<Membership>,
) -> Result<Vec<RosterMember>> {
    let ids: Vec<&str> = memberships.iter().map(|it| it.user_id.as_str()).collect();
    let db = cx.db()?;
    let mut sql = db.sql("SELECT m.user_id, g.id, g.title FROM site_group g");
    sql.push(" JOIN group_member m ON m.group_id = g.id WHERE g.site_id = ");
    sql.bind(site).push(" AND m.user_id").bind_list(&ids)?;
    let found: Vec<(String, String, String)> = db.scan(sql.into_statement(), db::columns).await?;
    let mut groups: HashMap<String, BTreeMap<String, String>> = HashMap::new();
    for (user, id, title) in found {
        groups.entry(user).or_default().insert(id, title);
    }
    let members = memberships.into_iter().map(|it| {
        let groups = groups.remove(&it.user_id).unwrap_or_default();
        RosterMember::of(it, groups)
    });
    Ok(members.collect())
}

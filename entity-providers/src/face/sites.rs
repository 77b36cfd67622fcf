//! `/api/users/{userId}/sites`: the sites of a user with their tools, their terms, and which are pinned.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use entity_core::endpoint::{Call, Endpoint, Paged};
use entity_core::search::Grammar;
use entity_core::{Context, ErrorKind, Page, Result, Scope, Search, View, Window, db, gate};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, Select};
use serde::Serialize;

use crate::people::site::{Site, Sites, address};
use crate::people::term;
use crate::people::user::{User, is_caller};
use crate::storage::db::membership;
use crate::storage::db::site_parts::{SiteTool, pages_of, tools_of};
use crate::talk::notification::{self, Place};

/// The sites of a user.
#[derive(Serialize, JsonSchema)]
struct SitesOfUser {
    /// All terms, those of these sites among them.
    terms: Vec<Term>,
    /// The sites, by title.
    sites: Vec<SiteEntry>,
}

/// A term.
#[derive(Serialize, JsonSchema)]
struct Term {
    /// The external id.
    id: String,
    /// The title.
    name: String,
}

/// One site.
#[derive(Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[view(of = Site, beside(pinned: bool, tools: Vec<ToolEntry>, term: Option<String>), with(
    short_description = it.short_description.clone().filter(|it| !it.trim().is_empty()),
    url = address::of_site(&it.id),
    unpublished = !it.published,
    course = it.r#type.as_deref() == Some("course"),
    project = it.r#type.as_deref() == Some("project"),
    term = term.filter(|_| course),
))]
struct SiteEntry {
    /// The site.
    #[view(of = id)]
    site_id: String,
    /// Its title.
    title: String,
    /// One plain line about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    short_description: Option<String>,
    /// Its path in the portal.
    url: String,
    /// True if the user keeps it at hand.
    pinned: bool,
    /// The address of its picture.
    #[view(of = icon_url_full)]
    image: Option<String>,
    /// Its tools, in order.
    tools: Vec<ToolEntry>,
    /// There, and true, if it is not published: only those who look after it see it.
    #[serde(skip_serializing_if = "is_false")]
    unpublished: bool,
    /// There, and true, if it is a course.
    #[serde(skip_serializing_if = "is_false")]
    course: bool,
    /// There, and true, if it is a project.
    #[serde(skip_serializing_if = "is_false")]
    project: bool,
    /// The title of its term, if it is a course.
    #[serde(skip_serializing_if = "Option::is_none")]
    term: Option<String>,
}

/// One tool of a site.
#[derive(Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[view(of = SiteTool, beside(news: &BTreeSet<Place>), with(
    url = address::of_tool(&it.site_id, &it.id),
    icon_class = format!("si-{}", it.tool_id.replace('.', "-")),
    has_alerts = news.contains(&(it.site_id.clone(), it.tool_id.clone())),
))]
struct ToolEntry {
    /// Which tool.
    #[view(of = tool_id)]
    id: String,
    /// The title here.
    title: String,
    /// Its path in the portal.
    url: String,
    /// The class of its icon.
    icon_class: String,
    /// True if the caller, whose site it is, has a notification of it that is not viewed.
    has_alerts: bool,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_false(value: &bool) -> bool {
    !value
}

const OF_USER: Endpoint = Endpoint::get("/api/users/{userId}/sites", "listSitesOfUser")
    .doc("The sites of a user.")
    .variable("userId", "The user: `me`, an id, or an external id.")
    .flag(
        PINNED,
        "whether to answer only those that the user keeps at hand",
    )
    .refuses(&[ErrorKind::Forbidden, ErrorKind::NotFound])
    .answers::<Paged<SitesOfUser>>(&of_user);
entity_core::register_endpoint!(OF_USER);

/// The parameter that leaves out the others.
const PINNED: &str = "pinned";

/// The sites of the user that the caller may see.
async fn of_user(cx: &Context, call: Call) -> Result<Paged<SitesOfUser>> {
    let (only_pinned, window) = (call.flag(PINNED)?, call.window()?);
    let user = match call.variable("userId")? {
        name if is_caller(cx, name) => cx.user_id()?.to_owned(),
        other => gate::read::<User>(cx, other).await?.id,
    };
    let page = own_sites(cx, &user, only_pinned, window).await?;
    // What somebody is told of is for that person alone, and not for those who look after the account.
    let news = match cx.user_id()? == user {
        true => {
            let sites: Vec<_> = page.items.iter().map(|it| it.site.id.as_str()).collect();
            notification::news(cx, &sites).await?
        }
        false => BTreeSet::new(),
    };
    let mut tools = tools(cx, &page.items, &news).await?;
    let titles = term::titles(cx).await?;
    let page = page.map(|own| {
        let tools = tools.remove(&own.site.id).unwrap_or_default();
        let term = term_of(&own.site, &titles);
        let name = term.as_ref().map(|it| it.1.clone());
        Told {
            entry: SiteEntry::of(own.site, own.is_pinned, tools, name),
            term,
        }
    });
    Paged::of(cx, page, window, |told| {
        let (mut terms, mut sites) = (titles, Vec::new());
        for Told { entry, term } in told {
            sites.push(entry);
            terms.extend(term);
        }
        let terms = terms.into_iter().map(|(id, name)| Term { id, name });
        let terms = terms.collect();
        SitesOfUser { terms, sites }
    })
}

/// A site, and the id and the name of its term.
#[derive(Serialize)]
struct Told {
    entry: SiteEntry,
    term: Option<(String, String)>,
}

/// A site of a user.
#[derive(Serialize)]
pub(crate) struct OwnSite {
    pub(crate) site: Site,
    /// True if the user keeps it at hand.
    pub(crate) is_pinned: bool,
    /// Its place among the sites that the user keeps at hand, if the user gave it one.
    pub(crate) place: Option<i64>,
}

/// Returns the sites of `user` that the caller may see, by title.
pub(crate) async fn own_sites(
    cx: &Context,
    user: &str,
    only_pinned: bool,
    window: Window,
) -> Result<Page<OwnSite>> {
    let page = sites(cx, memberships(user, only_pinned), window).await?;
    let pins = pins(cx, user, &page.items).await?;
    Ok(page.map(|site| OwnSite {
        is_pinned: pins.contains_key(&site.id),
        place: pins.get(&site.id).copied().flatten(),
        site,
    }))
}

/// Where the user actively belongs.
fn memberships(user: &str, only_pinned: bool) -> Select<membership::Entity> {
    let memberships = membership::Entity::find()
        .filter(membership::Column::UserId.eq(user))
        .filter(membership::Column::IsActive.eq(true));
    match only_pinned {
        true => memberships.filter(membership::Column::IsPinned.eq(true)),
        false => memberships,
    }
}

/// The ids among `sites` that the user has pinned, each with its place among these.
async fn pins(cx: &Context, user: &str, sites: &[Site]) -> Result<HashMap<String, Option<i64>>> {
    let ids = sites.iter().map(|it| it.id.as_str());
    let pinned = memberships(user, true)
        .filter(membership::Column::SiteId.is_in(ids))
        .all(cx.db()?)
        .await?;
    let pinned = pinned.into_iter();
    Ok(pinned.map(|it| (it.site_id, it.pinned_position)).collect())
}

async fn sites(
    cx: &Context,
    memberships: Select<membership::Entity>,
    window: Window,
) -> Result<Page<Site>> {
    let ids = memberships.select_only().column(membership::Column::SiteId);
    let ids: Vec<String> = cx.db()?.select(&ids).await?;
    let mut search = Search::part(window);
    search.scope = Scope::Everything;
    search.narrow(Site::FIELD.id.is_in(ids));
    Grammar::of::<Sites>()?.complete(&mut search);
    gate::retain::<Sites>(cx, db::list(cx, &search).await?).await
}

/// The tools by site, in the order of the pages that they are on; `news` are those with alerts.
async fn tools(
    cx: &Context,
    sites: &[OwnSite],
    news: &BTreeSet<Place>,
) -> Result<HashMap<String, Vec<ToolEntry>>> {
    let ids: Vec<&str> = sites.iter().map(|it| it.site.id.as_str()).collect();
    let pages = pages_of(cx, &ids).await?.into_iter();
    let positions: HashMap<String, i64> = pages.map(|it| (it.id, it.position)).collect();
    let mut rows = tools_of(cx, &ids).await?;
    // The sort is stable: on one page the tools stay in their own order.
    rows.sort_by_key(|it| positions.get(&it.page_id).copied());
    let mut tools: HashMap<String, Vec<ToolEntry>> = HashMap::new();
    for row in rows {
        let site = row.site_id.clone();
        let tool = ToolEntry::of(row, news);
        tools.entry(site).or_default().push(tool);
    }
    Ok(tools)
}

/// The id and the name of the site's term. One that nobody has described is called by its id.
fn term_of(site: &Site, titles: &BTreeMap<String, String>) -> Option<(String, String)> {
    let own = |key: &str| site.props.0.get(key);
    let id = own("term_eid").or_else(|| own("term"))?;
    let name = titles.get(id).unwrap_or(id);
    Some((id.clone(), name.clone()))
}

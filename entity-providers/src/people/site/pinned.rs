//! The sites that a user keeps at hand, or all sites of a user, with the path of one tool in each: what the views of a
//! dashboard show beside their entities.

use entity_core::db::{Row, Sql, columns};
use entity_core::{Context, Result};
use schemars::JsonSchema;
use serde::Serialize;

use super::address;

/// The most sites that are shown.
const MOST_SITES: i64 = 1000;

/// The title of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SiteName {
    /// The site.
    pub site_id: String,
    /// Its title.
    pub title: String,
}

/// Appends the id of the first place of the tool `tool` in the site `s`, or null if the site lacks the tool.
pub(crate) fn write_placement(sql: &mut Sql, tool: &str) {
    sql.push("(SELECT t.id FROM site_tool t WHERE t.site_id = s.id AND t.tool_id = ");
    sql.bind(tool).push(" ORDER BY t.position, t.id LIMIT 1)");
}

/// The sites of which a view shows entities, by title: those that the caller keeps at hand and in which the caller holds a
/// function, or others.
#[derive(Debug)]
pub struct PinnedSites(Vec<PinnedSite>);

#[derive(Debug)]
struct PinnedSite {
    name: SiteName,
    /// The id of the tool's place in the site, if the site has the tool.
    placement: Option<String>,
}

/// The sites of the caller with the places of some tools, of which views of different tools show entities.
#[derive(Debug)]
pub struct OwnSites<'t> {
    tools: &'t [&'t str],
    sites: Vec<OwnSite>,
}

#[derive(Debug)]
struct OwnSite {
    name: SiteName,
    is_pinned: bool,
    /// The ids of the places of the tools, in their order.
    placements: Vec<Option<String>>,
}

impl<'t> OwnSites<'t> {
    /// Reads them, with the places of `tools`.
    ///
    /// # Errors
    /// Nobody is logged in; the database can't be read.
    pub async fn of_caller(cx: &Context, tools: &'t [&'t str]) -> Result<Self> {
        let own =
            " FROM membership m JOIN site s ON s.id = m.site_id WHERE m.is_active AND m.user_id = ";
        let sites = find(cx, tools, "m.is_pinned", (own, cx.user_id()?)).await?;
        Ok(Self { tools, sites })
    }

    /// Those that the caller keeps at hand and in which the caller holds `function`, with the place of `tool` in each.
    ///
    /// # Errors
    /// It can't be decided what the caller holds.
    pub async fn pinned(&self, cx: &Context, function: &str, tool: &str) -> Result<PinnedSites> {
        self.holding(cx, function, tool, |it| it.is_pinned).await
    }

    /// All in which the caller holds `function`, pinned or not, with the place of `tool` in each.
    ///
    /// # Errors
    /// It can't be decided what the caller holds.
    pub async fn all(&self, cx: &Context, function: &str, tool: &str) -> Result<PinnedSites> {
        self.holding(cx, function, tool, |_| true).await
    }

    async fn holding(
        &self,
        cx: &Context,
        function: &str,
        tool: &str,
        is_wanted: fn(&OwnSite) -> bool,
    ) -> Result<PinnedSites> {
        let scope = cx.authorizer().scope(cx, function).await?;
        let place = self.tools.iter().position(|it| *it == tool);
        let is_wanted = |it: &&OwnSite| is_wanted(it) && scope.contains(&it.name.site_id);
        let sites = self.sites.iter().filter(is_wanted);
        Ok(PinnedSites(sites.map(|it| it.with(place)).collect()))
    }
}

impl OwnSite {
    fn with(&self, place: Option<usize>) -> PinnedSite {
        let placement = place.and_then(|it| self.placements.get(it).cloned());
        PinnedSite {
            name: self.name.clone(),
            placement: placement.flatten(),
        }
    }
}

/// Returns the sites for which a condition holds, which ends with a value, by title; of too many, those for which
/// `is_pinned` holds are kept.
async fn find(
    cx: &Context,
    tools: &[&str],
    is_pinned: &str,
    condition: (&str, &str),
) -> Result<Vec<OwnSite>> {
    let db = cx.db()?;
    let mut sql = db.sql("SELECT s.id, s.title, ");
    sql.push(is_pinned);
    for tool in tools {
        write_placement(sql.push(", "), tool);
    }
    sql.push(condition.0).bind(condition.1);
    sql.push(" ORDER BY 3 DESC, s.title, s.id LIMIT ")
        .bind(MOST_SITES);
    let read = |row: &mut Row<'_>| {
        let (site_id, title, is_pinned) = columns(row)?;
        let places = tools.iter().map(|_| columns(row));
        Ok(OwnSite {
            name: SiteName { site_id, title },
            is_pinned,
            placements: places.collect::<Result<_>>()?,
        })
    };
    let mut sites = db.rows(sql.into_statement(), read).await?;
    let by_title = |it: &OwnSite| (it.name.title.clone(), it.name.site_id.clone());
    sites.sort_by_cached_key(by_title);
    Ok(sites)
}

impl PinnedSites {
    /// Returns the site `id` alone, whoever asks, with the place of the tool `tool` in it.
    pub async fn of_site(cx: &Context, id: &str, tool: &str) -> Result<Self> {
        let sites = find(cx, &[tool], "FALSE", (" FROM site s WHERE s.id = ", id)).await?;
        Ok(Self(sites.iter().map(|it| it.with(Some(0))).collect()))
    }

    /// Their ids.
    pub fn ids(&self) -> Vec<String> {
        self.0.iter().map(|it| it.name.site_id.clone()).collect()
    }

    /// The path of the tool in the site `site_id`, or of the site if it lacks the tool.
    pub fn path(&self, site_id: &str) -> String {
        self.path_of_tool(site_id)
            .unwrap_or_else(|| address::of_site(site_id))
    }

    /// The path of the tool in the site `site_id`; `None` if the site lacks the tool.
    pub fn path_of_tool(&self, site_id: &str) -> Option<String> {
        let site = self.0.iter().find(|it| it.name.site_id == site_id)?;
        Some(address::of_tool(site_id, site.placement.as_deref()?))
    }

    /// Their names, by title.
    pub fn names(&self) -> impl Iterator<Item = &SiteName> {
        self.0.iter().map(|it| &it.name)
    }

    /// Their names.
    pub fn into_names(self) -> Vec<SiteName> {
        self.0.into_iter().map(|it| it.name).collect()
    }
}

//! The sites that a user keeps at hand, or all sites of a user, with the path of one tool in each: what the views of a
//! dashboard show beside their entities.

use entity_core::db::{Row, Sql};
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

impl PinnedSites {
    /// Returns the pinned sites of the caller, with the place of the tool `tool` in each.
    ///
    /// # Errors
    /// Nobody is logged in; the database can't be read.
    pub async fn of_caller(cx: &Context, function: &str, tool: &str) -> Result<Self> {
        let pinned = "JOIN membership m ON m.site_id = s.id WHERE m.is_active AND m.is_pinned AND m.user_id = ";
        Self::find(cx, tool, (pinned, cx.user_id()?))
            .await?
            .holding(cx, function)
            .await
    }

    /// Returns all sites of the caller, pinned or not, with the place of the tool `tool` in each.
    ///
    /// # Errors
    /// Nobody is logged in; the database can't be read.
    pub async fn all_of_caller(cx: &Context, function: &str, tool: &str) -> Result<Self> {
        let own = "JOIN membership m ON m.site_id = s.id WHERE m.is_active AND m.user_id = ";
        Self::find(cx, tool, (own, cx.user_id()?))
            .await?
            .holding(cx, function)
            .await
    }

    /// Returns the site `id` alone, whoever asks, with the place of the tool `tool` in it.
    pub async fn of_site(cx: &Context, id: &str, tool: &str) -> Result<Self> {
        Self::find(cx, tool, ("WHERE s.id = ", id)).await
    }

    /// Keeps the sites in which the caller holds `function`.
    async fn holding(mut self, cx: &Context, function: &str) -> Result<Self> {
        let scope = cx.authorizer().scope(cx, function).await?;
        self.0.retain(|it| scope.contains(&it.name.site_id));
        Ok(self)
    }

    /// Returns the sites for which a condition holds, which ends with a value.
    async fn find(cx: &Context, tool: &str, condition: (&str, &str)) -> Result<Self> {
        let db = cx.db()?;
        let mut sql = db.sql("SELECT s.id, s.title, ");
        write_placement(&mut sql, tool);
        sql.push(" FROM site s ")
            .push(condition.0)
            .bind(condition.1);
        sql.push(" ORDER BY s.title, s.id LIMIT ").bind(MOST_SITES);
        let read = |row: &mut Row<'_>| {
            let name = SiteName {
                site_id: row.take()?,
                title: row.take()?,
            };
            let placement = row.take()?;
            Ok(PinnedSite { name, placement })
        };
        db.rows(sql.into_statement(), read).await.map(Self)
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

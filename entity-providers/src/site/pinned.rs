//! The sites that a user keeps at hand, with the path of one tool in each: what the views of a dashboard show beside
//! their entities.

use entity_core::db::Row;
use entity_core::{Context, Result, encode_segment};
use schemars::JsonSchema;
use serde::Serialize;

/// The most sites that are shown.
const MOST_SITES: i64 = 1000;

/// What people call a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SiteName {
    /// The site.
    pub site_id: String,
    /// Its title.
    pub title: String,
}

/// The sites that the caller keeps at hand and in which the caller holds a function, by title.
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
        let scope = cx.authorizer().scope(cx, function).await?;
        let db = cx.db()?;
        let mut sql = db.sql(
            "SELECT s.id, s.title, \
             (SELECT min(t.id) FROM site_tool t WHERE t.site_id = s.id AND t.tool_id = ",
        );
        sql.bind(tool).push(
            ") FROM site s JOIN membership m ON m.site_id = s.id \
             WHERE m.is_active AND m.is_pinned AND m.user_id = ",
        );
        sql.bind(cx.user_id()?);
        sql.push(" ORDER BY s.title, s.id LIMIT ").bind(MOST_SITES);
        let read = |row: &mut Row<'_>| {
            let name = SiteName {
                site_id: row.take()?,
                title: row.take()?,
            };
            let placement = row.take()?;
            Ok(PinnedSite { name, placement })
        };
        let mut sites = db.rows(sql.into_statement(), read).await?;
        sites.retain(|it| scope.contains(&it.name.site_id));
        Ok(Self(sites))
    }

    /// Their ids.
    pub fn ids(&self) -> Vec<String> {
        self.0.iter().map(|it| it.name.site_id.clone()).collect()
    }

    /// The path of the tool in the site `site_id`, or of the site if it lacks the tool.
    pub fn path(&self, site_id: &str) -> String {
        let site = self.0.iter().find(|it| it.name.site_id == site_id);
        let path = format!("/portal/site/{}", encode_segment(site_id));
        match site.and_then(|it| it.placement.as_deref()) {
            Some(placement) => format!("{path}/tool/{}", encode_segment(placement)),
            None => path,
        }
    }

    /// Their names.
    pub fn into_names(self) -> Vec<SiteName> {
        self.0.into_iter().map(|it| it.name).collect()
    }
}

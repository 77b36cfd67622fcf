//! The parts of sites that are rows of their own: pages, the tools on them, and groups.

use entity_core::{Context, Entity, Result, db};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _};
use serde::Serialize;

/// A page of a site.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[entity(table = "site_page")]
pub struct SitePage {
    /// The id.
    #[entity(id)]
    pub id: String,
    /// The site.
    #[entity(site)]
    pub site_id: String,
    /// The title.
    #[entity(title)]
    pub title: String,
    /// Its place in the site, from 1.
    pub position: i64,
    /// 0 for one column, 1 for two.
    pub layout: i64,
}

/// A tool on a page of a site.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[entity(table = "site_tool")]
pub struct SiteTool {
    /// The id of the placement.
    #[entity(id)]
    pub id: String,
    /// The page.
    pub page_id: String,
    /// The site.
    #[entity(site)]
    pub site_id: String,
    /// Which tool, such as `sakai.announcements`.
    pub tool_id: String,
    /// The title here.
    #[entity(title)]
    pub title: String,
    /// Its place on the page, from 1.
    pub position: i64,
}

/// A group of members of a site.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[entity(table = "site_group")]
pub struct SiteGroup {
    /// The id.
    #[entity(id)]
    pub id: String,
    /// The site.
    #[entity(site)]
    pub site_id: String,
    /// The title.
    #[entity(title)]
    pub title: String,
    /// A plain line about it.
    pub description: Option<String>,
    /// When it last changed, in milliseconds.
    pub modified: i64,
}

/// Returns the pages of `sites`, those of each site in their order.
pub(crate) async fn pages_of(cx: &Context, sites: &[&str]) -> Result<Vec<SitePage>> {
    use site_page::Column::{Id, Position, SiteId};
    let of_sites = site_page::Entity::find().filter(SiteId.is_in(sites.iter().copied()));
    db::load(cx, of_sites.order_by_asc(Position).order_by_asc(Id)).await
}

/// Returns the tools of `sites`, those of each page in their order.
pub(crate) async fn tools_of(cx: &Context, sites: &[&str]) -> Result<Vec<SiteTool>> {
    use site_tool::Column::{Id, Position, SiteId};
    let of_sites = site_tool::Entity::find().filter(SiteId.is_in(sites.iter().copied()));
    db::load(cx, of_sites.order_by_asc(Position).order_by_asc(Id)).await
}

/// Returns the groups of the site `id`, by title.
pub(crate) async fn groups_of(cx: &Context, id: &str) -> Result<Vec<SiteGroup>> {
    use site_group::Column::{Id, SiteId, Title};
    let of_site = site_group::Entity::find().filter(SiteId.eq(id));
    db::load(cx, of_site.order_by_asc(Title).order_by_asc(Id)).await
}

//! Announcements as dashboards show them: the union of the keys that old and new clients read.

use entity_core::db::Row;
use entity_core::wire::iso;
use entity_core::{Context, Need, Page, Result, Scope, Window, encode_segment, gate};
use schemars::JsonSchema;
use sea_orm::ConnectionTrait;
use serde::Serialize;

use super::query::{self, Order, Place, Question};
use super::{Announcement, Announcements};
use crate::db::sql::Sql;

/// Announcements, and the sites that were looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct News {
    /// The announcements, newest first.
    pub announcements: Vec<AnnouncementView>,
    /// The sites, by title.
    pub sites: Vec<SiteName>,
}

/// What people call a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SiteName {
    /// The site.
    pub site_id: String,
    /// Its title.
    pub title: String,
}

/// One announcement on a dashboard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnnouncementView {
    /// The id.
    pub id: String,
    /// The headline.
    pub title: String,
    /// The headline again, as other clients read it.
    pub subject: String,
    /// The text, sanitised HTML.
    pub body: String,
    /// The site.
    pub site_id: String,
    /// What people call the site.
    pub site_title: String,
    /// The internal id of the author.
    pub created_by: String,
    /// The name of the author.
    pub author: String,
    /// When it came out, ISO 8601.
    pub created_date: String,
    /// When it came out, in milliseconds.
    pub date: i64,
    /// Its place, as the instructors order them.
    pub order: i64,
    /// Whether it is shown with emphasis.
    pub highlighted: bool,
    /// The path of the announcement tool in the site.
    pub url: String,
}

/// A site that was looked at, with its announcement tool.
struct Visited {
    site_id: String,
    title: String,
    placement: Option<String>,
}

/// The announcements of those sites that the caller keeps at hand: the part `window` of them, and where it goes on.
///
/// # Errors
/// Nobody is logged in; the database can't be read.
pub async fn of_pinned_sites(cx: &Context, window: Window) -> Result<(News, Option<u64>)> {
    gate::demand_in_site(cx, Need::Session, None).await?;
    let scope = cx.authorizer().scope(cx, "annc.read").await?;
    let page = ask(cx, Place::Pinned(&scope), window).await?;
    let sites = pinned_sites(cx, &scope).await?;
    news(cx, page, sites, window)
}

/// The announcements of one site.
///
/// # Errors
/// Nobody is logged in; there is no such site; the caller may not read its announcements.
pub async fn of_site(cx: &Context, site: &str) -> Result<News> {
    gate::demand_in_site(cx, Need::Site("annc.read"), Some(site)).await?;
    let window = Window::FIRST;
    let page = ask(cx, Place::Site(site), window).await?;
    let mut sql = Sql::new(cx.db()?.get_database_backend(), SITES);
    sql.push(" WHERE s.id = ").bind(site);
    let sites = visited(cx, sql).await?;
    Ok(news(cx, page, sites, window)?.0)
}

async fn ask(cx: &Context, place: Place<'_>, window: Window) -> Result<Page<Announcement>> {
    let question = Question {
        place,
        since: None,
        order: Order::NewestFirst,
        start: window.start,
        fetch: window.limit.saturating_add(1),
        measure: cx.measure_items(window.limit),
    };
    let page = query::list(cx, &question).await?;
    gate::retain::<Announcements>(cx, page).await
}

/// The most sites that are told beside the announcements.
const MOST_SITES: i64 = 1000;

const SITES: &str = "SELECT s.id, s.title, \
    (SELECT min(t.id) FROM site_tool t WHERE t.site_id = s.id AND t.tool_id = 'sakai.announcements') \
    FROM site s";

async fn pinned_sites(cx: &Context, scope: &Scope) -> Result<Vec<Visited>> {
    let mut sql = Sql::new(cx.db()?.get_database_backend(), SITES);
    sql.push(
        " JOIN membership m ON m.site_id = s.id WHERE m.is_active AND m.is_pinned AND m.user_id = ",
    )
    .bind(cx.user_id()?);
    sql.push(" ORDER BY s.title, s.id LIMIT ").bind(MOST_SITES);
    let mut sites = visited(cx, sql).await?;
    sites.retain(|it| scope.contains(&it.site_id));
    Ok(sites)
}

async fn visited(cx: &Context, sql: Sql) -> Result<Vec<Visited>> {
    let read = |row: &mut Row<'_>| {
        Ok(Visited {
            site_id: row.take()?,
            title: row.take()?,
            placement: row.take()?,
        })
    };
    cx.db()?.rows(sql.into_statement(), read).await
}

/// As many of the announcements of `page`, for which `window` asked, as an answer has room for, and where they go on.
fn news(
    cx: &Context,
    page: Page<Announcement>,
    sites: Vec<Visited>,
    window: Window,
) -> Result<(News, Option<u64>)> {
    let url = |site_id: &str| {
        let site = sites.iter().find(|it| it.site_id == site_id);
        let path = format!("/portal/site/{}", encode_segment(site_id));
        match site.and_then(|it| it.placement.as_deref()) {
            Some(placement) => format!("{path}/tool/{}", encode_segment(placement)),
            None => path,
        }
    };
    let page = page.map(|it| {
        let url = url(&it.site_id);
        view(it, url)
    });
    let page = page.within(cx.answer_bytes())?;
    let next = page.next_start(window);
    let sites = sites
        .into_iter()
        .map(|it| SiteName {
            site_id: it.site_id,
            title: it.title,
        })
        .collect();
    let announcements = page.items;
    Ok((
        News {
            announcements,
            sites,
        },
        next,
    ))
}

fn view(announcement: Announcement, url: String) -> AnnouncementView {
    AnnouncementView {
        id: announcement.announcement_id,
        subject: announcement.title.clone(),
        title: announcement.title,
        body: announcement.body,
        site_id: announcement.site_id,
        site_title: announcement.site_title,
        created_by: announcement.created_by,
        author: announcement.created_by_display_name,
        created_date: iso(announcement.created_on.0),
        date: announcement.created_on.0.timestamp_millis(),
        order: announcement.row.position,
        highlighted: announcement.highlight.unwrap_or_default(),
        url,
    }
}

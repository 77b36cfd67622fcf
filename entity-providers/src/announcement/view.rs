//! Announcements as dashboards show them: the union of the keys that old and new clients read.

use entity_core::wire::iso;
use entity_core::{Context, Need, Result, Search, Window, gate};
use schemars::JsonSchema;
use serde::Serialize;

use super::Announcement;
use crate::site::{PinnedSites, SiteName};

/// Announcements, and the sites that were looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct News {
    /// The announcements, newest first.
    pub announcements: Vec<AnnouncementView>,
    /// The sites, by title.
    pub sites: Vec<SiteName>,
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

/// The announcements of those sites that the caller keeps at hand: the part `window` of them, and where it goes on.
///
/// # Errors
/// Nobody is logged in; the database can't be read.
pub async fn of_pinned_sites(cx: &Context, window: Window) -> Result<(News, Option<u64>)> {
    gate::demand_in_site(cx, Need::Session, None).await?;
    let sites = PinnedSites::of_caller(cx, "annc.read", "sakai.announcements").await?;
    let mut search = Search::all();
    (search.start, search.limit) = (window.start, window.limit);
    search.narrow_to_sites::<Announcement>(sites.ids())?;
    let page = gate::list::<Announcement>(cx, search).await?;
    let page = page.map(|it| view(&sites, it)).within(cx.answer_bytes())?;
    let next = page.next_start(window);
    let news = News {
        announcements: page.items,
        sites: sites.into_names(),
    };
    Ok((news, next))
}

fn view(sites: &PinnedSites, announcement: Announcement) -> AnnouncementView {
    AnnouncementView {
        url: sites.path(&announcement.site_id),
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
        order: announcement.position,
        highlighted: announcement.highlight.unwrap_or_default(),
    }
}

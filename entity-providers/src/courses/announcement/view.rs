//! `/api/users/me/announcements`: announcements with the union of the keys that old and new clients read.

use entity_core::endpoint::{Call, Endpoint, Paged};
use entity_core::{Context, Page, Result, Search, View, Window, gate};
use schemars::JsonSchema;
use serde::Serialize;

use super::Announcement;
use crate::people::site::{OwnSites, PinnedSites, SiteName};

pub(crate) const TOOL: &str = "sakai.announcements";

const MINE: Endpoint = Endpoint::get("/api/users/me/announcements", "listMyNews")
    .doc("The announcements of the caller's pinned sites.")
    .answers::<Paged<News>>(&mine);
entity_core::register_endpoint!(MINE);

/// Announcements, and the sites that were looked at.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct News {
    /// The announcements, newest first.
    pub(super) announcements: Vec<AnnouncementView>,
    /// The sites, by title.
    pub(super) sites: Vec<SiteName>,
}

/// One announcement on a dashboard.
#[derive(Debug, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[view(of = Announcement, beside(sites: &PinnedSites), with(url = sites.path(&it.site_id)))]
pub(crate) struct AnnouncementView {
    /// The id.
    #[view(of = announcement_id)]
    id: String,
    /// The headline.
    pub(super) title: String,
    /// The headline again, as other clients read it.
    #[view(of = title)]
    subject: String,
    /// The text, sanitised HTML.
    body: String,
    /// The site.
    site_id: String,
    /// The title of the site.
    site_title: String,
    /// The internal id of the author.
    created_by: String,
    /// The name of the author.
    #[view(of = created_by_display_name)]
    author: String,
    /// When it came out, ISO 8601.
    #[view(of = created_on, as = iso)]
    created_date: String,
    /// When it came out, in milliseconds.
    #[view(of = created_on, as = millis)]
    date: i64,
    /// Its place, as the instructors order them.
    #[view(of = position)]
    order: i64,
    /// True if it is shown with emphasis.
    #[view(of = highlight, as = unwrap_or_default)]
    highlighted: bool,
    /// The path of the announcement tool in the site.
    url: String,
}

pub(super) async fn mine(cx: &Context, call: Call) -> Result<Paged<News>> {
    let window = call.window()?;
    let own = OwnSites::of_caller(cx, &[TOOL]).await?;
    let (page, sites) = newest(cx, &own, window).await?;
    let sites = sites.into_names();
    Paged::of(cx, page, window, |announcements| News {
        announcements,
        sites,
    })
}

/// Returns a part of the announcements of the caller's pinned sites, newest first, and these sites.
pub(crate) async fn newest(
    cx: &Context,
    own: &OwnSites<'_>,
    window: Window,
) -> Result<(Page<AnnouncementView>, PinnedSites)> {
    let sites = own.pinned(cx, "annc.read", TOOL).await?;
    let mut search = Search::part(window);
    search.narrow_to_sites::<Announcement>(sites.ids())?;
    let page = gate::list::<Announcement>(cx, search).await?;
    let page = page.map(|it| AnnouncementView::of(it, &sites));
    Ok((page, sites))
}

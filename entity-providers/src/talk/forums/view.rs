//! Forums below `/api`: how many messages are new to the caller, site by site.

use entity_core::endpoint::{Call, Endpoint};
use entity_core::{Context, ErrorKind, Need, Result, gate};
use schemars::JsonSchema;
use serde::Serialize;

use super::{READ, numbers};
use crate::people::site::{OwnSites, PinnedSites, SiteName, address};

/// The tool with the forums of a site.
const FORUMS: &str = "sakai.forums";
/// The tool with the private messages of a site.
const MESSAGES: &str = "sakai.messages";

const MINE: Endpoint = Endpoint::get("/api/users/me/forums", "listMyForums")
    .doc("How many messages are new to the caller in the forums of the pinned sites; sites without new ones are left out.")
    .answers::<Summary>(&mine);
const OF_SITE: Endpoint = Endpoint::get("/api/sites/{siteId}/forums/summary", "readForumsOfSite")
    .doc("How many messages are new to the caller in the forums of a site; the list is empty if there are none.")
    .variable("siteId", "The site.")
    .refuses(&[ErrorKind::Forbidden, ErrorKind::NotFound])
    .answers::<SiteSummary>(&of_site);

entity_core::register_endpoint!(
    MINE,
    also("/api/users/current/forums/summary", "listPinnedForums")
);
entity_core::register_endpoint!(OF_SITE);

/// The news in the forums of the caller's pinned sites.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ForumsSummary")]
struct Summary {
    /// The sites in which something is new, by title.
    forums: Vec<SiteForums>,
    /// The pinned sites, by title.
    sites: Vec<SiteName>,
}

/// The news in the forums of one site.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SiteForumsSummary")]
struct SiteSummary {
    /// The site, or nothing.
    forums: Vec<SiteForums>,
}

/// The number of news in the forums of a site.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SiteForums {
    /// The number of new private messages: always 0, because there are none.
    message_count: i64,
    /// The number of messages in forums that the caller sees and has neither read nor written.
    forum_count: i64,
    /// The site.
    site_id: String,
    /// The title of the site.
    site_title: String,
    /// The path of the site.
    site_url: String,
    /// The path of the forums in the site; left out if the site lacks the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    forum_url: Option<String>,
    /// The path of the private messages in the site; left out if the site lacks the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    message_url: Option<String>,
}

async fn mine(cx: &Context, _call: Call) -> Result<Summary> {
    let own = OwnSites::of_caller(cx, &[FORUMS, MESSAGES]).await?;
    let sites = own.pinned(cx, READ, FORUMS).await?;
    let messages = own.pinned(cx, READ, MESSAGES).await?;
    Ok(Summary {
        forums: news(cx, &sites, &messages).await?,
        sites: sites.into_names(),
    })
}

async fn of_site(cx: &Context, call: Call) -> Result<SiteSummary> {
    let site = call.variable("siteId")?;
    gate::demand_in_site(cx, Need::Site(READ), Some(site)).await?;
    let sites = PinnedSites::of_site(cx, site, FORUMS).await?;
    let messages = PinnedSites::of_site(cx, site, MESSAGES).await?;
    let forums = news(cx, &sites, &messages).await?;
    Ok(SiteSummary { forums })
}

/// Returns what is new in `sites`, with two addresses for each.
async fn news(
    cx: &Context,
    sites: &PinnedSites,
    messages: &PinnedSites,
) -> Result<Vec<SiteForums>> {
    let numbers = numbers::by(cx, numbers::SITE, &sites.ids()).await?;
    let news = sites.names().filter_map(|site| {
        let found = numbers.get(&site.site_id)?;
        Some(SiteForums {
            message_count: 0,
            forum_count: found.total.saturating_sub(found.read),
            site_id: site.site_id.clone(),
            site_title: site.title.clone(),
            site_url: address::of_site(&site.site_id),
            forum_url: sites.path_of_tool(&site.site_id),
            message_url: messages.path_of_tool(&site.site_id),
        })
    });
    Ok(news.filter(|it| it.forum_count > 0).collect())
}

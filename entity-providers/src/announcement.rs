//! `/direct/announcement`: news for the members of a site.
//!
//! What is a draft, not yet released, retracted or for other groups does not exist for those who may not see it:
//! `visibility` says who may.

mod actions;
mod attachment;
mod query;
#[cfg(test)]
mod tests;
mod view;
mod visibility;
mod write;

use chrono::{DateTime, Utc};
use entity_core::db::Counted;
use entity_core::wire::Millis;
use entity_core::{
    Access, Context, Delete, Entity, FeedEntry, List, Need, Operation, Page, Permit, Provider,
    Read, Result, Scope, Search, Version,
};
use serde::Serialize;

use self::attachment::Stored;
use self::query::{Place, Within};
use self::visibility::{Facts, Powers};

pub use self::attachment::Attachment;
pub use self::view::{AnnouncementView, News, SiteName, of_pinned_sites, of_site};

/// The site whose announcements are the messages of the day.
pub const MOTD_SITE: &str = "!site";

/// The channel of a site's announcements.
pub(crate) fn channel_of(site_id: &str) -> &'static str {
    match site_id {
        MOTD_SITE => "motd",
        _ => "main",
    }
}

/// What it takes to read them: what a site shows to the public, everybody reads.
const READ: Need = Need::PublicView("annc.read", &Need::Site("annc.read"));

/// The provider of announcements.
#[derive(Clone, Copy, Debug)]
pub struct Announcements;

entity_core::register!(Announcements);

/// News for the members of a site.
#[derive(Clone, Debug, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(feed = Self::to_feed, version = Self::to_version)]
pub struct Announcement {
    /// Site, channel and announcement, joined by colons.
    #[entity(id)]
    pub id: String,
    /// Its id within the channel; no other announcement of the service has it.
    #[entity(column = "id")]
    pub announcement_id: String,
    /// The headline.
    #[entity(title, required, writable, search, column, max = 255)]
    pub title: String,
    /// The text.
    #[entity(content, writable, search, html, column)]
    pub body: String,
    /// Where in the site it is: `main`, or `motd` for messages of the day.
    #[entity(column)]
    pub channel: String,
    /// The site.
    #[entity(site, required, on_create, column, references = "site")]
    pub site_id: String,
    /// What people call the site.
    pub site_title: String,
    /// The internal id of the author.
    #[entity(owner, column, references = "user")]
    pub created_by: String,
    /// The name of the author.
    pub created_by_display_name: String,
    /// When it came out: when it was released or, without a release, written.
    #[entity(created, column = "published")]
    pub created_on: Millis,
    /// When it last changed.
    #[entity(updated, column = "modified")]
    pub modified_on: Millis,
    /// Whether it is shown with emphasis.
    #[entity(writable, column)]
    pub highlight: Option<bool>,
    /// The roles it is for: none means all.
    pub selected_roles: Option<Vec<String>>,
    /// Whether it is not finished; then only its author and other editors see it.
    #[entity(writable, column = "is_draft")]
    pub draft: bool,
    /// When it appears.
    #[entity(writable, column = "release_at")]
    pub release_date: Option<Millis>,
    /// When it disappears.
    #[entity(writable, column = "retract_at")]
    pub retract_date: Option<Millis>,
    /// The ids of the groups it is for; none means everybody in the site.
    #[entity(writable)]
    pub groups: Vec<String>,
    /// Its files, each with `name`, `url` and perhaps `type` and `size`.
    #[entity(writable, sent = Vec<Stored>)]
    pub attachments: Vec<Attachment>,
    /// What else is stored of it.
    #[serde(skip)]
    #[entity(skip)]
    pub(crate) row: Row,
}

/// What is stored of an announcement and not shown as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// When it was written, in milliseconds.
    pub(crate) created: i64,
    /// Its place among the announcements of the site.
    pub(crate) position: i64,
    /// Counts the changes.
    pub(crate) version: i64,
    /// Whether it is for some groups only.
    pub(crate) is_restricted: bool,
    /// Whether it is for everybody, or for a group of the caller who read it.
    pub(crate) is_addressed: bool,
}

impl Announcement {
    fn to_feed(&self) -> FeedEntry {
        FeedEntry {
            title: self.title.clone(),
            updated: self.modified_on.0,
            published: Some(self.created_on.0),
            author: Some(self.created_by_display_name.clone()).filter(|it| !it.is_empty()),
            content: Some(self.body.clone()),
            categories: vec![self.site_title.clone()],
            enclosures: self
                .attachments
                .iter()
                .map(Attachment::to_enclosure)
                .collect(),
        }
    }

    /// The site's title and the author's name are shown too: the version changes with them.
    fn to_version(&self) -> Version {
        Version::of(&(
            &self.id,
            self.row.version,
            &self.site_title,
            &self.created_by_display_name,
        ))
    }

    fn facts(&self, cx: &Context) -> Facts {
        Facts {
            is_draft: self.draft,
            is_out: is_out(cx.now(), self.release_date, self.retract_date),
            is_addressed: self.row.is_addressed,
            is_own: cx.caller().user_id() == Some(self.created_by.as_str()),
        }
    }
}

fn is_out(now: DateTime<Utc>, release: Option<Millis>, retract: Option<Millis>) -> bool {
    release.is_none_or(|it| it.0 <= now) && retract.is_none_or(|it| it.0 > now)
}

impl Provider for Announcements {
    type Entity = Announcement;

    const PREFIX: &'static str = "announcement";

    const ACCESS: Access = Access {
        read: READ,
        create: Need::Site("annc.new"),
        update: Need::SiteOrOwn("annc.revise.any", "annc.revise.own"),
        delete: Need::SiteOrOwn("annc.delete.any", "annc.delete.own"),
    };
    const COUNTED: &'static [Counted] = &[
        Counted::new("announcement", &["title", "body", "attachments"])
            .owned_by("created_by")
            .within("site_id"),
        Counted::new("announcement_group", &[]).within("site_id"),
    ];

    async fn permits(cx: &Context, entity: &Announcement, operation: Operation) -> Result<Permit> {
        let facts = entity.facts(cx);
        if facts.is_plain() {
            return Ok(Permit::Allowed);
        }
        let powers = Powers::in_site(cx, &entity.site_id).await?;
        let is_written = matches!(operation, Operation::Create | Operation::Update);
        Ok(match facts.is_visible(&powers) {
            true => Permit::Allowed,
            // Whoever writes for a group sees what is for it, and is told so.
            false if is_written => Permit::Forbidden,
            false => Permit::Hidden,
        })
    }
}

impl Read for Announcements {
    async fn read(cx: &Context, id: &str) -> Result<Option<Announcement>> {
        query::one(cx, id).await
    }
}

impl List for Announcements {
    const ORDER: &'static str = "createdOn_desc,announcementId";

    async fn count(cx: &Context, search: &Search) -> Result<Option<u64>> {
        query::count(cx, search, within(search)).await.map(Some)
    }

    async fn list(cx: &Context, search: &Search) -> Result<Page<Announcement>> {
        query::find(cx, search, within(search)).await
    }
}

/// The sites of the type's own list: those that the gate leaves, or the one of them that is named.
fn within(search: &Search) -> Within<'_> {
    let place = match (&search.scope, search.site()) {
        (Scope::Sites(_), Some(site)) => Place::Site(site),
        (scope, _) => Place::Scope(scope),
    };
    Within { place, since: None }
}

impl Delete for Announcements {
    async fn delete(cx: &Context, current: Announcement) -> Result<()> {
        write::delete(cx, &current).await
    }
}

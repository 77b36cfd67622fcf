//! Calendars below `/api`: events with the union of the keys that old and new clients read.

use entity_core::endpoint::{Call, Endpoint, Paged};
use entity_core::file::Attachment;
use entity_core::recurrence::{Brief, Range, YEAR};
use entity_core::search::Page;
use entity_core::{Context, ErrorKind, Need, Result, Search, View, gate};
use schemars::JsonSchema;
use serde::Serialize;

use super::{CalendarEvent, READ, range};
use crate::people::site::{OwnSites, PinnedSites, SiteName};

/// The tool to which events lead.
pub(crate) const TOOL: &str = "sakai.schedule";
const FROM: &str = "The first day, such as 2026-11-21; without any day, the list is of a year before and after now.";
const TO: &str = "The last day.";

const MINE: Endpoint = Endpoint::get("/api/users/me/calendar", "listMyEvents")
    .doc("The events of the caller's sites, in order of time; each occurrence of an event that recurs is one.")
    .text("from", FROM)
    .text("to", TO)
    .answers::<Paged<Agenda>>(&mine);
const PINNED: Endpoint = Endpoint::get("/api/users/current/calendar", "listPinnedEvents")
    .doc("The events of the caller's pinned sites, in order of time.")
    .text("from", FROM)
    .text("to", TO)
    .answers::<Paged<Agenda>>(&pinned);
const OF_SITE: Endpoint = Endpoint::get("/api/sites/{siteId}/calendar", "listSiteEvents")
    .doc("The events of a site, in order of time.")
    .variable("siteId", "The site.")
    .text("from", FROM)
    .text("to", TO)
    .refuses(REFUSALS)
    .answers::<Paged<SiteAgenda>>(&of_site);
const REFUSALS: &[ErrorKind] = &[ErrorKind::Forbidden, ErrorKind::NotFound];

entity_core::register_endpoint!(MINE, also("/api/calendar/users/me", "listMyCalendar"));
entity_core::register_endpoint!(PINNED);
entity_core::register_endpoint!(
    OF_SITE,
    also("/api/calendar/sites/{siteId}", "listSiteCalendar")
);

/// Events, and the sites that were looked at.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Agenda {
    /// The events, in order of time.
    pub(super) events: Vec<EventView>,
    /// The sites, by title.
    pub(super) sites: Vec<SiteName>,
}

/// Events of one site.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SiteAgenda {
    /// The events, in order of time.
    pub(super) events: Vec<EventView>,
}

/// One event on a dashboard.
#[derive(Debug, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[view(of = CalendarEvent, beside(sites: &PinnedSites), with(
    url = sites.path(&it.site_id),
    tool = it.assignment_id.as_ref().map(|_| "assignments".to_owned()),
    attachments = it.attachments.iter().cloned().map(FileView::of).collect(),
    recurrence = RecurrenceView::of(it),
))]
pub(crate) struct EventView {
    /// The id.
    #[view(of = event_id)]
    id: String,
    /// The headline.
    pub(super) title: String,
    /// The text, sanitised HTML.
    description: String,
    /// The text again, as other clients read it.
    #[view(of = description)]
    view_text: String,
    /// When it begins, ISO 8601.
    #[view(of = first_time, as = iso)]
    pub(super) start_time: String,
    /// When it ends, ISO 8601.
    #[view(of = last_time, as = iso)]
    end_time: String,
    /// When it begins, in milliseconds since 1970.
    #[view(of = first_time, as = millis)]
    start: i64,
    /// The time that it takes, in milliseconds.
    duration: i64,
    /// The site.
    site_id: String,
    /// The title of the site.
    #[view(of = site_name)]
    site_title: String,
    /// The category.
    #[serde(rename = "type")]
    #[view(of = kind)]
    kind: String,
    /// The internal id of the creator.
    creator: String,
    /// The path of the calendar tool in the site.
    url: String,
    /// `assignments` if it is the deadline of an assignment.
    tool: Option<String>,
    /// The id of the assignment whose deadline it is.
    assignment_id: Option<String>,
    /// Its files.
    attachments: Vec<FileView>,
    /// The recurrence.
    recurrence: RecurrenceView,
}

/// A file of an event.
#[derive(Debug, Serialize, JsonSchema, View)]
#[view(of = Attachment)]
pub(crate) struct FileView {
    #[view(of = media_type)]
    mimetype: String,
    name: String,
    url: String,
    /// The size in bytes, if known.
    size: Option<u64>,
}

/// The recurrence of an event; without a frequency there is none.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct RecurrenceView {
    /// The number of occurrences, or 0 without such an end.
    count: u32,
    /// `day`, `week`, `month` or `year`.
    frequency: Option<String>,
    /// The number of these from one occurrence to the next.
    interval: u32,
    /// The end in milliseconds since 1970, or 0 without such an end.
    until: i64,
}

pub(super) async fn mine(cx: &Context, call: Call) -> Result<Paged<Agenda>> {
    let own = OwnSites::of_caller(cx, &[TOOL]).await?;
    agenda(cx, &call, own.all(cx, READ, TOOL).await?).await
}

async fn pinned(cx: &Context, call: Call) -> Result<Paged<Agenda>> {
    let own = OwnSites::of_caller(cx, &[TOOL]).await?;
    agenda(cx, &call, own.pinned(cx, READ, TOOL).await?).await
}

async fn agenda(cx: &Context, call: &Call, sites: PinnedSites) -> Result<Paged<Agenda>> {
    let window = call.window()?;
    let mut search = Search::part(window);
    search.narrow_to_sites::<CalendarEvent>(sites.ids())?;
    let page = views(cx, call, search, &sites).await?;
    let sites = sites.into_names();
    Paged::of(cx, page, window, |events| Agenda { events, sites })
}

async fn of_site(cx: &Context, call: Call) -> Result<Paged<SiteAgenda>> {
    let (window, site) = (call.window()?, call.variable("siteId")?);
    gate::demand_in_site(cx, Need::Site(READ), Some(site)).await?;
    let sites = PinnedSites::of_site(cx, site, TOOL).await?;
    let mut search = Search::part(window);
    search.narrow_to_site::<CalendarEvent>(site)?;
    let page = views(cx, &call, search, &sites).await?;
    Paged::of(cx, page, window, |events| SiteAgenda { events })
}

async fn views(
    cx: &Context,
    call: &Call,
    search: Search,
    sites: &PinnedSites,
) -> Result<Page<EventView>> {
    let day = |name| call.parameter(name).map(|it| (name, it));
    let range = Range::of_days(day("from"), day("to"))?;
    let range = range.unwrap_or_else(|| Range::around(cx.now()));
    let page = range::list(cx, search, range).await?;
    Ok(page.map(|it| EventView::of(it, sites)))
}

/// Returns the next `limit` events of the caller's sites within a year, in order of time.
pub(crate) async fn next(cx: &Context, own: &OwnSites<'_>, limit: u64) -> Result<Page<EventView>> {
    let sites = own.all(cx, READ, TOOL).await?;
    let page = range::next(cx, sites.ids(), YEAR, limit).await?;
    Ok(page.map(|it| EventView::of(it, &sites)))
}

impl RecurrenceView {
    fn of(event: &CalendarEvent) -> Self {
        let rule = event.recurrence_rule.as_deref();
        let Some(brief) = rule.and_then(|it| Brief::of(it, event.zone())) else {
            return Self::default();
        };
        Self {
            count: brief.count.unwrap_or_default(),
            frequency: Some(brief.frequency.to_owned()),
            interval: brief.interval,
            until: brief.until.map_or(0, |it| it.timestamp_millis()),
        }
    }
}

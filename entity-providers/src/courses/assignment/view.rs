//! Assignments on the dashboard.

use chrono::TimeDelta;
use entity_core::{Context, Page, Result, Search, View, Window, gate};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Assignment, READ};
use crate::people::site::{OwnSites, PinnedSites};

/// The tool whose path views link to.
pub(crate) const TOOL: &str = "sakai.assignment.grades";

/// One assignment on the dashboard.
#[derive(Debug, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[view(of = Assignment, beside(sites: &PinnedSites), with(url = sites.path(&it.site_id)))]
pub(crate) struct AssignmentView {
    /// The id.
    id: String,
    /// The headline.
    title: String,
    /// The site.
    site_id: String,
    /// The title of the site.
    site_title: String,
    /// `DRAFT`, `NOT_OPEN`, `OPEN`, or `DUE` while late work is accepted.
    status: String,
    /// When it opens, ISO 8601.
    #[view(of = open_time, as = iso)]
    open_date: String,
    /// When it is due, ISO 8601.
    #[view(of = due_time, as = iso)]
    due_date: String,
    /// When it is due, in milliseconds.
    #[view(of = due_time, as = millis)]
    due: i64,
    /// The path of the assignment tool in the site.
    url: String,
}

/// Returns the assignments of these sites that are due within `period` and that no calendar shows, the first of them first.
pub(crate) async fn due_outside_of_calendars(
    cx: &Context,
    sites: Vec<String>,
    period: TimeDelta,
    limit: u64,
) -> Result<Page<Assignment>> {
    let mut search = Search::part(Window { start: 0, limit });
    search.narrow_to_sites::<Assignment>(sites)?;
    search.narrow(Assignment::FIELD.due_time.gte(cx.now()));
    search.narrow(Assignment::FIELD.due_time.lt(cx.now() + period));
    search.narrow(Assignment::FIELD.in_calendar.eq(false));
    search.narrow(Assignment::FIELD.draft.eq(false));
    gate::list::<Assignment>(cx, search).await
}

/// Returns the assignments of the caller's sites that are due next, the first of them first.
pub(crate) async fn due_next(
    cx: &Context,
    own: &OwnSites<'_>,
    window: Window,
) -> Result<Page<AssignmentView>> {
    let sites = own.all(cx, READ, TOOL).await?;
    let mut search = Search::part(window);
    search.narrow_to_sites::<Assignment>(sites.ids())?;
    search.narrow(Assignment::FIELD.due_time.gte(cx.now()));
    let page = gate::list::<Assignment>(cx, search).await?;
    Ok(page.map(|it| AssignmentView::of(it, &sites)))
}

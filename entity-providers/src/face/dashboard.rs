//! `/api/users/{userId}/dashboard`: the next events and the news for a user, of all sites in one answer.

#[cfg(test)]
mod tests;

use entity_core::endpoint::{Call, Endpoint};
use entity_core::{Context, Error, ErrorKind, Page, Result, Search, Window, gate};
use schemars::JsonSchema;
use serde::Serialize;

use crate::courses::announcement::view::{self as announcements, AnnouncementView};
use crate::courses::announcement::{Announcement, MOTD_SITE};
use crate::courses::assignment::view::{self as assignments, AssignmentView};
use crate::courses::calendar::view::{self as calendar, EventView};
use crate::courses::gradebook::view::{self as grades, GradeView, Order};
use crate::people::site::OwnSites;
use crate::people::user::{User, is_caller};

const OF_USER: Endpoint = Endpoint::get("/api/users/{userId}/dashboard", "readDashboardOfUser")
    .doc(
        "The dashboard of the caller: the newest announcements and the latest grades of the pinned sites, the next events of \
         all sites and the assignments that are due next, at most 10 each, and how they are laid out.",
    )
    .variable("userId", "The caller: `me`, or the caller's id or external id.")
    .refuses(&[ErrorKind::Forbidden])
    .answers::<Dashboard>(&of_user);
entity_core::register_endpoint!(OF_USER);

/// The maximum number of entries of each list.
const MOST_ENTRIES: Window = Window {
    start: 0,
    limit: 10,
};
/// The number of lists, which share the size of an answer: five that are told, and the messages of the day.
const LISTS: usize = 6;
/// The tools that show more of what the lists have.
const TOOLS: [&str; 4] = [
    announcements::TOOL,
    assignments::TOOL,
    calendar::TOOL,
    grades::TOOL,
];
/// The lists that clients can arrange, in their order.
const WIDGETS: [&str; 4] = ["announcements", "assignments", "calendar", "grades"];

/// The dashboard of a user. Other dashboards have the same keys, some of which are null here.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Dashboard {
    /// The first name of the user.
    given_name: String,
    /// The messages of the day, sanitised HTML, newest first.
    motd: String,
    /// Always null: only sites have a title.
    title: Option<String>,
    /// Always null: sites are made at `/direct/site`.
    worksite_setup_url: Option<String>,
    /// The ids of the lists that there are.
    widgets: Vec<&'static str>,
    /// Always null: nobody arranges the lists.
    editable: Option<bool>,
    /// The ids of the lists, in their order.
    layout: Vec<&'static str>,
    /// The same, as other clients read it.
    widget_layout: Vec<&'static str>,
    /// Always null: only sites have a description.
    overview: Option<String>,
    /// Always null: only sites have a description.
    programme: Option<String>,
    /// The number of the layout: the first and only one.
    template: i64,
    /// Always null: only sites have a picture.
    image: Option<String>,
    /// Always null: there is no picture of the layout.
    layout1_thumbnail_url: Option<String>,
    /// Always null.
    layout2_thumbnail_url: Option<String>,
    /// Always null.
    layout3_thumbnail_url: Option<String>,
    /// Always null.
    course_template1_thumbnail_url: Option<String>,
    /// Always null.
    course_template2_thumbnail_url: Option<String>,
    /// Always null.
    course_template3_thumbnail_url: Option<String>,
    /// Always null.
    home_template1_thumbnail_url: Option<String>,
    /// Always null.
    home_template2_thumbnail_url: Option<String>,
    /// Always null.
    home_template3_thumbnail_url: Option<String>,
    /// The newest announcements of the pinned sites.
    announcements: Vec<AnnouncementView>,
    /// The assignments of all sites that are due next, in order of time.
    assignments: Vec<AssignmentView>,
    /// The next events of all sites within a year, in order of time.
    events: Vec<EventView>,
    /// The items of the pinned sites that were graded last, the latest first.
    grades: Vec<GradeView>,
}

async fn of_user(cx: &Context, call: Call) -> Result<Dashboard> {
    match is_caller(cx, call.variable("userId")?) {
        true => of_caller(cx).await,
        // Whoever the name stands for, and if there is nobody.
        false => Err(Error::forbidden()),
    }
}

async fn of_caller(cx: &Context) -> Result<Dashboard> {
    let user = gate::read::<User>(cx, cx.user_id()?).await?;
    let own = OwnSites::of_caller(cx, &TOOLS).await?;
    let (announcements, _) = announcements::newest(cx, &own, MOST_ENTRIES).await?;
    let events = calendar::next(cx, &own, MOST_ENTRIES.limit).await?;
    let assignments = assignments::due_next(cx, &own, MOST_ENTRIES).await?;
    let (grades, _) = grades::own(cx, &own, Order::LastGraded, MOST_ENTRIES).await?;
    Ok(Dashboard {
        given_name: user.first_name,
        motd: messages_of_the_day(cx).await?,
        widgets: WIDGETS.to_vec(),
        layout: WIDGETS.to_vec(),
        widget_layout: WIDGETS.to_vec(),
        template: 1,
        announcements: cut(cx, announcements)?,
        assignments: cut(cx, assignments)?,
        events: cut(cx, events)?,
        grades: cut(cx, grades)?,
        ..Dashboard::default()
    })
}

/// Returns the texts of the messages of the day, joined.
async fn messages_of_the_day(cx: &Context) -> Result<String> {
    let mut search = Search::part(MOST_ENTRIES);
    search.narrow_to_site::<Announcement>(MOTD_SITE)?;
    let page = gate::list::<Announcement>(cx, search).await?;
    let texts = page.map(|it| it.body);
    Ok(cut(cx, texts)?.join("\n"))
}

/// Returns the entries that one of the lists has room for.
fn cut<T: Serialize>(cx: &Context, page: Page<T>) -> Result<Vec<T>> {
    Ok(page.within(cx.answer_bytes() / LISTS)?.items)
}

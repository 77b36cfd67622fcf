//! `/api/sites/{siteId}/lessons`: the pages of a site with the union of the keys that clients read.

use entity_core::endpoint::{Call, Endpoint, Paged};
use entity_core::view::millis;
use entity_core::wire::Decimal;
use entity_core::{Context, ErrorKind, Result, Search, View, encode_segment, gate};
use schemars::JsonSchema;
use serde::Serialize;

use super::Lesson;

const OF_SITE: Endpoint = Endpoint::get("/api/sites/{siteId}/lessons", "listLessonsOfSite")
    .doc("The pages of the lessons of a site that the caller sees, without subpages, in order.")
    .tag("lessons")
    .variable("siteId", "The site.")
    .refuses(&[ErrorKind::Forbidden, ErrorKind::NotFound])
    .answers::<Paged<SiteLessons>>(&of_site);
entity_core::register_endpoint!(OF_SITE);

/// The lessons of a site.
#[derive(Debug, Serialize, JsonSchema)]
struct SiteLessons {
    /// The pages, in order.
    lessons: Vec<LessonView>,
}

/// A page of the lessons of a site.
#[derive(Debug, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[view(of = Lesson, with(
    url = format!("/direct/lessons/{}.html", encode_segment(&it.lesson_id)),
    release_date = it.release_date.map(millis),
))]
struct LessonView {
    /// The id.
    id: i64,
    /// The title.
    #[view(of = lesson_title)]
    title: String,
    /// The title again, as other clients read it.
    lesson_title: String,
    /// The path of the page.
    url: String,
    /// The address of the contents.
    #[serde(rename = "contentsURL")]
    contents_url: String,
    /// The site.
    site_id: String,
    /// The place among the pages.
    #[view(of = position)]
    sequence: i64,
    /// True if what follows and has prerequisites is locked until the page is completed.
    required: bool,
    /// True if the page is locked until everything required before it is completed.
    prerequisite: bool,
    /// True if only those who write lessons see the page.
    hidden: bool,
    /// The instant from which on students see the page, in milliseconds; null for always.
    release_date: Option<i64>,
    /// The points in the gradebook for whoever completes the page; null for none.
    #[schemars(with = "Option<f64>")]
    gradebook_points: Option<Decimal>,
    /// True if the page is locked for the caller.
    locked: bool,
    /// True if the caller has completed the page.
    completed: bool,
}

async fn of_site(cx: &Context, call: Call) -> Result<Paged<SiteLessons>> {
    let window = call.window()?;
    let mut search = Search::part(window);
    search.narrow_to_site::<Lesson>(call.variable("siteId")?)?;
    search.narrow(Lesson::FIELD.parent_id.is_null());
    let page = gate::list::<Lesson>(cx, search).await?;
    let page = page.map(LessonView::of);
    Paged::of(cx, page, window, |lessons| SiteLessons { lessons })
}

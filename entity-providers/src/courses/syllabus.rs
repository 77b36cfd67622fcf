//! `/direct/syllabus`: the syllabus of a course, item by item.

mod bulk;
pub mod redirect;
mod whole;

use entity_core::db::RowPolicy;
use entity_core::file::Files;
use entity_core::wire::Millis;
use entity_core::{Access, Action, Actions, Context, Entity, Error, Need, Result, Verb, standard};
use sea_orm::ColumnTrait as _;
use serde::Serialize;

use crate::base::place;

/// The function to write the items and to see drafts.
const WRITES: &str = "syllabus.add.item";
/// Everybody in the site reads; whoever writes the syllabus writes all of it.
const ACCESS: Access = Access::new(Need::Site("site.visit"), Need::Site(WRITES));
/// A draft is for those who write the syllabus.
const SIGHT: RowPolicy = RowPolicy::Any(&[
    RowPolicy::Not(&RowPolicy::Is("draft")),
    RowPolicy::Holds(WRITES),
]);

/// An item of the syllabus of a site, such as a week or a rule.
#[standard(version, facts)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(tool = "sakai.syllabus", layout = article, icon = "page")]
#[entity(prefix = "syllabus", table = "syllabus", access = ACCESS, sight = SIGHT)]
#[entity(check = Self::check, settle = Self::settle, plural = "Syllabus items")]
#[entity(singular = "Syllabus item")]
#[entity(
    verbs(read, list, create, update, delete),
    order = "order,id",
    max = 500
)]
pub struct SyllabusItem {
    /// The id.
    #[entity(id)]
    pub id: String,
    /// The site.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// The heading.
    #[entity(title, search)]
    pub title: String,
    /// The text.
    #[entity(content, optional, search, html, label = "Text")]
    pub data: String,
    /// The place among the items of the site, the lowest first; a new item comes last unless it says otherwise.
    #[entity(column = "place", optional, label = "Place")]
    pub order: i64,
    /// When that which it is about begins.
    #[entity(label = "Begins")]
    pub start_date: Option<Millis>,
    /// When that which it is about ends.
    #[entity(label = "Ends")]
    pub end_date: Option<Millis>,
    /// True if it is not finished; then only those who write the syllabus see it.
    #[entity(column = "is_draft", badge = warn)]
    pub draft: bool,
    /// Its files, each with `name`, `url` and perhaps `type` and `size`.
    #[entity(files, label = "Files")]
    pub attachments: Files,
    /// The internal id of the author.
    #[entity(owner, references = "user", label = "Author")]
    pub created_by: String,
    /// When it was written.
    #[entity(created, column = "created", label = "Created")]
    pub created_on: Millis,
    /// When it last changed.
    #[entity(updated, column = "modified", label = "Last changed")]
    pub modified_on: Millis,
}

entity_core::register!(
    SyllabusItem,
    demo = include_str!("../../demo/syllabus.json")
);

impl SyllabusItem {
    fn check(&mut self, _cx: &Context, _before: Option<&Self>) -> Result<()> {
        match (self.start_date, self.end_date) {
            (Some(start), Some(end)) if end < start => {
                Err(Error::disordered("startDate", "endDate"))
            }
            _ => Ok(()),
        }
    }

    /// Puts a new item that names no place behind the others.
    async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        use syllabus_item::Column::{Order, SiteId};
        if before.is_some() || self.order != 0 {
            return Ok(());
        }
        let beside = SiteId.eq(self.site_id.as_str());
        let (_, last) = place::last::<syllabus_item::Entity>(cx, Order, beside).await?;
        self.order = last.saturating_add(1);
        Ok(())
    }
}

impl Actions for SyllabusItem {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::collection(Verb::Get, "site", Need::Session, whole::of_site)
                .doc("The syllabus of a site as a whole, with all items that the caller may read, in order.")
                .argument("siteId", "The site."),
            Action::collection(Verb::Post, "bulk", Need::Site(WRITES), bulk::bulk)
                .label("Make many items")
                .asks(bulk::ASKS)
                .doc(
                    "Makes an item for each day on which a course meets, with numbers behind the `title`: all of them or \
                     none. Days and times of day are in UTC.",
                )
                .argument("siteId", "The site.")
                .parameters(&[
                    ("title", "what the headings begin with"),
                    ("firstDate", "the first day, such as 2026-11-21"),
                    ("lastDate", "the last day"),
                    ("days", "the days of the week, such as `MO,WE`; all, without any"),
                    ("startTime", "the time of day at which an item begins, such as 10:15"),
                    ("endTime", "the time of day at which it ends"),
                    ("draft", "whether only those see the items who write the syllabus"),
                ]),
        ]
    }
}

//! `/direct/lesson-progress`: the progress of members.

use std::collections::BTreeSet;

use entity_core::db::{self, ColumnValue, Row, RowPolicy};
use entity_core::wire::Millis;
use entity_core::{Access, Context, Entity, Need, Result, standard};
use serde::Serialize;

use super::outline::{Outline, item_key};
use super::{Lesson, LessonItem, READ, WRITE};
use crate::base::limits;

/// Progress is written by actions on pages and items only.
const ACCESS: Access = Access::new(Need::Site(READ), Need::Superuser);

/// Progress is for whoever has made it and for those who write lessons.
const SIGHT: RowPolicy = RowPolicy::All(&[
    RowPolicy::Parent(&super::SIGHT),
    RowPolicy::Any(&[RowPolicy::Own, RowPolicy::Holds(WRITE)]),
]);

/// The progress of a member in one item or, without an item, in a whole page.
#[standard(facts)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "lesson-progress", table = "lesson_progress", access = ACCESS, sight = SIGHT)]
#[entity(left_join = "lesson_item i ON i.item_id = this.item_id")]
#[entity(verbs(read, list), plural = "Lesson progress")]
pub struct LessonProgress {
    /// The ids of the page, or of the item behind an `i`, and of the member, joined by a colon.
    #[entity(id)]
    pub progress_id: String,
    /// The site.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// The page.
    #[entity(read_only, parent = Lesson, references = "lessons", label = "Page")]
    pub lesson_id: String,
    /// The title of the page.
    #[entity(title, sql = "parent.lesson_title")]
    pub lesson_title: String,
    /// The item; null for the page as a whole.
    #[entity(read_only, references = "lesson-item", label = "Item")]
    pub item_id: Option<String>,
    /// The kind of the item.
    #[entity(sql = "i.kind", for_programs)]
    pub item_kind: Option<String>,
    /// The internal id of the member.
    #[entity(owner, person, references = "user", label = "Student")]
    pub user_id: String,
    /// The name of the member.
    #[entity(name_of = user_id)]
    pub user_name: String,
    /// The instant at which the item or the page was done; null as long as a checklist is ticked in part.
    #[entity(read_only)]
    pub done_on: Option<Millis>,
    /// The ids of the entries of a checklist that are ticked.
    #[entity(read_only, kind = List, for_programs)]
    pub ticked: Ticks,
    /// The instant of the last change.
    #[entity(updated, column = "modified", label = "Last changed")]
    pub modified_on: Millis,
}

entity_core::register!(LessonProgress);

/// The ids of ticked entries, stored as one text with blanks between them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Ticks(pub Vec<String>);

impl ColumnValue for Ticks {
    type Sent = Vec<String>;

    fn receive(_cx: &Context, sent: Vec<String>) -> Result<Self, String> {
        Ok(Self(sent))
    }

    fn to_value(&self) -> sea_orm::Value {
        self.0.join(" ").into()
    }

    fn read(_cx: &Context, row: &mut Row<'_>) -> Result<Self> {
        let text: String = row.take()?;
        Ok(Self(
            text.split_whitespace().map(ToOwned::to_owned).collect(),
        ))
    }
}

impl LessonProgress {
    /// Writes how far the caller has come with an item or, without one, with the page.
    async fn put(
        cx: &Context,
        (site, page, item): (&str, &str, Option<&str>),
        (is_done, ticked): (bool, Ticks),
    ) -> Result<()> {
        let caller = cx.user_id()?;
        let id = item.map_or_else(|| page.to_owned(), item_key);
        let id = format!("{id}:{caller}");
        let now = Millis(cx.now());
        let blank = Self {
            site_id: site.to_owned(),
            lesson_id: page.to_owned(),
            item_id: item.map(ToOwned::to_owned),
            user_id: caller.to_owned(),
            modified_on: now,
            progress_id: id,
            ..Self::default()
        };
        let change = |it: &mut Self| {
            it.done_on = is_done.then_some(it.done_on.unwrap_or(now));
            it.ticked.clone_from(&ticked);
        };
        db::put(cx, blank, change).await?;
        Ok(())
    }
}

/// Notes whether the caller has done `item`, and completes the page if nothing required is left on it.
pub(super) async fn do_item(
    cx: &Context,
    item: &LessonItem,
    is_done: bool,
    ticked: Ticks,
) -> Result<()> {
    // Of two last items that are done at once, the second one finds the first one done.
    limits::lock_account(cx, cx.user_id()?).await?;
    let of = (&*item.site_id, &*item.lesson_id, Some(&*item.item_id));
    LessonProgress::put(cx, of, (is_done, ticked)).await?;
    if !is_done {
        return Ok(());
    }
    let outline = Outline::of(cx, &BTreeSet::from([&*item.site_id])).await?;
    if item.required
        && outline.is_done_but(&item.site_id, &item.lesson_id, &item_key(&item.item_id))
    {
        let page: Option<Lesson> = db::read(cx, &item.lesson_id).await?;
        if let Some(page) = page {
            complete(cx, &page, &outline).await?;
        }
    }
    Ok(())
}

/// Notes that the caller has completed `page`, and the pages above it of which nothing required is left. Those who write
/// lessons complete nothing.
pub(super) async fn complete(cx: &Context, page: &Lesson, outline: &Outline) -> Result<()> {
    if outline.is_writer(&page.site_id) {
        return Ok(());
    }
    let mut page = page.clone();
    loop {
        let of = (&*page.site_id, &*page.lesson_id, None);
        LessonProgress::put(cx, of, (true, Ticks::default())).await?;
        page.tell_score(cx, cx.user_id()?).await?;
        cx.emit_about::<Lesson>("lessonbuilder.complete", &page);
        let Some(above) = page.parent_id.clone().filter(|_| page.required) else {
            return Ok(());
        };
        let is_done = outline.is_done_but(&page.site_id, &above, &page.lesson_id);
        match db::read(cx, &above).await?.filter(|_| is_done) {
            Some(above) => page = above,
            None => return Ok(()),
        }
    }
}

//! `/direct/lessons`: the pages of a site's lessons, with subpages, items, prerequisites and progress.

mod actions;
mod contents;
mod item;
mod outline;
mod progress;
#[cfg(test)]
mod tests;
mod tree;
mod view;

use std::collections::BTreeSet;

use entity_core::db::{self, RowPolicy};
use entity_core::wire::{Decimal, Millis};
use entity_core::{Access, Context, Delete, Entity, Error, Need, Result, Version, standard};
use serde::Serialize;

use self::contents::Content;
use self::outline::Outline;

pub use self::item::{ChecklistEntry, LessonItem};
pub use self::progress::LessonProgress;

/// The function of those who read lessons.
const READ: &str = "lessonbuilder.read";
/// The function of those who write lessons. They also see hidden pages, and the progress of all members.
const WRITE: &str = "lessonbuilder.upd";
/// Everybody with the one function reads; whoever writes lessons writes all of them.
const ACCESS: Access = Access::new(Need::Site(READ), Need::Site(WRITE));

/// A page that is hidden or not yet released, or that is below such a page, is for those who write lessons.
const SIGHT: RowPolicy = RowPolicy::Any(&[
    RowPolicy::Holds(WRITE),
    RowPolicy::All(&[
        RowPolicy::Not(&RowPolicy::Is("closed")),
        RowPolicy::Since("opens"),
    ]),
]);

/// A page of the lessons of a site.
#[standard(version, facts)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(tool = "sakai.lessonbuildertool", layout = article, icon = "steps")]
#[entity(prefix = "lessons", table = "lesson_page", access = ACCESS, sight = SIGHT)]
#[entity(settle = Self::settle, complete = Self::complete, version = seen, plural = "Lessons")]
#[entity(singular = "Lesson")]
#[entity(join = "site s ON s.id = this.site_id")]
#[entity(left_join = "lesson_progress d ON d.progress_id = this.lesson_id || ':' || {caller}")]
#[entity(whole = Self::add_contents, numbered)]
#[entity(verbs(read, list, create, update), order = "position,lessonId")]
pub struct Lesson {
    /// The id, as a number.
    #[entity(computed = |it, _| number(&it.lesson_id))]
    pub id: i64,
    /// The id, as text.
    #[entity(id, for_programs)]
    pub lesson_id: String,
    /// The title.
    #[entity(title, search, label = "Title")]
    pub lesson_title: String,
    /// The site.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// The title of the site.
    #[entity(sql = "s.title", category)]
    pub site_title: String,
    /// The page to which this subpage belongs; null for a page of the first level.
    #[entity(on_create, references = "lessons", max = 20, label = "Part of")]
    #[entity(hint = "The page to which this one belongs, if any.")]
    pub parent_id: Option<String>,
    /// The place among the pages of the first level, or among the contents of the page above; a new page comes last unless
    /// it says otherwise.
    #[entity(column = "place", optional, label = "Place")]
    pub position: i64,
    /// The introduction. It is empty as long as the page is locked.
    #[entity(content, optional, html, uncompared)]
    pub description: String,
    /// True if only those who write lessons see the page and its subpages.
    #[entity(badge = warn)]
    pub hidden: bool,
    /// The instant from which on students see the page and its subpages; null for always.
    #[entity(label = "Appears")]
    #[entity(hint = "When students begin to see the page and its subpages; empty for at once.")]
    pub release_date: Option<Millis>,
    /// True if what follows and has prerequisites is locked until the page is completed.
    #[entity(label = "Must be completed", badge)]
    pub required: bool,
    /// True if the page is locked until everything required before it is completed.
    #[entity(label = "Locked until what is required is done")]
    pub prerequisite: bool,
    /// The points in the gradebook for whoever completes the page; null for no item in the gradebook.
    #[entity(kind = Number, uncompared, label = "Points in the gradebook")]
    #[entity(hint = "What whoever completes the page gets in the gradebook; empty for nothing.")]
    pub gradebook_points: Option<Decimal>,
    /// True if the page or one above it is hidden.
    #[entity(read_only, for_programs)]
    pub closed: bool,
    /// The instant from which on the page and all above it are released.
    #[entity(read_only, for_programs)]
    pub opens: Option<Millis>,
    /// True if something required before the page is not completed by the caller, who therefore sees only the title.
    #[entity(computed, badge = bad)]
    pub locked: bool,
    /// True if the caller has completed the page.
    #[entity(sql = "(d.done_on IS NOT NULL)", column, badge = good)]
    pub completed: bool,
    /// The address of the contents.
    #[serde(rename = "contentsURL")]
    #[entity(computed = |it, cx| contents::address(cx, &it.lesson_id), for_programs)]
    pub contents_url: String,
    /// The contents as one text, where a single page is read.
    #[entity(html, computed, label = "Contents")]
    pub html: String,
    /// The items and subpages in order, where a single page is read.
    #[entity(computed, for_programs)]
    pub contents_list: Vec<Content>,
    /// The internal id of the author.
    #[entity(owner, references = "user", label = "Author")]
    pub created_by: String,
    /// The instant at which the page was created.
    #[entity(created, column = "created", label = "Created")]
    pub created_on: Millis,
    /// The instant at which the page last changed.
    #[entity(updated, column = "modified", label = "Last changed")]
    pub modified_on: Millis,
}

entity_core::register!(Lesson, demo = include_str!("../../demo/lessons.json"));
entity_core::register_cause!(Lesson);

/// Returns a version of everything that the caller sees of `entity`: locks open and contents appear without a change of
/// the row.
fn seen<T: Serialize>(entity: &T) -> Version {
    Version::of(&serde_json::to_string(entity).unwrap_or_default())
}

/// Returns the number that `id` is the text of.
fn number(id: &str) -> i64 {
    id.parse().unwrap_or_default()
}

impl Lesson {
    /// Puts a page in its place, and lets its subpages and its item in the gradebook follow.
    async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        let above = self.above(cx).await?;
        if before.is_none() {
            tree::admit(cx, self).await?;
            if self.position == 0 {
                self.position =
                    tree::next_position(cx, &self.site_id, self.parent_id.as_deref()).await?;
            }
        }
        self.follow(above.as_ref());
        self.follow_in_gradebook(cx).await?;
        match before {
            Some(before) if (before.closed, before.opens) != (self.closed, self.opens) => {
                tree::open_and_close_below(cx, self).await
            }
            _ => Ok(()),
        }
    }

    /// Returns the page above this one, if there is one.
    async fn above(&self, cx: &Context) -> Result<Option<Self>> {
        let Some(id) = &self.parent_id else {
            return Ok(None);
        };
        let above: Option<Self> = db::read(cx, id).await?;
        match above.filter(|it| it.site_id == self.site_id) {
            Some(above) => Ok(Some(above)),
            None => Err(Error::field("parentId", "must be a page of the same site")),
        }
    }

    /// Derives who sees the page from the page above it and its own fields.
    fn follow(&mut self, above: Option<&Self>) {
        self.closed = self.hidden || above.is_some_and(|it| it.closed);
        self.opens = above.and_then(|it| it.opens).max(self.release_date);
    }

    /// Sets what follows from the progress of the caller: a locked page shows its title only.
    async fn complete(cx: &Context, pages: &mut [Self]) -> Result<()> {
        let sites: BTreeSet<&str> = pages.iter().map(|it| it.site_id.as_str()).collect();
        let outline = Outline::of(cx, &sites).await?;
        for page in pages {
            page.locked = outline.is_locked(&page.site_id, &page.lesson_id);
            if page.locked {
                page.description.clear();
            }
        }
        Ok(())
    }

    async fn add_contents(&mut self, cx: &Context) -> Result<()> {
        self.contents_list = contents::of(cx, self, false).await?;
        self.html = contents::to_html(cx, &self.contents_list);
        Ok(())
    }
}

impl Delete for Lesson {
    async fn delete(cx: &Context, current: Self) -> Result<()> {
        tree::delete(cx, current).await
    }
}

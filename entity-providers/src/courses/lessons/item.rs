//! `/direct/lesson-item`: the items on a page of lessons.

use std::collections::BTreeSet;

use entity_core::db::{self, RowPolicy};
use entity_core::options::{self, Choice};
use entity_core::primitives::is_web_address;
use entity_core::wire::Millis;
use entity_core::{
    Context, Delete, Entity, Error, List, Operation, Page, Permit, Result, Search,
    register_options, standard,
};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};
use serde::Serialize;

use super::outline::{Outline, item_key, titles};
use super::progress::Ticks;
use super::{ACCESS, Lesson, number, seen, tree};
use crate::base::limits;

/// The maximum number of items of a page.
const MOST_ITEMS: usize = 100;

/// An item is for those who see its page. What it refers to is decided by [`LessonItem::decide`].
const SIGHT: RowPolicy = RowPolicy::Parent(&super::SIGHT);

/// An item of a page of lessons.
#[standard(version, facts)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(maker_pays)]
#[entity(prefix = "lesson-item", table = "lesson_item", access = ACCESS, sight = SIGHT)]
#[entity(permits = Self::decide, check = Self::check, settle = Self::settle)]
#[entity(complete = Self::complete, version = seen, plural = "Lesson items")]
#[entity(left_join = "lesson_progress d ON d.progress_id = 'i' || this.item_id || ':' || {caller}")]
#[entity(verbs(read, create, update), numbered)]
pub struct LessonItem {
    /// The id, as a number.
    #[entity(computed = |it, _| number(&it.item_id))]
    pub id: i64,
    /// The id, as text.
    #[entity(id, for_programs)]
    pub item_id: String,
    /// The page.
    #[entity(on_create, parent = Lesson, references = "lessons", max = 20, label = "Page")]
    pub lesson_id: String,
    /// The title of the page.
    #[entity(sql = "parent.lesson_title")]
    pub lesson_title: String,
    /// The site.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// The name. That of an item that shows another entity is the title of that entity.
    #[entity(title, optional, search)]
    pub name: String,
    /// The kind of the item. It never changes.
    #[entity(
        on_create,
        max = 20,
        choices(
            "text" = "Text",
            "resource" = "File",
            "assignment" = "Assignment",
            "quiz" = "Quiz",
            "forum" = "Forum",
            "poll" = "Poll",
            "link" = "Web address",
            "checklist" = "Checklist",
            "break" = "Break"
        )
    )]
    #[entity(label = "Kind")]
    pub kind: String,
    /// The kind as the number that other clients read.
    #[entity(computed = |it, _| type_of(&it.kind, &it.sakai_id), for_programs)]
    pub r#type: i64,
    /// The place among the contents of the page; a new item comes last unless it says otherwise.
    #[entity(column = "place", optional, label = "Place")]
    pub position: i64,
    /// True if what follows and has prerequisites is locked until the item is done.
    #[entity(label = "Must be done")]
    pub required: bool,
    /// True if the item is locked until everything required before it is done.
    #[entity(label = "Locked until what is required is done")]
    pub prerequisite: bool,
    /// A description, as plain text.
    #[entity(optional, max = 2000, uncompared)]
    pub description: String,
    /// The text of an item of the kind `text`.
    #[entity(content, optional, html, uncompared, label = "Text")]
    pub html: String,
    /// The id of the entity that the item shows: an assignment, quiz, forum or poll, a file, or a folder, whose id ends with
    /// a slash.
    #[entity(optional, max = 500, uncompared, label = "What it shows")]
    #[entity(offered = "lesson-content")]
    #[entity(hint = "For an item that shows something else of the site.")]
    pub sakai_id: String,
    /// The address of an item of the kind `link`, which begins with `http://` or `https://`.
    #[entity(optional, max = 2000, address, uncompared, label = "Address")]
    pub url: String,
    /// True if a link opens in a new window.
    pub open_in_new_window: bool,
    /// The look of a break.
    #[entity(optional, max = 100, uncompared, label = "Look")]
    pub format: String,
    /// The entries of a checklist.
    #[entity(children, max = 50)]
    pub entries: Vec<ChecklistEntry>,
    /// The ids of the entries that the caller has ticked.
    #[entity(sql = "coalesce(d.ticked, '')", kind = List)]
    pub ticked: Ticks,
    /// True if something required before the item is not done by the caller, who therefore sees only the name.
    #[entity(computed)]
    pub locked: bool,
    /// True if the caller has done the item.
    #[entity(sql = "(d.done_on IS NOT NULL)", column)]
    pub completed: bool,
    /// The instant at which the item was created.
    #[entity(created, column = "created", label = "Created")]
    pub created_on: Millis,
    /// The instant at which the item last changed.
    #[entity(updated, column = "modified", label = "Last changed")]
    pub modified_on: Millis,
    /// True if the item shows something that the caller may not read, or is on a locked page.
    #[serde(skip)]
    #[entity(skip)]
    pub is_unseen: bool,
}

entity_core::register!(LessonItem);

/// An entry of a checklist.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(table = "lesson_checklist_entry")]
pub struct ChecklistEntry {
    /// The id.
    #[entity(id)]
    pub id: String,
    /// The item.
    #[serde(skip)]
    #[entity(hidden, parent = LessonItem)]
    pub item_id: String,
    /// The place among the entries.
    #[serde(skip)]
    #[entity(position)]
    pub position: i64,
    /// The text of the task.
    #[entity(max = 500)]
    pub name: String,
}

/// The kinds of items that show another entity.
const SHOWING: [&str; 5] = ["assignment", "quiz", "forum", "poll", "resource"];

register_options!("lesson-content", |cx, site| Box::pin(shown(cx, site)));

/// Returns what items of `site` can show.
async fn shown(cx: &Context, site: Option<&str>) -> Result<Vec<Choice>> {
    let mut all = Vec::new();
    if site.is_some() {
        for prefix in SHOWING.into_iter().filter_map(prefix_of) {
            all.extend(options::listed(cx, prefix, site, "").await?);
        }
    }
    Ok(all)
}

/// Returns the type of the entities that items of this kind show.
pub(super) fn prefix_of(kind: &str) -> Option<&'static str> {
    match kind {
        "resource" => Some("content"),
        "assignment" => Some("assignment"),
        "quiz" => Some("sam_pub"),
        "forum" => Some("forums"),
        "poll" => Some("poll"),
        _ => None,
    }
}

/// Returns the id in `text`, which may be a reference: `/assignment/ID`.
pub(super) fn target_of(prefix: &str, text: &str) -> String {
    let reference = text
        .strip_prefix('/')
        .and_then(|it| it.strip_prefix(prefix));
    let id = reference.and_then(|it| it.strip_prefix('/'));
    id.unwrap_or(text).to_owned()
}

/// Returns the number of a kind. Polls have none elsewhere, so theirs is ours.
fn type_of(kind: &str, target: &str) -> i64 {
    match kind {
        "resource" if target.ends_with('/') => 20,
        "resource" => 1,
        "assignment" => 3,
        "quiz" => 4,
        "text" => 5,
        "link" => 6,
        "forum" => 8,
        "break" => 14,
        "checklist" => 15,
        _ => 100,
    }
}

impl LessonItem {
    /// Returns the type and the id of the entity that the item shows, if it shows one.
    pub(super) fn target(&self) -> Option<(&'static str, String)> {
        let prefix = prefix_of(&self.kind)?;
        Some((prefix, target_of(prefix, &self.sakai_id)))
    }

    fn check(&mut self, _cx: &Context, _before: Option<&Self>) -> Result<()> {
        let is_link = self.kind == "link";
        if is_link && !is_web_address(&self.url) {
            let message = "must be an address that begins with `http://` or `https://`";
            return Err(Error::field("url", message));
        }
        let is_reference = prefix_of(&self.kind).is_some();
        let has_name = is_reference || matches!(&*self.kind, "text" | "break");
        for (name, is_wrong, message) in [
            ("url", !is_link && !self.url.is_empty(), "is for links only"),
            (
                "sakaiId",
                is_reference && self.sakai_id.is_empty(),
                "must not be empty",
            ),
            (
                "sakaiId",
                !is_reference && !self.sakai_id.is_empty(),
                "is for items that show another entity",
            ),
            (
                "html",
                self.kind != "text" && !self.html.is_empty(),
                "is for texts only",
            ),
            (
                "entries",
                self.kind != "checklist" && !self.entries.is_empty(),
                "are for checklists only",
            ),
            (
                "name",
                !has_name && self.name.trim().is_empty(),
                "must not be empty",
            ),
        ] {
            if is_wrong {
                return Err(Error::field(name, message));
            }
        }
        Ok(())
    }

    async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        if before.is_some() {
            return Ok(());
        }
        limits::lock_site(cx, &self.site_id).await?;
        let page: Option<Lesson> = db::read(cx, &self.lesson_id).await?;
        if page.is_none_or(|it| it.site_id != self.site_id) {
            return Err(Error::field("lessonId", "must be a page of the same site"));
        }
        let id = self.lesson_id.as_str();
        let others = of_page(cx, id).await?;
        if others.len() >= MOST_ITEMS {
            let message = format!("a page has at most {MOST_ITEMS} items");
            return Err(Error::limit_reached(message));
        }
        if self.position == 0 {
            self.position = tree::next_position(cx, &self.site_id, Some(id)).await?;
        }
        Ok(())
    }

    /// Gives items the titles of what they show, and conceals what is locked or may not be read.
    async fn complete(cx: &Context, items: &mut [Self]) -> Result<()> {
        let targets: BTreeSet<_> = items.iter().filter_map(Self::target).collect();
        let titles = titles(cx, targets).await?;
        let sites: BTreeSet<&str> = items.iter().map(|it| it.site_id.as_str()).collect();
        let outline = Outline::of(cx, &sites).await?;
        for item in items {
            let title = item.target().map(|it| titles.get(&it));
            if let Some(Some(title)) = title {
                item.name.clone_from(title);
            }
            if outline.is_writer(&item.site_id) {
                continue;
            }
            item.is_unseen =
                title == Some(None) || outline.is_locked(&item.site_id, &item.lesson_id);
            item.locked = outline.is_locked(&item.site_id, &item_key(&item.item_id));
            if item.locked {
                item.redact();
            }
        }
        Ok(())
    }

    /// Leaves only what tells that there is an item.
    fn redact(&mut self) {
        for text in [
            &mut self.description,
            &mut self.html,
            &mut self.sakai_id,
            &mut self.url,
        ] {
            text.clear();
        }
        self.entries.clear();
        self.ticked.0.clear();
    }

    async fn decide(cx: &Context, item: &Self, operation: Operation) -> Result<Permit> {
        match db::permits(cx, item, operation).await? {
            Permit::Allowed if item.is_unseen => Ok(Permit::Hidden),
            permit => Ok(permit),
        }
    }
}

/// The number of items is known only when it is known which of them the caller may see.
impl List for LessonItem {
    const ORDER: &'static str = "lessonId,position,itemId";

    async fn list(cx: &Context, search: &Search) -> Result<Page<Self>> {
        db::list(cx, search).await
    }
}

impl Delete for LessonItem {
    async fn delete(cx: &Context, current: Self) -> Result<()> {
        tree::forget(cx, &current.item_id).await?;
        db::delete(cx, current).await
    }
}

/// Returns all that is on a page, whoever asks.
pub(super) async fn of_page(cx: &Context, page: &str) -> Result<Vec<LessonItem>> {
    let of_page = lesson_item::Column::LessonId.eq(page);
    db::load(cx, lesson_item::Entity::find().filter(of_page)).await
}

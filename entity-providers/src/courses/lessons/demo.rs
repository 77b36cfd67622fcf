//! The lessons of the two courses of the demo university.

use chrono::TimeDelta;
use entity_core::db;
use entity_core::wire::Millis;
use entity_core::{Context, Demo, Result};
use sea_orm::sea_query::Expr;
use sea_orm::{
    ColumnTrait as _, EntityTrait, QueryFilter as _, QueryOrder as _, QuerySelect as _, Select,
};

use self::Mark::{Below, Hidden, In, Locked, Required};
use super::lesson;
use super::{ChecklistEntry, Lesson, LessonItem};
use crate::base::university::{BIOLOGY, HISTORY};
use crate::courses::assignment::assignment;
use crate::courses::content::content_item;

/// The feature of a page or an item.
#[derive(PartialEq)]
enum Mark {
    /// It is a subpage of the page before that is none.
    Below,
    Hidden,
    /// Students see it so many days from now.
    In(i64),
    Required,
    /// It is locked until what is required before it is done.
    Locked,
}

/// A page: the title, the introduction, its marks and its items.
struct Plan(
    &'static str,
    &'static str,
    &'static [Mark],
    &'static [Thing],
);

/// An item: its kind, its name, its text, address or entries, and its marks.
struct Thing(
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static [Mark],
);

const BEGIN: &str = "<p>Take <strong>twenty minutes</strong> and a sheet of paper.</p>";
const CHECKS: &[&str] = &[
    "Clean the lens",
    "Begin with the lowest magnification",
    "Draw what you see",
];
const OSMOSIS: &str = "<p>Put a slice of cucumber into salt water, and wait.</p>";
/// Addresses below that of the service.
const READER: &str = "/direct/content/site/biology-101";
const SOURCES: &str = "/direct/content/site/history-210";

const FIRST: &[Thing] = &[
    Thing("text", "Before you begin", &[BEGIN], &[Required]),
    Thing("checklist", "At the microscope", CHECKS, &[Required]),
    Thing("link", "The reader of this course", &[READER], &[]),
    Thing("break", "Afterwards", &[], &[]),
    Thing("resource", "", &[], &[]),
    Thing("assignment", "", &[], &[Locked]),
];
const MORE: &[Thing] = &[Thing("text", "Osmosis", &[OSMOSIS], &[])];
const LIGHT: &[Thing] = &[Thing(
    "text",
    "Light and dark",
    &["<p>Read chapter 5.</p>"],
    &[],
)];
const TOWNS: &[Thing] = &[Thing("link", "Sources about Lübeck", &[SOURCES], &[])];

const OF_BIOLOGY: &[Plan] = &[
    Plan(
        "Week 1: The cell",
        "<p>How to look at cells.</p>",
        &[Required],
        FIRST,
    ),
    Plan(
        "More about membranes",
        "<p>For the curious.</p>",
        &[Below],
        MORE,
    ),
    Plan(
        "Week 2: Photosynthesis",
        "<p>It opens after week 1.</p>",
        &[Locked],
        LIGHT,
    ),
    Plan(
        "Week 3: The salt marsh",
        "<p>What to pack.</p>",
        &[In(14)],
        &[],
    ),
    Plan(
        "Ideas for the exam",
        "<p>Not for students yet.</p>",
        &[Hidden],
        &[],
    ),
];
const OF_HISTORY: &[Plan] = &[
    Plan("Towns", "<p>Walls, markets and bells.</p>", &[], TOWNS),
    Plan("Guilds", "<p>Masters and apprentices.</p>", &[Below], &[]),
    Plan("Merchants", "<p>Salt, fur and cod.</p>", &[], &[]),
];

/// Adds the pages with their items, and returns the number of pages.
pub(super) async fn fill(cx: &Context, demo: &Demo) -> Result<usize> {
    for (site, author, plans) in [
        (BIOLOGY, "instructor1", OF_BIOLOGY),
        (HISTORY, "instructor2", OF_HISTORY),
    ] {
        let mut above = None;
        for (plan, position) in plans.iter().zip(1..) {
            let is_below = plan.2.contains(&Below);
            let mut page = plan.page(cx, above.as_ref().filter(|_| is_below));
            page.lesson_id = db::new_number::<Lesson>(cx).await?;
            site.clone_into(&mut page.site_id);
            demo.person(author)?.clone_into(&mut page.created_by);
            // Subpages are behind the items.
            page.position = if is_below { 100 } else { position };
            db::insert(cx, &page).await?;
            for (thing, position) in plan.3.iter().zip(1..) {
                thing.add(cx, &page, position).await?;
            }
            if !is_below {
                above = Some(page);
            }
        }
    }
    Ok(OF_BIOLOGY.len().saturating_add(OF_HISTORY.len()))
}

impl Plan {
    fn page(&self, cx: &Context, above: Option<&Lesson>) -> Lesson {
        let Self(title, description, marks, _) = self;
        let days = marks.iter().find_map(|it| match it {
            In(days) => TimeDelta::try_days(*days),
            _ => None,
        });
        let mut page = Lesson {
            lesson_title: (*title).to_owned(),
            parent_id: above.map(|it| it.lesson_id.clone()),
            description: (*description).to_owned(),
            hidden: marks.contains(&Hidden),
            release_date: days
                .and_then(|it| cx.now().checked_add_signed(it))
                .map(Millis),
            required: marks.contains(&Required),
            prerequisite: marks.contains(&Locked),
            created_on: Millis(cx.now()),
            modified_on: Millis(cx.now()),
            version: 1,
            ..Lesson::default()
        };
        page.follow(above);
        page
    }
}

impl Thing {
    /// Adds the item to `page`, unless there is nothing that it could show.
    async fn add(&self, cx: &Context, page: &Lesson, position: i64) -> Result<()> {
        let Self(kind, name, parts, marks) = self;
        let mut item = LessonItem {
            item_id: db::new_number::<LessonItem>(cx).await?,
            lesson_id: page.lesson_id.clone(),
            site_id: page.site_id.clone(),
            name: (*name).to_owned(),
            kind: (*kind).to_owned(),
            position,
            required: marks.contains(&Required),
            prerequisite: marks.contains(&Locked),
            created_on: Millis(cx.now()),
            modified_on: Millis(cx.now()),
            version: 1,
            ..LessonItem::default()
        };
        let text = parts.concat();
        match *kind {
            "text" => item.html = text,
            "link" => item.url = format!("{}{text}", cx.base_url()),
            "assignment" => item.sakai_id = assignment(cx, &page.site_id).await?,
            "resource" => item.sakai_id = file(cx, &page.site_id).await?,
            "checklist" => {
                let entries = parts
                    .iter()
                    .zip(1..)
                    .map(|(name, position)| ChecklistEntry {
                        id: cx.new_id(),
                        item_id: item.item_id.clone(),
                        position,
                        name: (*name).to_owned(),
                    });
                item.entries = entries.collect();
            }
            _ => {}
        }
        if matches!(*kind, "assignment" | "resource") && item.sakai_id.is_empty() {
            return Ok(());
        }
        db::insert(cx, &item).await
    }
}

/// Adds the quiz `id` to the first page of the lessons of `site`, behind its other items. Quizzes do it themselves, because
/// they are made after the lessons.
pub(crate) async fn add_quiz(cx: &Context, site: &str, id: &str) -> Result<()> {
    let pages = lesson::Entity::find()
        .select_only()
        .column(lesson::Column::LessonId)
        .filter(lesson::Column::ParentId.is_null())
        .filter(lesson::Column::SiteId.eq(site))
        .order_by_asc(lesson::Column::Position)
        .order_by_asc(lesson::Column::LessonId);
    let lesson_id = first(cx, pages).await?;
    if lesson_id.is_empty() {
        return Ok(());
    }
    let item = LessonItem {
        item_id: db::new_number::<LessonItem>(cx).await?,
        lesson_id,
        site_id: site.to_owned(),
        kind: "quiz".to_owned(),
        sakai_id: id.to_owned(),
        // Subpages are behind the items.
        position: 50,
        created_on: Millis(cx.now()),
        modified_on: Millis(cx.now()),
        version: 1,
        ..LessonItem::default()
    };
    db::insert(cx, &item).await
}

/// Returns the id of a document of the site that everybody sees, or nothing.
async fn file(cx: &Context, site: &str) -> Result<String> {
    use content_item::Column::{
        ClosesAt, Depth, Id, IsShut, MediaType, OpensAt, ResourceId, SiteId,
    };
    let documents = content_item::Entity::find()
        .select_only()
        .column(Id)
        .filter(SiteId.eq(site))
        .filter(Depth.gte(0))
        .filter(IsShut.eq(false))
        .filter(OpensAt.lte(cx.now()))
        .filter(ClosesAt.gt(cx.now()))
        .filter(MediaType.eq("application/pdf"))
        .order_by_asc(ResourceId);
    first(cx, documents).await
}

/// Returns the id of an assignment of the site that everybody sees, or nothing: types add their data in the order of their
/// names.
async fn assignment(cx: &Context, site: &str) -> Result<String> {
    use assignment::Column::{Draft, Id, OpenTime, SiteId};
    let assignments = assignment::Entity::find()
        .select_only()
        .column(Id)
        .filter(SiteId.eq(site))
        .filter(Draft.eq(false))
        .filter(Expr::cust("NOT is_restricted"))
        .filter(OpenTime.lte(cx.now()))
        .order_by_asc(Id);
    first(cx, assignments).await
}

/// Returns the first text that the query finds, or nothing.
async fn first<E: EntityTrait>(cx: &Context, query: Select<E>) -> Result<String> {
    let found: Vec<String> = cx.db()?.select(&query.limit(1)).await?;
    Ok(found.into_iter().next().unwrap_or_default())
}

//! The lessons of the two courses of the demo university.

use chrono::TimeDelta;
use entity_core::db;
use entity_core::wire::Millis;
use entity_core::{Context, Demo, Result};

use self::Mark::{Below, Hidden, In, Locked, Required};
use super::{ChecklistEntry, Lesson, LessonItem};
use crate::base::university::{BIOLOGY, HISTORY};

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
    let db = cx.db()?;
    let mut sql =
        db.sql("SELECT lesson_id FROM lesson_page WHERE parent_id IS NULL AND site_id = ");
    sql.bind(site).push(" ORDER BY place, lesson_id LIMIT 1");
    let lesson_id = first(cx, sql.into_statement()).await?;
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
    let db = cx.db()?;
    let now = cx.now().timestamp_millis();
    let mut sql =
        db.sql("SELECT id FROM content WHERE depth >= 0 AND NOT is_shut AND opens_at <= ");
    sql.bind(now).push(" AND closes_at > ").bind(now);
    sql.push(" AND media_type = ").bind("application/pdf");
    sql.push(" AND site_id = ")
        .bind(site)
        .push(" ORDER BY resource_id LIMIT 1");
    first(cx, sql.into_statement()).await
}

/// Returns the id of an assignment of the site that everybody sees, or nothing: types add their data in the order of their
/// names.
async fn assignment(cx: &Context, site: &str) -> Result<String> {
    let db = cx.db()?;
    let mut sql = db.sql("SELECT id FROM assignment WHERE NOT is_draft AND NOT is_restricted");
    sql.push(" AND open_time <= ")
        .bind(cx.now().timestamp_millis());
    sql.push(" AND site_id = ")
        .bind(site)
        .push(" ORDER BY id LIMIT 1");
    first(cx, sql.into_statement()).await
}

/// Returns the first text that the statement finds, or nothing.
async fn first(cx: &Context, statement: sea_orm::Statement) -> Result<String> {
    let found = cx.db()?.rows(statement, db::columns::<String>).await?;
    Ok(found.into_iter().next().unwrap_or_default())
}

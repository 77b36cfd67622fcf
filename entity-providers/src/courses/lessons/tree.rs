//! Pages and subpages: their number, their visibility, and the order of contents.

use std::collections::{BTreeSet, HashMap};

use entity_core::db::{self, Record as _};
use entity_core::wire::Decimal;
use entity_core::{Context, Error, Provider as _, Reference, Result};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};

use super::progress::lesson_progress;
use super::{Lesson, LessonItem, item, lesson};
use crate::base::limits;
use crate::courses::gradebook::{self, ItemSpec};

/// The maximum number of pages of a site.
pub(super) const MOST_PAGES: usize = 200;
/// The maximum number of pages above a page.
const DEEPEST: usize = 5;

/// Returns all pages of a site, whoever asks.
async fn pages(cx: &Context, site: &str) -> Result<Vec<Lesson>> {
    let of_site = lesson::Column::SiteId.eq(site);
    db::load(cx, lesson::Entity::find().filter(of_site)).await
}

/// Checks that `page`, which is new, is not one too many and not too deep.
pub(super) async fn admit(cx: &Context, page: &Lesson) -> Result<()> {
    limits::lock_site(cx, &page.site_id).await?;
    let pages = pages(cx, &page.site_id).await?;
    if pages.len() >= MOST_PAGES {
        let message = format!("the lessons of a site have at most {MOST_PAGES} pages");
        return Err(Error::limit_reached(message));
    }
    let mut above = page.parent_id.as_deref();
    for _ in 0..=DEEPEST {
        let Some(id) = above else {
            return Ok(());
        };
        let found = pages.iter().find(|it| it.lesson_id == id);
        above = found.and_then(|it| it.parent_id.as_deref());
    }
    let message = format!("must not be below {DEEPEST} others");
    Err(Error::field("parentId", message))
}

/// Returns the place behind all pages of the first level or, with a page, behind its contents.
pub(super) async fn next_position(cx: &Context, site: &str, page: Option<&str>) -> Result<i64> {
    let db = cx.db()?;
    let page = page.unwrap_or_default();
    let mut sql = db.sql("SELECT max(place) FROM (SELECT place FROM lesson_page WHERE site_id = ");
    sql.bind(site)
        .push(" AND coalesce(parent_id, '') = ")
        .bind(page);
    sql.push(" UNION ALL SELECT place FROM lesson_item WHERE lesson_id = ")
        .bind(page)
        .push(") places");
    let last = db
        .rows(sql.into_statement(), db::columns::<Option<i64>>)
        .await?;
    let last = last.into_iter().flatten().max().unwrap_or_default();
    Ok(last.saturating_add(1))
}

/// Returns the pages of `all` below the page `id`, each behind the one above it.
fn below(id: &str, all: Vec<Lesson>) -> Vec<Lesson> {
    let mut by_parent: HashMap<String, Vec<Lesson>> = HashMap::new();
    for page in all {
        if let Some(parent) = page.parent_id.clone() {
            by_parent.entry(parent).or_default().push(page);
        }
    }
    let (mut found, mut open) = (Vec::new(), vec![id.to_owned()]);
    while let Some(id) = open.pop() {
        let pages = by_parent.remove(&id).unwrap_or_default();
        open.extend(pages.iter().map(|it| it.lesson_id.clone()));
        found.extend(pages);
    }
    found
}

/// Derives anew who sees the pages below `page`, which is about to be written.
pub(super) async fn open_and_close_below(cx: &Context, page: &Lesson) -> Result<()> {
    let mut above = HashMap::from([(page.lesson_id.clone(), page.clone())]);
    for mut changed in below(&page.lesson_id, pages(cx, &page.site_id).await?) {
        let parent = changed.parent_id.as_ref().and_then(|it| above.get(it));
        let before = (changed.closed, changed.opens);
        changed.follow(parent);
        if before != (changed.closed, changed.opens) {
            let opens = changed.opens.map(|it| it.0.timestamp_millis());
            db::note::<Lesson>(cx, changed.key(), "closed", changed.closed).await?;
            db::note::<Lesson>(cx, changed.key(), "opens", opens).await?;
        }
        above.insert(changed.lesson_id.clone(), changed);
    }
    Ok(())
}

/// Deletes `page` and all below it, with their items in the gradebook.
pub(super) async fn delete(cx: &Context, page: Lesson) -> Result<()> {
    let below = below(&page.lesson_id, pages(cx, &page.site_id).await?);
    for page in below.into_iter().rev().chain([page]) {
        gradebook::follow_cause(cx, &page.cause(), None).await?;
        db::delete(cx, page).await?;
    }
    Ok(())
}

impl Lesson {
    fn cause(&self) -> String {
        Reference::entity(Self::PREFIX, self.lesson_id.as_str()).to_string()
    }

    /// Writes the item of the page in the gradebook, which is as hidden as the page.
    pub(super) async fn follow_in_gradebook(&self, cx: &Context) -> Result<()> {
        let points = self.gradebook_points.filter(|it| *it > Decimal::ZERO);
        if self.gradebook_points.is_some() && points.is_none() {
            return Err(Error::field("gradebookPoints", "must be more than 0"));
        }
        let spec = points.map(|points| ItemSpec {
            site: self.site_id.clone(),
            name: self.lesson_title.clone(),
            points,
            due: None,
            is_withheld: false,
            fields: ["lessonTitle", "gradebookPoints"],
        });
        gradebook::follow_cause(cx, &self.cause(), spec).await?;
        Ok(())
    }

    /// Gives `user`, who has completed the page, its points in the gradebook, if they are a student.
    pub(super) async fn tell_score(&self, cx: &Context, user: &str) -> Result<()> {
        if self.gradebook_points.is_some() && gradebook::is_student(cx, &self.site_id, user).await?
        {
            self.follow_in_gradebook(cx).await?;
            gradebook::set_score_of_cause(cx, &self.cause(), user, self.gradebook_points, None)
                .await?;
        }
        Ok(())
    }
}

/// Puts the contents of the page `page`, or the pages of the first level, in the order of `ids`. Whatever `ids` leave out
/// comes behind, in the order that it has.
///
/// # Errors
/// Returns an error that names the field `order` if an id is none of the contents, or stands there twice.
pub(super) async fn arrange(
    cx: &Context,
    site: &str,
    page: Option<&str>,
    ids: &[String],
) -> Result<()> {
    limits::lock_site(cx, site).await?;
    let page = page.unwrap_or_default();
    let mut there: Vec<(i64, bool, String)> = Vec::new();
    for it in pages(cx, site).await? {
        if it.parent_id.as_deref().unwrap_or_default() == page {
            there.push((it.position, false, it.lesson_id));
        }
    }
    let items = item::of_page(cx, page).await?;
    there.extend(items.into_iter().map(|it| (it.position, true, it.item_id)));
    there.sort();
    let is_there = |id: &String| there.iter().any(|it| it.2 == *id);
    if ids.iter().collect::<BTreeSet<_>>().len() < ids.len() || !ids.iter().all(is_there) {
        return Err(Error::field(
            "order",
            "must have ids of these contents, each once",
        ));
    }
    let place = |id: &str| ids.iter().position(|it| it == id).unwrap_or(ids.len());
    there.sort_by_key(|it| place(&it.2));
    for ((former, is_item, id), position) in there.into_iter().zip(1_i64..) {
        if former == position {
            continue;
        }
        if is_item {
            db::note::<LessonItem>(cx, &id, "place", position).await?;
        } else {
            db::note::<Lesson>(cx, &id, "place", position).await?;
        }
    }
    Ok(())
}

/// Deletes what members have done with the item `id`.
pub(super) async fn forget(cx: &Context, id: &str) -> Result<()> {
    let of_item = lesson_progress::Column::ItemId.eq(id);
    let done = lesson_progress::Entity::delete_many().filter(of_item);
    done.exec(cx.db()?).await?;
    Ok(())
}

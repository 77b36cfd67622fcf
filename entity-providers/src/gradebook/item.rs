//! `/direct/gradebook-item`: what is graded in a site.

use entity_core::db::{self, Facts, Migration, Record as _, Row};
use entity_core::wire::{Decimal, Millis};
use entity_core::{Access, Context, Delete, Entity, Error, Fields, Need, Result, Update};
use sea_orm::{ConnectionTrait as _, DbBackend};
use serde::Serialize;

use super::audience::{EDIT, MEMBER, SEES_ITEM};

/// The largest number of points of an item, and of a score.
pub(super) const MOST_POINTS: Decimal = Decimal::of_units(10_000_000_000);
/// The maximum number of items of a site.
pub(super) const MOST_ITEMS: i64 = 500;

/// Something that is graded, with the points that it is worth.
#[derive(Clone, Debug, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "gradebook-item", plural = "Gradebook items")]
#[entity(table = "gradebook_item", sight = SEES_ITEM, check = Self::check, settle = Self::settle)]
#[entity(access = Access::new(Need::Site(MEMBER), Need::Site(EDIT)), verbs(read, list, create))]
#[entity(order = "position,itemId")]
pub struct GradebookItem {
    /// The id.
    #[entity(id)]
    pub item_id: String,
    /// The site.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// The name, which no other item of the site has.
    #[entity(title, search)]
    pub name: String,
    /// The points that it is worth.
    #[entity(kind = Number, uncompared)]
    pub points: Decimal,
    /// The category, if it has one.
    #[entity(references = "gradebook-category")]
    pub category_id: Option<String>,
    /// When it is due.
    pub due_date: Option<Millis>,
    /// Whether it is extra credit, whose points nobody has to earn.
    pub extra_credit: bool,
    /// Whether students see it, and their scores.
    pub released: bool,
    /// Whether it counts in the course grade.
    #[entity(default = "true")]
    pub counted: bool,
    /// The place among the items of the site; without one, the last.
    #[entity(optional)]
    pub position: i64,
    /// The reference of what it belongs to, such as an assignment, which then also says its name, points and due date.
    #[entity(read_only)]
    pub external_reference: Option<String>,
    /// When it was made.
    #[entity(created)]
    pub created_on: Millis,
    /// When it last changed.
    #[entity(updated)]
    pub modified_on: Millis,
    /// The number of changes.
    #[entity(version)]
    pub version: i64,
    /// The answers about its row to the rule about who sees it.
    #[serde(skip)]
    #[entity(facts)]
    pub facts: Facts,
}

entity_core::register!(GradebookItem, migrations(INDEXED), demo = super::demo::fill);

/// The last guard of unique names, and of items that follow something else.
const INDEXED: Migration = Migration::of_tables("gradebook_indexes", INDEXES);

const INDEXES: &[&str] = &[
    "CREATE UNIQUE INDEX gradebook_item_by_name ON gradebook_item (site_id, name)",
    "CREATE UNIQUE INDEX gradebook_item_by_reference ON gradebook_item (external_reference)",
    "CREATE UNIQUE INDEX gradebook_category_by_name ON gradebook_category (site_id, name)",
];

impl GradebookItem {
    fn check(&mut self, _cx: &Context, _before: Option<&Self>) -> Result<()> {
        if self.points < Decimal::ZERO || self.points > MOST_POINTS {
            let message = format!("must be between 0 and {MOST_POINTS}");
            return Err(Error::field("points", message));
        }
        Ok(())
    }

    async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        if before.is_none_or(|it| it.name != self.name) {
            let (site, name) = (&self.site_id, &self.name);
            let last =
                super::place::check::<Self>(cx, site, name, &self.item_id, MOST_ITEMS).await?;
            if before.is_none() && self.position == 0 {
                self.position = last.saturating_add(1);
            }
        }
        let is_new = before.is_none_or(|it| it.category_id != self.category_id);
        match &self.category_id {
            Some(category) if is_new => self.demand_category(cx, category).await,
            _ => Ok(()),
        }
    }

    async fn demand_category(&self, cx: &Context, category: &str) -> Result<()> {
        let db = cx.db()?;
        let mut sql = db.sql("SELECT count(*) FROM gradebook_category WHERE category_id = ");
        sql.bind(category)
            .push(" AND site_id = ")
            .bind(self.site_id.as_str());
        let read = |row: &mut Row<'_>| Ok(row.take::<i64>()?);
        match db.rows(sql.into_statement(), read).await?.contains(&1) {
            true => Ok(()),
            false => Err(Error::field("categoryId", "must be a category of the site")),
        }
    }

    /// Returns whether something else says what the item is.
    pub(super) fn is_external(&self) -> bool {
        self.external_reference.is_some()
    }

    /// Deletes the item with its scores. A score that is written at the same time waits for the deletion, or is
    /// deleted.
    pub(super) async fn remove(self, cx: &Context) -> Result<()> {
        let (id, site) = (self.item_id.clone(), self.site_id.clone());
        db::delete(cx, self).await?;
        let db = cx.db()?;
        let mut sql = db.sql("DELETE FROM gradebook_score WHERE site_id = ");
        sql.bind(site).push(" AND item_id = ").bind(id);
        db.execute_raw(sql.into_statement()).await?;
        Ok(())
    }

    /// Keeps these items from being deleted as long as the transaction lasts. On SQLite all writers come one after the
    /// other.
    pub(super) async fn hold(cx: &Context, ids: &[&str]) -> Result<()> {
        let db = cx.db()?;
        if db.get_database_backend() == DbBackend::Postgres {
            let mut sql = db.sql("SELECT item_id FROM gradebook_item WHERE item_id");
            sql.bind_list(ids)?.push(" ORDER BY item_id FOR KEY SHARE");
            db.execute_raw(sql.into_statement()).await?;
        }
        Ok(())
    }
}

impl Update for GradebookItem {
    type Changes = Fields;

    async fn update(cx: &Context, current: Self, sent: Fields) -> Result<Self> {
        let mut changed = current.clone();
        changed.change(cx, sent)?;
        let is_same = (&changed.name, changed.points, changed.due_date)
            == (&current.name, current.points, current.due_date);
        if current.is_external() && !is_same {
            return Err(Error::conflict(
                "the name, the points and the due date of this item are changed where it comes from",
            ));
        }
        db::replace(cx, current, changed).await
    }
}

impl Delete for GradebookItem {
    async fn delete(cx: &Context, current: Self) -> Result<()> {
        match current.is_external() {
            true => Err(Error::conflict("this item is deleted where it comes from")),
            false => current.remove(cx).await,
        }
    }
}

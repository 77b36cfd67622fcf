//! `/direct/gradebook-item`: the graded items of a site.

use entity_core::db::{self, Record as _};
use entity_core::wire::{Decimal, Millis};
use entity_core::{Access, Context, Delete, Entity, Error, Fields, Need, Result, Update, standard};
use sea_orm::{ColumnTrait as _, EntityTrait as _, PaginatorTrait as _, QueryFilter as _};
use serde::Serialize;

use super::audience::{EDIT, MEMBER, SEES_ITEM};
use super::category::gradebook_category;
use crate::base::{limits, place};

/// The largest number of points of an item, and of a score.
pub(super) const MOST_POINTS: Decimal = Decimal::of_units(10_000_000_000);
/// The maximum number of items of a site.
pub(super) const MOST_ITEMS: i64 = 500;

/// Something that is graded, with the points that it is worth.
#[standard(facts)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(maker_pays)]
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
    #[entity(title, search, unique_in_site)]
    pub name: String,
    /// The points that it is worth.
    #[entity(kind = Number, uncompared)]
    pub points: Decimal,
    /// The category, if it has one.
    #[entity(references = "gradebook-category")]
    pub category_id: Option<String>,
    /// When it is due.
    pub due_date: Option<Millis>,
    /// True if it is extra credit, whose points nobody has to earn.
    pub extra_credit: bool,
    /// True if students see it, and their scores, as soon as they see what it belongs to.
    pub released: bool,
    /// True if it counts in the course grade.
    #[entity(default = "true")]
    pub counted: bool,
    /// The place among the items of the site; without one, the last.
    #[entity(optional)]
    pub position: i64,
    /// The reference of what it belongs to, such as an assignment, which then also says its name, points and due date.
    #[entity(read_only, unique)]
    pub external_reference: Option<String>,
    /// True as long as what it belongs to does not tell students their scores.
    #[serde(skip)]
    #[entity(hidden)]
    pub withheld: bool,
    /// When it was made.
    #[entity(created)]
    pub created_on: Millis,
    /// When it last changed.
    #[entity(updated)]
    pub modified_on: Millis,
    /// The number of changes.
    #[entity(version)]
    pub version: i64,
}

entity_core::register!(
    GradebookItem,
    demo = include_str!("../../../demo/gradebook-item.json")
);

impl GradebookItem {
    fn check(&mut self, _cx: &Context, _before: Option<&Self>) -> Result<()> {
        if self.points < Decimal::ZERO || self.points > MOST_POINTS {
            let message = format!("must be between 0 and {MOST_POINTS}");
            return Err(Error::field("points", message));
        }
        Ok(())
    }

    async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        if before.is_none() {
            limits::lock_site(cx, &self.site_id).await?;
            let beside = gradebook_item::Column::SiteId.eq(self.site_id.as_str());
            let place = gradebook_item::Column::Position;
            let (count, last) = place::last::<gradebook_item::Entity>(cx, place, beside).await?;
            if count >= MOST_ITEMS {
                let message = format!("a gradebook has at most {MOST_ITEMS} items");
                return Err(Error::limit_reached(message));
            }
            if self.position == 0 {
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
        let found = gradebook_category::Entity::find_by_id(category)
            .filter(gradebook_category::Column::SiteId.eq(self.site_id.as_str()));
        match found.count(cx.db()?).await? {
            1 => Ok(()),
            _ => Err(Error::field("categoryId", "must be a category of the site")),
        }
    }

    /// Returns whether something else says what the item is.
    pub(super) fn is_external(&self) -> bool {
        self.external_reference.is_some()
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
            false => db::delete(cx, current).await,
        }
    }
}

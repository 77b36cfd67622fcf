//! `/direct/gradebook-category`: kinds of items, which weigh differently in course grades.

use entity_core::db;
use entity_core::wire::{Decimal, Millis};
use entity_core::{Access, Context, Delete, Entity, Error, Need, Result, standard};
use sea_orm::sea_query::{Expr, ExprTrait as _};
use sea_orm::{ColumnTrait as _, EntityTrait as _, PaginatorTrait as _, QueryFilter as _};
use serde::Serialize;

use super::audience::{EDIT, MEMBER, SEES_GRADEBOOK};
use super::item::gradebook_item;
use crate::base::limits;

/// The largest weight.
const MOST_WEIGHT: Decimal = Decimal::of_units(10_000_000);
/// The maximum number of scores that a category drops.
const MOST_DROPPED: i64 = 100;
/// The maximum number of categories of a site.
const MOST_CATEGORIES: u64 = 100;

/// A kind of gradebook items, with its weight in the course grade.
#[standard(facts)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(maker_pays)]
#[entity(prefix = "gradebook-category", plural = "Gradebook categories")]
#[entity(table = "gradebook_category", sight = SEES_GRADEBOOK, check = Self::check, settle = Self::settle)]
#[entity(access = Access::new(Need::Site(MEMBER), Need::Site(EDIT)), verbs(read, list, create, update))]
pub struct GradebookCategory {
    /// The id.
    #[entity(id)]
    pub category_id: String,
    /// The site.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// The name, which no other category of the site has.
    #[entity(title, search, unique_in_site)]
    pub name: String,
    /// The weight in the course grade, as a percentage for example; without one, the points of the items count.
    #[entity(kind = Number, uncompared, label = "Weight in percent")]
    pub weight: Option<Decimal>,
    /// The number of lowest scores of each student that don't count.
    #[entity(optional, label = "Lowest scores left out")]
    pub drop_lowest: i64,
    /// True if the whole category is extra credit.
    pub extra_credit: bool,
    /// When it last changed.
    #[entity(updated, label = "Last changed")]
    pub modified_on: Millis,
    /// The number of changes.
    #[entity(version)]
    pub version: i64,
}

entity_core::register!(GradebookCategory);

impl GradebookCategory {
    fn check(&mut self, _cx: &Context, _before: Option<&Self>) -> Result<()> {
        if self
            .weight
            .is_some_and(|it| it < Decimal::ZERO || it > MOST_WEIGHT)
        {
            return Err(Error::field(
                "weight",
                format!("must be between 0 and {MOST_WEIGHT}"),
            ));
        }
        if !(0..=MOST_DROPPED).contains(&self.drop_lowest) {
            return Err(Error::field(
                "dropLowest",
                format!("must be between 0 and {MOST_DROPPED}"),
            ));
        }
        Ok(())
    }

    async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        if before.is_none() {
            limits::lock_site(cx, &self.site_id).await?;
            let of_site = gradebook_category::Column::SiteId.eq(self.site_id.as_str());
            let others = gradebook_category::Entity::find().filter(of_site);
            if others.count(cx.db()?).await? >= MOST_CATEGORIES {
                let message = format!("a gradebook has at most {MOST_CATEGORIES} categories");
                return Err(Error::limit_reached(message));
            }
        }
        Ok(())
    }
}

impl Delete for GradebookCategory {
    /// Deletes the category; its items stay, without a category.
    async fn delete(cx: &Context, current: Self) -> Result<()> {
        use gradebook_item::Column::{CategoryId, ModifiedOn, SiteId, Version};
        gradebook_item::Entity::update_many()
            .col_expr(CategoryId, Expr::val(None::<String>))
            .col_expr(Version, Version.into_expr().add(1))
            .col_expr(ModifiedOn, cx.now().timestamp_millis().into())
            .filter(SiteId.eq(current.site_id.as_str()))
            .filter(CategoryId.eq(current.category_id.as_str()))
            .exec(cx.db()?)
            .await?;
        db::delete(cx, current).await
    }
}

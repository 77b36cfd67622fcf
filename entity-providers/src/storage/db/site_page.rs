//! `site_page`: the pages of a site, each with its tools.

use entity_core::db::Row;
use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait,
    EnumIter, PrimaryKeyTrait,
};

/// One row.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Row)]
#[sea_orm(table_name = "site_page")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// The site.
    pub site_id: String,
    /// The title.
    pub title: String,
    /// Its place in the site, from 1.
    pub position: i64,
    /// 0 for one column, 1 for two.
    pub layout: i64,
}

/// None: what belongs together is joined where it is asked for.
#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

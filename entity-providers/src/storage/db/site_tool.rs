//! `site_tool`: a tool placed on a page.

use entity_core::db::Row;
use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait,
    EnumIter, PrimaryKeyTrait,
};

/// One row.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Row)]
#[sea_orm(table_name = "site_tool")]
pub struct Model {
    /// The id of the placement.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// The page.
    pub page_id: String,
    /// The site.
    pub site_id: String,
    /// Which tool, such as `sakai.announcements`.
    pub tool_id: String,
    /// The title here.
    pub title: String,
    /// Its place on the page, from 1.
    pub position: i64,
}

/// None: what belongs together is joined where it is asked for.
#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

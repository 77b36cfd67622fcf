//! `site_likeness`: the skeletons of the ids of sites, so that no two ids look alike.

use entity_core::db::Row;
use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait,
    EnumIter, PrimaryKeyTrait,
};

/// One row.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Row)]
#[sea_orm(table_name = "site_likeness")]
pub struct Model {
    /// The skeleton of the id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub skeleton: String,
    /// The id of the site that has it.
    pub site_id: String,
}

/// None: what belongs together is joined where it is asked for.
#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

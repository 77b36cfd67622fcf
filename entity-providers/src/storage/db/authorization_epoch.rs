//! `authorization_epoch`: one row, whose number goes up when the data of decisions change.

use entity_core::db::Row;
use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait,
    EnumIter, PrimaryKeyTrait,
};

/// The row.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Row)]
#[sea_orm(table_name = "authorization_epoch")]
pub struct Model {
    /// Always 1.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i64,
    /// The number.
    pub number: i64,
}

/// None: what belongs together is joined where it is asked for.
#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

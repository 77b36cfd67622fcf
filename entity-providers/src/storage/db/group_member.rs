//! `group_member`: the members of groups.

use entity_core::db::Row;
use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait,
    EnumIter, PrimaryKeyTrait,
};

/// One row.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Row)]
#[sea_orm(table_name = "group_member")]
pub struct Model {
    /// The group.
    #[sea_orm(primary_key, auto_increment = false)]
    pub group_id: String,
    /// The internal id of the user.
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: String,
    /// The site of the group, in which the row counts. None if a node of a former version wrote it.
    pub site_id: Option<String>,
}

/// None: what belongs together is joined where it is asked for.
#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

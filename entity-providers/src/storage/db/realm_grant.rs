//! `realm_grant`: which role holds which function in which realm.

use entity_core::db::Row;
use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait,
    EnumIter, PrimaryKeyTrait,
};

/// One row.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Row)]
#[sea_orm(table_name = "realm_grant")]
pub struct Model {
    /// A template such as `!site.template.course`, or `/site/<id>` for what one site changes.
    #[sea_orm(primary_key, auto_increment = false)]
    pub realm: String,
    /// The role.
    #[sea_orm(primary_key, auto_increment = false)]
    pub role: String,
    /// The function, such as `annc.read`. Nothing stands for the role itself, which a site has or has not.
    #[sea_orm(primary_key, auto_increment = false)]
    pub function: String,
    /// True if a site adds it to its template, false if it takes it away.
    pub is_granted: bool,
}

/// None: what belongs together is joined where it is asked for.
#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

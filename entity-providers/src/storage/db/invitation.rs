//! `invitation`: who is asked to become a member of which site, and as what.

use entity_core::db::Row;
use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait,
    EnumIter, PrimaryKeyTrait,
};

/// One row.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Row)]
#[sea_orm(table_name = "invitation")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// The site.
    pub site_id: String,
    /// The role that whoever accepts it gets.
    pub role: String,
    /// To whom it is, as it was typed.
    pub invitee: String,
    /// The same in lower case: a site invites each name once.
    pub invitee_lower: String,
    /// The internal id of who invited.
    pub invited_by: String,
    /// When it was made, in milliseconds.
    pub created: i64,
    /// When it ends, in milliseconds.
    pub expires: i64,
    /// The hash of the secret in its link, once there is one.
    pub secret_hash: Option<String>,
}

/// None: what belongs together is joined where it is asked for.
#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

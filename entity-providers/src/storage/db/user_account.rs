//! `user_account`: the people who can log in.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait,
    EnumIter, PrimaryKeyTrait,
};

/// One row.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "user_account")]
pub struct Model {
    /// The internal id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// The external id, which the user types to log in; unique, whatever the case.
    pub eid: String,
    /// The e-mail address, perhaps empty.
    pub email: String,
    /// True if the e-mail address is known to be the user's.
    pub is_email_verified: bool,
    /// The first name.
    pub first_name: String,
    /// The last name.
    pub last_name: String,
    /// The kind of account, such as `registered`.
    pub r#type: String,
    /// The hash of the password; none if another directory checks it.
    pub password_hash: Option<String>,
    /// True if the account is shut.
    pub is_disabled: bool,
    /// Further properties, a JSON object of texts.
    pub props: String,
    /// When the user last logged in, in milliseconds.
    pub last_login: Option<i64>,
    /// When it came into being, in milliseconds.
    pub created: i64,
    /// The internal id of who created it.
    pub created_by: Option<String>,
    /// When it last changed, in milliseconds.
    pub modified: i64,
    /// Counts the changes.
    pub version: i64,
    /// The external id, folded: what lists look into. [`entity_core::db::folded`] sets it.
    pub eid_folded: Option<String>,
    /// The e-mail address, folded: what lists look into. [`entity_core::db::folded`] sets it.
    pub email_folded: Option<String>,
    /// The first name, folded: what lists look into. [`entity_core::db::folded`] sets it.
    pub first_name_folded: Option<String>,
    /// The last name, folded: what lists look into. [`entity_core::db::folded`] sets it.
    pub last_name_folded: Option<String>,
}

/// None: what belongs together is joined where it is asked for.
#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

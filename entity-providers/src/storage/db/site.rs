//! `site`: courses, projects and the administration site.

use entity_core::db::Row;
use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait,
    EnumIter, PrimaryKeyTrait,
};

/// One row.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Row)]
#[sea_orm(table_name = "site")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// The title.
    pub title: String,
    /// `course`, `project`, or nothing.
    pub r#type: Option<String>,
    /// One plain line about it.
    pub short_description: Option<String>,
    /// Sanitised HTML about it.
    pub description: Option<String>,
    /// Whom to ask.
    pub contact_name: Option<String>,
    /// How to reach whom to ask.
    pub contact_email: Option<String>,
    /// True if its members may come in.
    pub is_published: bool,
    /// True if strangers may look at it.
    pub is_pub_view: bool,
    /// True if users may join by themselves.
    pub is_joinable: bool,
    /// The role of those who join by themselves.
    pub joiner_role: Option<String>,
    /// Its look.
    pub skin: Option<String>,
    /// The address of its icon.
    pub icon_url: Option<String>,
    /// The internal id of the user whom it belongs to.
    pub owner_id: Option<String>,
    /// The year or number of its term, digits only.
    pub term: Option<String>,
    /// The external id of its term.
    pub term_eid: Option<String>,
    /// The group of the student system that fills it.
    pub provider_group_id: Option<String>,
    /// When it came into being, in milliseconds.
    pub created: i64,
    /// When it last changed, in milliseconds.
    pub modified: i64,
    /// Counts the changes.
    pub version: i64,
    /// The title, folded: what lists look into. [`entity_core::db::folded`] sets it.
    pub title_folded: Option<String>,
    /// The line about it, folded: what lists look into. [`entity_core::db::folded`] sets it.
    pub short_description_folded: Option<String>,
}

/// None: what belongs together is joined where it is asked for.
#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

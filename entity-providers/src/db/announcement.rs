//! `announcement`: news for the members of a site.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait,
    EnumIter, PrimaryKeyTrait,
};

/// One row.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "announcement")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// The site.
    pub site_id: String,
    /// The channel within the site: `main`, or `motd` for messages of the day.
    pub channel: String,
    /// The headline.
    pub title: String,
    /// Sanitised HTML.
    pub body: String,
    /// The headline, folded: what lists look into. [`entity_core::db::folded`] sets it.
    pub title_folded: Option<String>,
    /// What the text says, folded: what lists look into. [`entity_core::db::folded`] sets it.
    pub body_folded: Option<String>,
    /// The internal id of the author.
    pub created_by: String,
    /// When it came into being, in milliseconds.
    pub created: i64,
    /// When it came out: its release, or else when it came into being. Lists are in this order.
    pub published: i64,
    /// When it last changed, in milliseconds.
    pub modified: i64,
    /// Whether it is not finished.
    pub is_draft: bool,
    /// When it appears, in milliseconds.
    pub release_at: Option<i64>,
    /// When it disappears, in milliseconds.
    pub retract_at: Option<i64>,
    /// Whether it is for some groups only: those in `announcement_group`.
    pub is_restricted: bool,
    /// Its place among the announcements of the site, as its instructors order them.
    pub position: i64,
    /// Whether it is shown with emphasis.
    pub highlight: Option<bool>,
    /// Its files, a JSON array of objects with `name`, `type`, `url` and `size`.
    pub attachments: String,
    /// Counts the changes.
    pub version: i64,
}

/// None: what belongs together is joined where it is asked for.
#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

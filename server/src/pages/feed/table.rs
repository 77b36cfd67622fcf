//! The table `feed`.

use entity_core::DateTimeUtc;
use entity_core::db::Row;
use sea_orm::entity::prelude::*;

/// A row: one private feed, known by the hash of its token.
#[derive(Clone, PartialEq, Eq, DeriveEntityModel, Row)]
#[sea_orm(table_name = "feed")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// SHA-256 of the token, hexadecimal. The token itself is nowhere.
    #[sea_orm(unique)]
    pub token_hash: String,
    /// The internal id of the owner.
    pub user_id: String,
    /// What the owner calls it.
    pub title: String,
    /// The path below `/direct`, percent-encoded, without a format.
    pub path: String,
    /// The query, as in a URL.
    pub query: String,
    /// The names of the formats, joined by commas.
    pub formats: String,
    /// When it was made, in milliseconds since 1970.
    pub created: i64,
    /// When it ends, in milliseconds since 1970.
    pub expires: Option<i64>,
    /// When it was last read, in milliseconds since 1970; some minutes late.
    pub last_used: Option<i64>,
    /// Counts the changes.
    pub version: i64,
    /// The title, folded: what lists look into. [`entity_core::db::folded`] sets it.
    pub title_folded: Option<String>,
}

/// A feed belongs to a user, in a table that another crate looks after.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    /// Returns whether it has ended at `now`.
    pub(super) fn is_over(&self, now: DateTimeUtc) -> bool {
        self.expires.is_some_and(|it| it <= now.timestamp_millis())
    }

    /// The names of the formats.
    pub(super) fn formats(&self) -> impl Iterator<Item = &str> {
        self.formats.split(',')
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("feed::Model")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

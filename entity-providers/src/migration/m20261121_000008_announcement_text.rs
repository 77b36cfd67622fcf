//! What announcements say, beside the HTML in which they say it.

use async_trait::async_trait;
use sea_orm_migration::sea_orm::{DbErr, DeriveMigrationName};
use sea_orm_migration::{MigrationTrait, SchemaManager};

use crate::db::migrate::fill_text;

#[derive(Debug, DeriveMigrationName)]
pub(super) struct Migration;

const STATEMENTS: &[&str] =
    &["ALTER TABLE announcement ADD COLUMN body_text TEXT NOT NULL DEFAULT ''"];

#[async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "the trait is declared that way")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        super::define(manager, STATEMENTS).await?;
        let columns = ("body", "body_text");
        fill_text(manager.get_connection(), "announcement", "id", columns).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

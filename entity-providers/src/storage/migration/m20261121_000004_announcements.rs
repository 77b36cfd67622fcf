//! Announcements, the groups they are for, and the site of the messages of the day.

use async_trait::async_trait;
use sea_orm_migration::sea_orm::{DbErr, DeriveMigrationName};
use sea_orm_migration::{MigrationTrait, SchemaManager};

#[derive(Debug, DeriveMigrationName)]
pub(super) struct Migration;

/// Everybody may look at the site `!site`: its announcements are the messages of the day.
const STATEMENTS: &[&str] = &[
    "CREATE TABLE announcement (
        id TEXT NOT NULL PRIMARY KEY,
        site_id TEXT NOT NULL REFERENCES site (id) ON DELETE CASCADE,
        channel TEXT NOT NULL,
        title TEXT NOT NULL,
        body TEXT NOT NULL,
        created_by TEXT NOT NULL,
        created BIGINT NOT NULL,
        published BIGINT NOT NULL,
        modified BIGINT NOT NULL,
        is_draft BOOLEAN NOT NULL,
        release_at BIGINT,
        retract_at BIGINT,
        is_restricted BOOLEAN NOT NULL,
        position BIGINT NOT NULL,
        highlight BOOLEAN,
        attachments TEXT NOT NULL,
        version BIGINT NOT NULL
    )",
    "CREATE INDEX announcement_by_site ON announcement (site_id, published DESC, id)",
    "CREATE INDEX announcement_by_time ON announcement (published DESC, id)",
    "CREATE TABLE announcement_group (
        announcement_id TEXT NOT NULL REFERENCES announcement (id) ON DELETE CASCADE,
        group_id TEXT NOT NULL REFERENCES site_group (id) ON DELETE CASCADE,
        PRIMARY KEY (announcement_id, group_id)
    )",
    "CREATE INDEX announcement_group_by_group ON announcement_group (group_id)",
    "INSERT INTO site (id, title, is_published, is_pub_view, is_joinable, created, modified, version)
        VALUES ('!site', 'Message of the Day', TRUE, TRUE, FALSE, 0, 0, 1)",
];

#[async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "the trait is declared that way")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        super::define(manager, STATEMENTS).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

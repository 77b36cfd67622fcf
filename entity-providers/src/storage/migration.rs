//! The tables of this crate's types, in the steps in which they came about. There is no way back.

mod default_grants;
mod emptied;
mod folded;
mod m20261121_000001_accounts;
mod m20261121_000002_sites;
mod m20261121_000003_grants;
mod m20261121_000004_announcements;
mod m20261121_000005_authorization_epoch;
mod m20261121_000006_groups;
mod m20261121_000007_demo_password;
mod m20261121_000008_announcement_text;
mod m20261121_000010_account_types;
mod m20261121_000011_invitations;
mod m20261121_000020_folded_text;
mod m20261121_000030_usage;
mod m20261123_000040_type_migrations;
mod m20261123_000050_site_likeness;
mod m20261123_000060_stored_files;
mod m20261123_000070_site_imports;
mod m20261124_000080_muted_sites;
mod m20261124_000090_presence;
mod m20261125_000100_verified_addresses;
mod m20261125_000110_invitation_links;
mod m20261125_000120_passed_over;
mod m20261126_000130_folded_accents;
mod m20261127_000140_attached_uses;

use async_trait::async_trait;
use sea_orm::{ConnectionTrait, DbBackend, DbErr};
use sea_orm_migration::{MigrationName, MigrationTrait, SchemaManager};

pub use folded::{FoldedAnew, FoldedColumns};
pub(crate) use m20261121_000003_grants::TEMPLATES;

/// The steps, in order. A service adds its own behind them and runs all with [`migrate`](crate::storage::db::migrate()).
pub fn migrations() -> Vec<Box<dyn MigrationTrait>> {
    vec![
        Box::new(m20261121_000001_accounts::STEP),
        Box::new(m20261121_000002_sites::STEP),
        Box::new(m20261121_000003_grants::Migration),
        Box::new(m20261121_000004_announcements::Migration),
        Box::new(m20261121_000005_authorization_epoch::STEP),
        Box::new(m20261121_000006_groups::STEP),
        Box::new(m20261121_000007_demo_password::STEP),
        Box::new(m20261121_000008_announcement_text::STEP),
        Box::new(m20261121_000010_account_types::STEP),
        Box::new(m20261121_000011_invitations::STEP),
        Box::new(m20261121_000011_invitations::ORIGINS),
        Box::new(m20261121_000020_folded_text::ANNOUNCEMENTS),
        Box::new(m20261121_000020_folded_text::SITES),
        Box::new(m20261121_000020_folded_text::USERS),
        Box::new(m20261121_000020_folded_text::EMPTIED),
        Box::new(m20261121_000020_folded_text::POSITIONS),
        Box::new(m20261121_000030_usage::STEP),
        Box::new(m20261123_000040_type_migrations::STEP),
        Box::new(m20261123_000050_site_likeness::Migration),
        Box::new(m20261123_000060_stored_files::STEP),
        Box::new(m20261123_000070_site_imports::STEP),
        Box::new(m20261124_000080_muted_sites::STEP),
        Box::new(m20261124_000090_presence::STEP),
        Box::new(m20261125_000100_verified_addresses::STEP),
        Box::new(m20261125_000110_invitation_links::STEP),
        Box::new(m20261125_000120_passed_over::STEP),
        Box::new(m20261126_000130_folded_accents::STEP),
        Box::new(m20261127_000140_attached_uses::STEP),
    ]
}

/// The tables of the service, which no type may claim for the service to manage.
pub const TABLES: &[&str] = &[
    "announcement",
    "announcement_group",
    "attached_use",
    "audit",
    "authorization_epoch",
    "backlog",
    "database_identity",
    "demo_password",
    "feed",
    "follower",
    "group_member",
    "idempotency_key",
    "invitation",
    "login_failure",
    "membership",
    "outbox",
    "presence",
    "realm_grant",
    "seaql_migrations",
    "session",
    "site",
    "site_activity",
    "site_group",
    "site_import",
    "site_likeness",
    "site_page",
    "site_tool",
    "stored_file",
    "stored_file_column",
    "type_migration",
    "usage",
    "usage_source",
    "user_account",
    "webhook_turn",
];

/// Runs statements that define tables. `TEXT` in them becomes text that both databases order byte by byte,
/// `BYTES` what each of them calls bytes.
///
/// # Errors
/// The database refuses one of them.
pub async fn define(manager: &SchemaManager<'_>, statements: &[&str]) -> Result<(), DbErr> {
    let connection = manager.get_connection();
    for statement in statements {
        let defines = ["CREATE", "ALTER"]
            .iter()
            .any(|it| statement.starts_with(it));
        let sql = match connection.get_database_backend() {
            _ if !defines => (*statement).to_owned(),
            DbBackend::Postgres => statement
                .replace(" TEXT", " text COLLATE \"C\"")
                .replace(" BYTES", " bytea"),
            _ => statement.replace(" BYTES", " BLOB"),
        };
        connection.execute_unprepared(&sql).await?;
    }
    Ok(())
}

/// A step that only defines tables and indexes, by statements for [`define`].
#[derive(Clone, Copy, Debug)]
pub struct Tables {
    /// The date, a number and what it is about; never changed once it was released.
    pub name: &'static str,
    /// The statements, in order.
    pub statements: &'static [&'static str],
}

impl MigrationName for Tables {
    fn name(&self) -> &str {
        self.name
    }
}

#[async_trait]
impl MigrationTrait for Tables {
    #[expect(elided_lifetimes_in_paths, reason = "the trait is declared that way")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        define(manager, self.statements).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

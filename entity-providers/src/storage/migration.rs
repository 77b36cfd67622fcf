//! The tables of this crate that no registered type declares, in the steps in which they came about. There is no way
//! back. The tables of types follow when these are there.

mod default_grants;

use async_trait::async_trait;
use sea_orm::{ConnectionTrait, DbBackend, DbErr};
use sea_orm_migration::{MigrationName, MigrationTrait, SchemaManager};

pub(crate) use default_grants::TEMPLATES;

/// The steps, in order. A service adds its own behind them and runs all with [`migrate`](crate::storage::db::migrate()).
pub fn migrations() -> Vec<Box<dyn MigrationTrait>> {
    vec![Box::new(BASELINE), Box::new(Grants)]
}

/// The tables of accounts and sites, with the sites that are always there: that of the administrators, and that whose
/// announcements are the messages of the day.
const BASELINE: Tables = Tables {
    name: "m20261128_000001_baseline",
    sql: include_str!("migration/baseline.sql"),
};

/// The step that grants the roles what they may by default.
#[derive(Debug)]
struct Grants;

impl MigrationName for Grants {
    fn name(&self) -> &'static str {
        "m20261128_000002_grants"
    }
}

#[async_trait]
impl MigrationTrait for Grants {
    #[expect(elided_lifetimes_in_paths, reason = "the trait is declared that way")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        default_grants::insert(manager.get_connection()).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

/// The tables of the service, which no type may claim for the service to manage.
pub const TABLES: &[&str] = &[
    "attached_use",
    "audit",
    "authorization_epoch",
    "backlog",
    "database_identity",
    "demo_password",
    "follower",
    "group_member",
    "idempotency_key",
    "job",
    "login_failure",
    "membership",
    "outbox",
    "presence",
    "realm_grant",
    "seaql_migrations",
    "session",
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
    "webhook_turn",
];

/// Runs statements that define tables. `TEXT` in them becomes text that both databases order byte by byte, `BYTES` what each
/// of them calls bytes, and `SEQUENCE` a key that counts up in the order in which rows come in, and never gives a number
/// twice.
///
/// # Errors
/// The database refuses one of them.
pub async fn define(manager: &SchemaManager<'_>, statements: &[&str]) -> Result<(), DbErr> {
    let connection = manager.get_connection();
    for statement in statements {
        let defines = ["CREATE", "ALTER"]
            .iter()
            .any(|it| statement.starts_with(it));
        let words = match connection.get_database_backend() {
            _ if !defines => [" TEXT", " BYTES", " SEQUENCE"],
            DbBackend::Postgres => [
                " text COLLATE \"C\"",
                " bytea",
                " BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
            ],
            _ => [" TEXT", " BLOB", " INTEGER PRIMARY KEY AUTOINCREMENT"],
        };
        let [text, bytes, sequence] = words;
        let sql = statement.replace(" TEXT", text);
        let sql = sql.replace(" BYTES", bytes).replace(" SEQUENCE", sequence);
        connection.execute_unprepared(&sql).await?;
    }
    Ok(())
}

/// A step that only defines tables and indexes.
#[derive(Clone, Copy, Debug)]
pub struct Tables {
    /// The date, a number and what it is about; never changed once it was released.
    pub name: &'static str,
    /// The statements for [`define`], in order. Each ends with a semicolon and the line.
    pub sql: &'static str,
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
        let statements = self.sql.split(";\n").map(str::trim);
        let statements: Vec<&str> = statements.filter(|it| !it.is_empty()).collect();
        define(manager, &statements).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

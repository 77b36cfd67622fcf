//! The tables of the journal: events for followers, and the audit log.

use async_trait::async_trait;
use entity_providers::storage::migration::{Tables, define};
use sea_orm::{ConnectionTrait as _, DbBackend, DbErr};
use sea_orm_migration::{MigrationName, MigrationTrait, SchemaManager};

/// The outbox and the audit log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Journal;

/// The audit log alone, for the file that holds the rows of reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AuditLog;

/// What else there is to know of an event, as a JSON object.
pub(crate) const EVENT_DETAILS: Tables = Tables {
    name: "m20261121_000905_event_details",
    statements: &["ALTER TABLE outbox ADD COLUMN details TEXT"],
};

/// The number of requests a row of the audit log stands for.
pub(crate) const AUDIT_TIMES: Tables = Tables {
    name: "m20261121_000910_audit_times",
    statements: &["ALTER TABLE audit ADD COLUMN times BIGINT NOT NULL DEFAULT 1"],
};

impl MigrationName for Journal {
    fn name(&self) -> &'static str {
        "m20261121_000903_journal"
    }
}

impl MigrationName for AuditLog {
    fn name(&self) -> &'static str {
        "m20261121_000001_audit"
    }
}

#[async_trait]
impl MigrationTrait for Journal {
    #[expect(elided_lifetimes_in_paths, reason = "the trait is declared that way")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let sequence = sequence(manager);
        let outbox = format!(
            "CREATE TABLE outbox (
                sequence {sequence},
                kind TEXT NOT NULL,
                reference TEXT NOT NULL,
                actor TEXT,
                site TEXT,
                time BIGINT NOT NULL
            )"
        );
        define(manager, &[&outbox, &audit(sequence), AUDIT_BY_TIME]).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

#[async_trait]
impl MigrationTrait for AuditLog {
    #[expect(elided_lifetimes_in_paths, reason = "the trait is declared that way")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        define(manager, &[&audit(sequence(manager))]).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

const AUDIT_BY_TIME: &str = "CREATE INDEX audit_by_time ON audit (time)";

fn audit(sequence: &str) -> String {
    format!(
        "CREATE TABLE audit (
            sequence {sequence},
            time BIGINT NOT NULL,
            request_id TEXT NOT NULL,
            user_id TEXT,
            session TEXT,
            address TEXT NOT NULL,
            method TEXT NOT NULL,
            path TEXT NOT NULL,
            status INTEGER NOT NULL
        )"
    )
}

/// A key that counts up in the order in which rows come in, and never gives a number twice.
fn sequence(manager: &SchemaManager<'_>) -> &'static str {
    match manager.get_connection().get_database_backend() {
        DbBackend::Postgres => "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        _ => "INTEGER PRIMARY KEY AUTOINCREMENT",
    }
}

//! The tables of the service itself: sessions, failures to log in, results of requests that may be repeated,
//! the identity of the database, events with the places of those who follow them, and the audit log.

use entity_providers::storage::migration::Tables;
use sea_orm_migration::MigrationTrait;

use crate::operate::follower::OutboxLock;

/// The steps, in order. They run behind those of the providers.
pub(crate) fn migrations() -> Vec<Box<dyn MigrationTrait>> {
    vec![Box::new(AUDIT), Box::new(BASELINE), Box::new(OutboxLock)]
}

/// The audit log, which SQLite has in a file of its own, too, for the rows of reads.
pub(crate) const AUDIT: Tables = Tables {
    name: "m20261128_000001_audit",
    sql: include_str!("migration/audit.sql"),
};

const BASELINE: Tables = Tables {
    name: "m20261128_000003_service",
    sql: include_str!("migration/baseline.sql"),
};

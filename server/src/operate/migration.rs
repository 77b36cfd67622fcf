//! The tables of the service itself: sessions, failures to log in, stored responses of idempotency keys, the identity
//! of the database, the outbox with the offsets of its followers, the audit log, and
//! when jobs are due.

use async_trait::async_trait;
use entity_providers::storage::migration::Tables;
use sea_orm::{ConnectionTrait as _, DbBackend, DbErr};
use sea_orm_migration::{MigrationName, MigrationTrait, SchemaManager};

/// The steps, in order. They run behind those of the providers.
pub(crate) fn migrations() -> Vec<Box<dyn MigrationTrait>> {
    vec![
        Box::new(AUDIT),
        Box::new(BASELINE),
        Box::new(OutboxLock),
        Box::new(JOB),
    ]
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

const JOB: Tables = Tables {
    name: "m20261129_000005_job",
    sql: include_str!("migration/job.sql"),
};

/// The number of the lock that those share who write to the outbox.
pub(crate) const LOCK: i64 = 4_711_052_118_350_061;

/// Lets PostgreSQL tell followers which numbers of events are still to come.
#[derive(Clone, Copy, Debug)]
struct OutboxLock;

impl MigrationName for OutboxLock {
    fn name(&self) -> &'static str {
        "m20261128_000004_outbox_lock"
    }
}

#[async_trait]
impl MigrationTrait for OutboxLock {
    #[expect(elided_lifetimes_in_paths, reason = "the trait is declared that way")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let connection = manager.get_connection();
        if connection.get_database_backend() == DbBackend::Postgres {
            let function = format!(
                "CREATE FUNCTION outbox_share() RETURNS trigger LANGUAGE plpgsql AS \
                 $$ BEGIN PERFORM pg_advisory_xact_lock_shared({LOCK}); RETURN NULL; END $$"
            );
            let trigger = "CREATE TRIGGER outbox_share BEFORE INSERT ON outbox \
                FOR EACH STATEMENT EXECUTE FUNCTION outbox_share()";
            for sql in [function.as_str(), trigger] {
                connection.execute_unprepared(sql).await?;
            }
        }
        Ok(())
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

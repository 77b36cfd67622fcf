//! Bringing a database up to date, by one process at a time.

use std::collections::HashSet;

use entity_core::db::Db;
use entity_core::{Error, ErrorKind, Registry, Result};
use sea_orm::sea_query::{Alias, Query};
use sea_orm::{
    AccessMode, ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr,
    SqliteTransactionMode, TransactionOptions, TransactionTrait,
};
use sea_orm_migration::{MigrationTrait, MigratorTraitSelf, SchemaManager};

use super::backfill;
use super::watch::Watch;
use super::{tables, usage};

/// The key of the lock that processes which change tables take on PostgreSQL. Any number does that no
/// other program uses.
const LOCK: i64 = 0x4C65_6374_6572_6E01;

/// The number of times a migrating process waits for the writer's lock: about a second each time.
const PATIENCE: usize = 10;

/// The time for which a change of a table waits for those who use the table. Everybody who comes later waits behind it.
const LOCK_TIMEOUT: &str = "2s";

struct Steps(fn() -> Vec<Box<dyn MigrationTrait>>);

impl MigratorTraitSelf for Steps {
    fn migrations(&self) -> Vec<Box<dyn MigrationTrait>> {
        (self.0)()
    }
}

/// Runs those of `migrations` that the database lacks, and then what they left to be done row by row. If it lacks none,
/// it is enough that this connection may read and write rows.
///
/// On SQLite all of them come to be or, if one fails, none. On PostgreSQL each has a transaction of its own, because
/// nobody can read a table that was changed before the transaction ends; the next start goes on behind the last one that
/// came to be. What is done row by row goes on where it was left.
///
/// # Errors
/// A newer version of the service has been at the database; a migration fails.
pub async fn migrate(db: &Db, migrations: fn() -> Vec<Box<dyn MigrationTrait>>) -> Result<()> {
    while run_steps(db, migrations).await? {}
    backfill::work_off(db).await
}

/// Runs as many steps as go into one transaction. Whether there may be more.
async fn run_steps(db: &Db, migrations: fn() -> Vec<Box<dyn MigrationTrait>>) -> Result<bool> {
    let (transaction, watch) = begin_alone(db).await?;
    let at_once = match transaction.get_database_backend() {
        DbBackend::Postgres => Some(1),
        _ => None,
    };
    let work = async {
        let steps = Steps(migrations);
        let known = steps.migrations();
        let done = done(&transaction, &steps).await?;
        refuse_newer(&known, &done)?;
        let lacks_some = known.iter().any(|it| !done.contains(it.name()));
        if lacks_some {
            steps.up(&transaction, at_once).await?;
        }
        Ok(lacks_some && at_once.is_some())
    };
    let goes_on = watch.over(work).await?;
    transaction.commit().await?;
    Ok(goes_on)
}

/// Returns the names of what [`migrate`], [`ensure_tables`](super::ensure_tables) and
/// [`count_tables`](super::count_tables) would add to `db`, which is only read.
///
/// # Errors
/// A newer version of the service has been at the database, or it can't be read.
pub async fn lacks(
    db: &Db,
    migrations: fn() -> Vec<Box<dyn MigrationTrait>>,
    registry: &Registry,
) -> Result<Vec<String>> {
    let transaction = db.reader.begin().await?;
    let steps = Steps(migrations);
    let known = steps.migrations();
    let done = done(&transaction, &steps).await?;
    refuse_newer(&known, &done)?;
    let mut lacks: Vec<String> = known
        .iter()
        .map(|it| it.name().to_owned())
        .filter(|it| !done.contains(it))
        .collect();
    lacks.extend(tables::lacks(&transaction, registry).await?);
    lacks.extend(usage::lacks(&transaction, registry).await?);
    let left = backfill::left(&transaction).await?;
    lacks.extend(left.iter().map(ToString::to_string));
    Ok(lacks)
}

/// Begins a transaction that no other process's runs beside: on SQLite whoever writes is alone anyway. What waits for
/// others in it is watched.
///
/// It waits as long as it takes for other processes that change tables, because nobody else waits for that lock. Tables
/// are another matter: whoever wants to read one queues behind a change that waits for it.
pub(super) async fn begin_alone(db: &Db) -> Result<(DatabaseTransaction, Watch)> {
    let transaction = begin_patiently(db).await?;
    if transaction.get_database_backend() != DbBackend::Postgres {
        return Ok((transaction, Watch::default()));
    }
    let watch = Watch::of(db, &transaction).await?;
    let alone = async {
        stand_alone(&transaction).await?;
        let sql = format!("SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'");
        transaction.execute_unprepared(&sql).await?;
        Ok(())
    };
    watch.over(alone).await?;
    Ok((transaction, watch))
}

/// Waits, as long as it takes, until no other process changes tables or fills the database, and keeps others from it until
/// the transaction of `connection` ends. On SQLite whoever writes is alone anyway.
pub(crate) async fn stand_alone(connection: &impl ConnectionTrait) -> Result<(), DbErr> {
    if connection.get_database_backend() == DbBackend::Postgres {
        let sql = format!(
            "SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0; SELECT pg_advisory_xact_lock({LOCK})"
        );
        connection.execute_unprepared(&sql).await?;
    }
    Ok(())
}

/// Begins a transaction that has the right to write from its first statement on. It is one of sea-orm's, as
/// migrations must have it; whoever changes what people keep takes `entity_core::db::Transaction`.
pub(super) async fn begin_write(writer: &DatabaseConnection) -> Result<DatabaseTransaction, DbErr> {
    let access_mode = match writer.get_database_backend() {
        DbBackend::Sqlite => None,
        _ => Some(AccessMode::ReadWrite),
    };
    let options = TransactionOptions {
        isolation_level: None,
        access_mode,
        sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
    };
    writer.begin_with_options(options).await
}

/// Another process that brings the same file up to date may take longer than a request waits for a lock.
async fn begin_patiently(db: &Db) -> Result<DatabaseTransaction> {
    for _ in 1..PATIENCE {
        match begin_write(&db.writer).await.map_err(Error::from) {
            Err(error) if error.kind() == ErrorKind::Unavailable => {}
            begun => return begun,
        }
    }
    Ok(begin_write(&db.writer).await?)
}

/// The names of the migrations that the database has.
async fn done(transaction: &DatabaseTransaction, steps: &Steps) -> Result<HashSet<String>> {
    let table = steps.migration_table_name();
    if !SchemaManager::new(transaction)
        .has_table(table.to_string())
        .await?
    {
        return Ok(HashSet::new());
    }
    let mut statement = Query::select();
    statement
        .column(Alias::new("version"))
        .from(Alias::new(table.to_string()));
    let rows = transaction.query_all(&statement).await?;
    Ok(rows
        .iter()
        .map(|row| row.try_get("", "version"))
        .collect::<Result<_, DbErr>>()?)
}

fn refuse_newer(known: &[Box<dyn MigrationTrait>], done: &HashSet<String>) -> Result<()> {
    let is_known = |version: &String| known.iter().any(|it| it.name() == version);
    match done.iter().find(|it| !is_known(it)) {
        None => Ok(()),
        Some(unknown) => Err(Error::new(
            ErrorKind::Internal,
            format!(
                "the database was changed by a newer version of this service (`{unknown}`): run that version"
            ),
        )),
    }
}

//! Bringing a database up to date, by one process at a time.

use std::collections::HashSet;

use entity_core::db::{Db, TableSpec};
use entity_core::{Error, ErrorKind, Registry, Result};
use sea_orm::sea_query::{Alias, Table};
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, Statement};
use sea_orm_migration::{MigrationTrait, MigratorTraitSelf};

/// The key of the lock that processes which change tables take on PostgreSQL. Any number does that no
/// other program uses.
const LOCK: i64 = 0x4C65_6374_6572_6E01;

struct Steps(fn() -> Vec<Box<dyn MigrationTrait>>);

impl MigratorTraitSelf for Steps {
    fn migrations(&self) -> Vec<Box<dyn MigrationTrait>> {
        (self.0)()
    }
}

/// Runs those of `migrations` that the database lacks: all of them or, if one fails, none.
///
/// # Errors
/// A newer version of the service has been at the database; a migration fails.
pub async fn migrate(db: &Db, migrations: fn() -> Vec<Box<dyn MigrationTrait>>) -> Result<()> {
    let transaction = begin_alone(db).await?;
    let steps = Steps(migrations);
    refuse_newer(&steps, &transaction).await?;
    steps.up(&transaction, None).await?;
    Ok(transaction.commit().await?)
}

/// Makes the tables of those registered types that leave theirs to the service, and adds the columns that
/// a type gained since.
///
/// # Errors
/// The database refuses a statement.
pub async fn ensure_tables(db: &Db, registry: &Registry) -> Result<()> {
    let transaction = begin_alone(db).await?;
    for table in registry.routes().filter_map(|it| it.table) {
        ensure_table(&transaction, &table()).await?;
    }
    Ok(transaction.commit().await?)
}

/// Begins a transaction that no other process's runs beside: on SQLite whoever writes is alone anyway.
async fn begin_alone(db: &Db) -> Result<DatabaseTransaction> {
    let transaction = entity_core::db::begin_write(&db.writer).await?;
    if transaction.get_database_backend() == DbBackend::Postgres {
        let sql = format!(
            "SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0; SELECT pg_advisory_xact_lock({LOCK})"
        );
        transaction.execute_unprepared(&sql).await?;
    }
    Ok(transaction)
}

async fn refuse_newer(steps: &Steps, transaction: &DatabaseTransaction) -> Result<()> {
    let migrations = steps.migrations();
    let known: HashSet<&str> = migrations.iter().map(|it| it.name()).collect();
    let done = steps.get_migration_models(transaction).await?;
    match done.iter().find(|it| !known.contains(it.version.as_str())) {
        None => Ok(()),
        Some(unknown) => Err(Error::new(
            ErrorKind::Internal,
            format!(
                "the database was changed by a newer version of this service (`{}`): run that version",
                unknown.version
            ),
        )),
    }
}

async fn ensure_table(transaction: &DatabaseTransaction, spec: &TableSpec) -> Result<()> {
    let backend = transaction.get_database_backend();
    transaction.execute(&spec.create_statement(backend)).await?;
    let present = columns(transaction, spec.name).await?;
    for (name, _, _) in spec.columns {
        if let Some(column) = spec
            .added_column(name, backend)
            .filter(|_| !present.contains(*name))
        {
            let mut statement = Table::alter();
            statement.table(Alias::new(spec.name)).add_column(column);
            transaction.execute(&statement).await?;
        }
    }
    if let Some(statement) = spec.index_statement() {
        transaction.execute(&statement).await?;
    }
    Ok(())
}

async fn columns(transaction: &DatabaseTransaction, table: &str) -> Result<HashSet<String>, DbErr> {
    let backend = transaction.get_database_backend();
    let sql = match backend {
        DbBackend::Postgres => {
            "SELECT column_name::text AS name FROM information_schema.columns
                WHERE table_schema = current_schema() AND table_name = $1"
        }
        _ => "SELECT name FROM pragma_table_info(?)",
    };
    let statement = Statement::from_sql_and_values(backend, sql, [table.into()]);
    let rows = transaction.query_all_raw(statement).await?;
    rows.iter().map(|row| row.try_get("", "name")).collect()
}

//! The migrations that types declare where they are registered.

use std::collections::{BTreeSet, HashSet};

use entity_core::db::{Db, Migration};
use entity_core::engine::Route;
use entity_core::{Error, ErrorKind, Registry, Result};
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbErr, Statement};
use sea_orm_migration::SchemaManager;

use super::catalog::has_table;
use super::migrate::begin_alone;
use crate::storage::migration::define;

/// The table that says which migrations of types have run.
const DONE: &str = "type_migration";

/// A migration, with the type that declares it.
type Declared<'a> = (&'a Route, &'a Migration);

/// Runs the migrations of the registered types that the database lacks. The tables `created` have just been created:
/// migrations of their rows are passed over. Returns whether the database lacked any.
///
/// # Errors
/// Returns an error if a newer version of a crate has changed the database, or if the database refuses a statement.
pub(super) async fn run(
    transaction: &DatabaseTransaction,
    registry: &Registry,
    created: &HashSet<&'static str>,
) -> Result<bool> {
    let missing = missing(transaction, registry).await?;
    for (route, migration) in &missing {
        let has_run = !is_of_new_table(route, migration, created);
        if has_run {
            carry_out(transaction, route, migration).await?;
        } else {
            let (name, origin) = (migration.name, route.origin.0);
            tracing::info!(
                "the migration `{name}` of the crate `{origin}` is not needed: its table is new"
            );
        }
        note(transaction, route, migration, has_run).await?;
    }
    Ok(!missing.is_empty())
}

/// Returns whether the migration changes rows of a table that has just been created, and so has none.
fn is_of_new_table(route: &Route, migration: &Migration, created: &HashSet<&'static str>) -> bool {
    let own = || route.table.map(|it| it().name);
    let table = migration.table.or_else(own);
    migration.is_of_rows && table.is_some_and(|it| created.contains(it))
}

/// Runs a migration once more that changes rows, whether it has run or was passed over.
///
/// # Errors
/// Returns an error if the crate `origin` declares no such migration, or if the database refuses a statement; nothing is
/// changed then.
pub async fn run_again(db: &Db, registry: &Registry, origin: &str, name: &str) -> Result<()> {
    let found = declared(registry).find(|(route, it)| route.origin.0 == origin && it.name == name);
    let (route, migration) = found.filter(|it| it.1.is_of_rows).ok_or_else(|| {
        let text = format!("the crate `{origin}` has no migration of rows `{name}`");
        Error::new(ErrorKind::Internal, text)
    })?;
    let (transaction, watch) = begin_alone(db).await?;
    let work = async {
        carry_out(&transaction, route, migration).await?;
        note(&transaction, route, migration, true).await
    };
    watch.over(work).await?;
    Ok(transaction.commit().await?)
}

async fn carry_out(
    transaction: &DatabaseTransaction,
    route: &Route,
    migration: &Migration,
) -> Result<()> {
    let manager = SchemaManager::new(transaction);
    let done = define(&manager, migration.statements).await;
    done.map_err(|error| {
        let (name, origin) = (migration.name, route.origin.0);
        let text = format!("the migration `{name}` of the crate `{origin}` fails: {error}");
        Error::new(ErrorKind::Internal, text)
    })
}

/// Notes that the migration has run or was passed over.
async fn note(
    transaction: &DatabaseTransaction,
    route: &Route,
    migration: &Migration,
    has_run: bool,
) -> Result<()> {
    let sql = "INSERT INTO type_migration (origin, name, has_run) VALUES ($1, $2, $3)
        ON CONFLICT (origin, name) DO UPDATE SET has_run = excluded.has_run";
    let values = [route.origin.0.into(), migration.name.into(), has_run.into()];
    let backend = transaction.get_database_backend();
    let note = Statement::from_sql_and_values(backend, sql, values);
    transaction.execute_raw(note).await?;
    Ok(())
}

/// Returns the names of the migrations of the registered types that the database lacks.
pub(super) async fn lacking(
    transaction: &DatabaseTransaction,
    registry: &Registry,
) -> Result<Vec<String>> {
    let missing = missing(transaction, registry).await?;
    let names = missing
        .iter()
        .map(|(route, it)| format!("{}: {}", route.origin.0, it.name));
    Ok(names.collect())
}

async fn missing<'a>(
    transaction: &DatabaseTransaction,
    registry: &'a Registry,
) -> Result<Vec<Declared<'a>>> {
    let done = done(transaction).await?;
    let declared: Vec<Declared<'_>> = declared(registry).collect();
    refuse_newer(registry, &declared, &done)?;
    let is_missing = |(route, it): &Declared<'_>| {
        !done.contains(&(route.origin.0.to_owned(), it.name.to_owned()))
    };
    Ok(declared.into_iter().filter(is_missing).collect())
}

/// Returns the migrations that the registered types declare.
fn declared(registry: &Registry) -> impl Iterator<Item = Declared<'_>> {
    registry.routes().flat_map(|route| {
        let migrations = route.migrations.iter();
        migrations.map(move |it| (route, it))
    })
}

/// Refuses a database in which a migration has run that its crate does not know. A crate that is not linked at all has
/// left its tables, and nobody needs them.
fn refuse_newer(
    registry: &Registry,
    declared: &[Declared<'_>],
    done: &HashSet<(String, String)>,
) -> Result<()> {
    let crates: BTreeSet<&str> = registry.origins().into_keys().map(|it| it.0).collect();
    let is_known = |origin: &str, name: &str| {
        let mut declared = declared.iter();
        declared.any(|(route, it)| route.origin.0 == origin && it.name == name)
    };
    let mut unknown = done
        .iter()
        .filter(|(origin, name)| crates.contains(origin.as_str()) && !is_known(origin, name));
    match unknown.next() {
        None => Ok(()),
        Some((origin, name)) => Err(Error::new(
            ErrorKind::Internal,
            format!(
                "the database was changed by a newer version of the crate `{origin}` (`{name}`): run that version"
            ),
        )),
    }
}

/// Returns the migrations that have run: the name of the crate, and that of the migration.
async fn done(transaction: &DatabaseTransaction) -> Result<HashSet<(String, String)>> {
    if !has_table(transaction, DONE).await? {
        return Ok(HashSet::new());
    }
    let sql = "SELECT origin, name FROM type_migration";
    let statement = Statement::from_string(transaction.get_database_backend(), sql);
    let rows = transaction.query_all_raw(statement).await?;
    let pairs = rows
        .iter()
        .map(|row| Ok((row.try_get("", "origin")?, row.try_get("", "name")?)));
    Ok(pairs.collect::<Result<_, DbErr>>()?)
}

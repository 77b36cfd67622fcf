//! The migrations that types declare where they are registered.

use std::collections::{BTreeSet, HashSet};

use entity_core::db::Migration;
use entity_core::{Error, ErrorKind, Registry, Result, Route};
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbErr, Statement};
use sea_orm_migration::SchemaManager;

use super::catalog::has_table;
use crate::migration::define;

/// The table that says which migrations of types have run.
const DONE: &str = "type_migration";

/// A migration, with the type that declares it.
type Declared<'a> = (&'a Route, &'a Migration);

/// Runs the migrations of the registered types that the database lacks. The tables of the types `created` have just been
/// created: migrations of their rows are passed over. Returns whether the database lacked any.
///
/// # Errors
/// Returns an error if a newer version of a crate has changed the database, or if the database refuses a statement.
pub(super) async fn run(
    transaction: &DatabaseTransaction,
    registry: &Registry,
    created: &HashSet<&'static str>,
) -> Result<bool> {
    let backend = transaction.get_database_backend();
    let manager = SchemaManager::new(transaction);
    let missing = missing(transaction, registry).await?;
    for (route, migration) in &missing {
        let origin = route.origin.0;
        if !migration.is_of_rows || !created.contains(route.prefix) {
            let done = define(&manager, migration.statements).await;
            done.map_err(|error| {
                let name = migration.name;
                let text = format!("the migration `{name}` of the crate `{origin}` fails: {error}");
                Error::new(ErrorKind::Internal, text)
            })?;
        }
        let sql = match backend {
            sea_orm::DbBackend::Postgres => "INSERT INTO type_migration VALUES ($1, $2)",
            _ => "INSERT INTO type_migration VALUES (?, ?)",
        };
        let values = [origin.into(), migration.name.into()];
        let note = Statement::from_sql_and_values(backend, sql, values);
        transaction.execute_raw(note).await?;
    }
    Ok(!missing.is_empty())
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
    let routes = registry.routes();
    let declared = routes.flat_map(|route| {
        let migrations = route.migrations.iter();
        migrations.map(move |it| (route, it))
    });
    let declared: Vec<Declared<'_>> = declared.collect();
    refuse_newer(registry, &declared, &done)?;
    let is_missing = |(route, it): &Declared<'_>| {
        !done.contains(&(route.origin.0.to_owned(), it.name.to_owned()))
    };
    Ok(declared.into_iter().filter(is_missing).collect())
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

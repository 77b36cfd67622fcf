//! Lets the database count the usage of accounts and sites, and corrects wrong counts.

use std::collections::BTreeMap;

use entity_core::db::usage::{Triggers, add, drift, triggers};
use entity_core::db::{Counted, Db};
use entity_core::{Registry, Result};
use sea_orm::sea_query::{Alias, Expr, ExprTrait, OnConflict, Query};
use sea_orm::{
    ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, Statement, TransactionTrait,
};

use super::catalog::{Catalog, has_table};
use super::migrate::begin_alone;

/// The table that says what is counted.
const SOURCES: &str = "usage_source";

/// A table that is counted, and how.
struct Source {
    table: &'static str,
    definition: String,
    triggers: Triggers,
}

impl Source {
    fn of(counted: &Counted, backend: DbBackend) -> Option<Self> {
        let says_whose = counted.owner.is_some() || counted.site.is_some();
        says_whose.then(|| Self {
            table: counted.table,
            definition: counted.definition(backend),
            triggers: triggers(counted, backend),
        })
    }
}

/// Lets the database count the tables of the registered types that it does not count yet, and counts all there is. It
/// is enough that this connection may read and write rows if it counts all of them.
///
/// # Errors
/// The database refuses a statement; others keep a table for too long.
pub async fn count_tables(db: &Db, registry: &Registry) -> Result<()> {
    if missing(&db.reader, registry).await?.is_empty() {
        return Ok(());
    }
    let (transaction, watch) = begin_alone(db).await?;
    let work = async {
        // Another process may have been faster.
        let missing = missing(&transaction, registry).await?;
        for source in &missing {
            for statement in &source.triggers.statements {
                transaction.execute_unprepared(statement).await?;
            }
            say(&transaction, source).await?;
        }
        match missing.is_empty() {
            true => Ok(()),
            false => recount(&transaction).await,
        }
    };
    watch.over(work).await?;
    Ok(transaction.commit().await?)
}

/// The names of what [`count_tables`] would add.
pub(super) async fn lacks(
    connection: &impl ConnectionTrait,
    registry: &Registry,
) -> Result<Vec<String>> {
    let missing = missing(connection, registry).await?;
    let names = missing.iter().map(|it| format!("usage of {}", it.table));
    Ok(names.collect())
}

/// Returns the number of accounts and sites whose counts are wrong. Everything is counted anew, as it is at
/// one instant, and nobody waits for it.
pub async fn miscounted(db: &Db) -> Result<i64> {
    let transaction = db.reader.begin().await?;
    let definitions: Vec<_> = definitions(&transaction).await?.into_values().collect();
    if definitions.is_empty() {
        return Ok(0);
    }
    let backend = transaction.get_database_backend();
    if backend == DbBackend::Postgres {
        let patience = "SET LOCAL statement_timeout = 0";
        transaction.execute_unprepared(patience).await?;
    }
    let statement = Statement::from_string(backend, drift(&definitions));
    let row = transaction.query_one_raw(statement).await?;
    Ok(row.map_or(Ok(0), |row| row.try_get("", "number"))?)
}

/// Counts everything anew, if something is [counted wrong](miscounted). Whoever writes waits meanwhile. Answers how
/// many accounts and sites it was.
///
/// # Errors
/// The database refuses a statement; others keep a table for too long.
pub async fn mend_usage(db: &Db) -> Result<i64> {
    let wrong = miscounted(db).await?;
    if wrong > 0 {
        let (transaction, watch) = begin_alone(db).await?;
        watch.over(recount(&transaction)).await?;
        transaction.commit().await?;
    }
    Ok(wrong)
}

/// The tables of the registered types that the database does not count, or counts in another way.
async fn missing(connection: &impl ConnectionTrait, registry: &Registry) -> Result<Vec<Source>> {
    let backend = connection.get_database_backend();
    let known = definitions(connection).await?;
    let catalog = Catalog::read(connection).await?;
    let mut missing = Vec::new();
    let counted = registry
        .routes()
        .flat_map(entity_core::engine::Route::counted);
    for source in counted.filter_map(|it| Source::of(&it, backend)) {
        let is_known = known.get(source.table) == Some(&source.definition);
        let present = &catalog.table(source.table).triggers;
        let mut wanted = source.triggers.names.iter();
        if !is_known || !wanted.all(|it| present.contains(it)) {
            missing.push(source);
        }
    }
    Ok(missing)
}

/// The definition by which each counted table is counted, by its name.
async fn definitions(connection: &impl ConnectionTrait) -> Result<BTreeMap<String, String>> {
    if !has_table(connection, SOURCES).await? {
        return Ok(BTreeMap::new());
    }
    let mut all = Query::select();
    all.columns(["name", "definition"].map(Alias::new))
        .from(Alias::new(SOURCES));
    let rows = connection.query_all(&all).await?;
    let pairs = rows
        .iter()
        .map(|row| Ok((row.try_get("", "name")?, row.try_get("", "definition")?)));
    Ok(pairs.collect::<Result<_, DbErr>>()?)
}

/// Notes that `source` is counted.
async fn say(transaction: &DatabaseTransaction, source: &Source) -> Result<()> {
    let name = Alias::new("name");
    let definition = Alias::new("definition");
    let mut known = OnConflict::column(name.clone());
    known.update_column(definition.clone());
    let mut statement = Query::insert();
    statement
        .into_table(Alias::new(SOURCES))
        .columns([name, definition])
        .values_panic([source.table.into(), source.definition.as_str().into()])
        .on_conflict(known);
    transaction.execute(&statement).await?;
    Ok(())
}

/// Counts all tables that are counted, those of types that are not registered any more too.
async fn recount(transaction: &DatabaseTransaction) -> Result<()> {
    let mut known = definitions(transaction).await?;
    for table in known.keys().cloned().collect::<Vec<_>>() {
        if !has_table(transaction, &table).await? {
            known.remove(&table);
            let mut gone = Query::delete();
            gone.from_table(Alias::new(SOURCES))
                .and_where(Expr::col(Alias::new("name")).eq(table));
            transaction.execute(&gone).await?;
        }
    }
    if transaction.get_database_backend() == DbBackend::Postgres {
        let tables: Vec<_> = known.keys().map(|it| format!("\"{it}\"")).collect();
        // Those who write have finished then, and others wait. Readers don't notice.
        let lock = format!(
            "LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE",
            tables.join(", ")
        );
        transaction.execute_unprepared(&lock).await?;
    }
    let definitions: Vec<_> = known.into_values().collect();
    transaction.execute_unprepared("DELETE FROM usage").await?;
    transaction.execute_unprepared(&add(&definitions)).await?;
    Ok(())
}

/// Stops counting `table`, one of whose columns changes: [`count_tables`] counts it anew, as its type declares it now. A
/// trigger that names a column that is not there refuses every write.
pub(super) async fn forget(transaction: &DatabaseTransaction, table: &str) -> Result<()> {
    let backend = transaction.get_database_backend();
    let own = format!("usage_of_{table}_");
    let mut catalog = Catalog::default();
    catalog.read_again(transaction, table).await?;
    for trigger in &catalog.table(table).triggers {
        if trigger.starts_with(&own) {
            let sql = match backend {
                DbBackend::Postgres => format!("DROP TRIGGER \"{trigger}\" ON \"{table}\""),
                _ => format!("DROP TRIGGER \"{trigger}\""),
            };
            transaction.execute_unprepared(&sql).await?;
        }
    }
    if has_table(transaction, SOURCES).await? {
        let mut gone = Query::delete();
        gone.from_table(Alias::new(SOURCES))
            .and_where(Expr::col(Alias::new("name")).eq(table));
        transaction.execute(&gone).await?;
    }
    Ok(())
}

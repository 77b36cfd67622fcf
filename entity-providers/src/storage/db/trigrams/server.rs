//! The index of trigrams on a PostgreSQL server: one index of `pg_trgm` for each text.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use entity_core::db::Db;
use entity_core::{Error, ErrorKind, Registry, Result};
use sea_orm::sqlx::{self, Postgres};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DbBackend, DbErr, QueryResult, RuntimeErr,
    SqlxPostgresConnector, Statement,
};
use tokio::time::sleep;

use super::super::connect::pool;
use super::super::migrate::begin_alone;
use super::{Text, Unindexed};

/// The key of the lock that the process which makes indexes has. Any number does that no other program uses.
const LOCK: i64 = 0x4C65_6374_6572_6E02;
/// The number of rows of a table whose index is made while its writers wait: in a tenth of a second.
const FEW: i64 = 1_000;
/// The time for which another process makes indexes, until it is looked again.
const PAUSE: Duration = Duration::from_secs(2);
/// The time for which a connection to make indexes by is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Asks for the schema in which the extension is.
const EXTENSION: &str = "SELECT n.nspname::text AS name FROM pg_extension e \
    JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm'";
/// Asks for the indexes of a single text. One whose making was stopped is not valid.
const INDEXES: &str =
    "SELECT c.relname::text AS of_table, a.attname::text AS of_column, i.relname::text AS name,
        x.indisvalid AS is_valid
    FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class c ON c.oid = x.indrelid
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = x.indkey[0]
    JOIN pg_opclass o ON o.oid = x.indclass[0]
    WHERE o.opcname = 'gin_trgm_ops' AND x.indnkeyatts = 1 AND x.indpred IS NULL
    AND c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())";

/// A text without a valid index.
struct Lack {
    text: Text,
    /// The names of its indexes that are not valid.
    invalid: Vec<String>,
}

impl Lack {
    /// Returns the statement that makes the index, with `operators` of the extension and `how` it is made.
    ///
    /// Each entry is put into its place at once: a list of what waits for that would make searches read it, and one write
    /// in a thousand take a second.
    fn creation(&self, how: &str, operators: &str) -> String {
        let Text { table, column, .. } = &self.text;
        format!(
            "CREATE INDEX {how} ON \"{table}\" USING gin (\"{column}\" {operators}) WITH (fastupdate = off)"
        )
    }
}

pub(super) async fn begin(db: &Db, registry: &Registry) -> Result<()> {
    if operators(&db.reader).await?.is_none()
        && let Err(error) = make_extension(db).await
    {
        let told = Unindexed::Extension.to_string();
        return Err(Error::new(ErrorKind::Internal, told).with_source(error));
    }
    if lacks(&db.reader, registry).await?.is_empty() {
        return Ok(());
    }
    let (transaction, watch) = begin_alone(db).await?;
    let work = async {
        let Some(operators) = operators(&transaction).await? else {
            return Ok(());
        };
        for lack in lacks(&transaction, registry).await? {
            if lack.invalid.is_empty() && has_few(&transaction, lack.text.table).await? {
                let sql = lack.creation("", &operators);
                transaction.execute_unprepared(&sql).await?;
            }
        }
        Ok(())
    };
    watch.over(work).await?;
    Ok(transaction.commit().await?)
}

/// Makes the extension, which whoever may create something in the database may.
async fn make_extension(db: &Db) -> Result<()> {
    let (transaction, watch) = begin_alone(db).await?;
    let work = async {
        let sql = "CREATE EXTENSION IF NOT EXISTS pg_trgm";
        transaction.execute_unprepared(sql).await?;
        Ok(())
    };
    watch.over(work).await?;
    Ok(transaction.commit().await?)
}

pub(super) async fn finish(db: &Db, registry: &Registry) -> Result<()> {
    loop {
        if operators(&db.reader).await?.is_none() || lacks(&db.reader, registry).await?.is_empty() {
            return Ok(());
        }
        let alone = connect(db).await?;
        let is_made = make(&alone, registry).await;
        let closed = alone.close().await;
        if is_made? {
            return Ok(closed?);
        }
        sleep(PAUSE).await;
    }
}

pub(super) async fn unindexed(db: &Db, registry: &Registry) -> Result<Option<Unindexed>> {
    if operators(&db.reader).await?.is_none() {
        return Ok(Some(Unindexed::Extension));
    }
    let lacks = lacks(&db.reader, registry).await?;
    let columns: Vec<String> = lacks.iter().map(|it| it.text.to_string()).collect();
    Ok((!columns.is_empty()).then_some(Unindexed::Columns(columns)))
}

/// Returns a single connection whose statements take as long as they take.
async fn connect(db: &Db) -> Result<DatabaseConnection> {
    let writers = db.writer.get_postgres_connection_pool();
    let options = sqlx::postgres::PgConnectOptions::clone(&writers.connect_options());
    let options = options.options([("statement_timeout", "0"), ("lock_timeout", "0")]);
    let single = pool::<Postgres>(1, PATIENCE, &db.faults);
    let single = single.connect_with(options).await;
    let single = single.map_err(|it| DbErr::Conn(RuntimeErr::SqlxError(it.into())))?;
    Ok(SqlxPostgresConnector::from_sqlx_postgres_pool(single))
}

/// Makes what is missing, by the only connection of `alone`. Returns false if another process is at it.
async fn make(alone: &DatabaseConnection, registry: &Registry) -> Result<bool> {
    // Whoever waited in a statement for the lock would be waited for by the one who has it.
    let lock = format!("SELECT pg_try_advisory_lock({LOCK}) AS is_locked");
    let row = alone.query_one_raw(question(&lock)).await?;
    let is_locked: bool = row.map_or(Ok(false), |it| it.try_get("", "is_locked"))?;
    let operators = operators(alone).await?;
    let (true, Some(operators)) = (is_locked, operators) else {
        return Ok(false);
    };
    let mut tables = BTreeSet::new();
    for lack in lacks(alone, registry).await? {
        tracing::info!("making the index for searches in {}", lack.text);
        for name in &lack.invalid {
            let sql = format!("DROP INDEX CONCURRENTLY IF EXISTS \"{name}\"");
            alone.execute_unprepared(&sql).await?;
        }
        let sql = lack.creation("CONCURRENTLY", &operators);
        alone.execute_unprepared(&sql).await?;
        tables.insert(lack.text.table);
    }
    for table in tables {
        // By what it knows of the texts, the server tells rare words from common ones.
        let sql = format!("ANALYZE \"{table}\"");
        alone.execute_unprepared(&sql).await?;
    }
    Ok(true)
}

/// Returns the name of the operators by which texts are indexed, if the extension is there.
async fn operators(connection: &impl ConnectionTrait) -> Result<Option<String>> {
    let row = connection.query_one_raw(question(EXTENSION)).await?;
    let schema: Option<String> = row.map(|it| it.try_get("", "name")).transpose()?;
    Ok(schema.map(|it| format!("\"{it}\".gin_trgm_ops")))
}

/// Returns the texts of the registered types without a valid index.
async fn lacks(connection: &impl ConnectionTrait, registry: &Registry) -> Result<Vec<Lack>> {
    let mut present: BTreeMap<(String, String), (bool, Vec<String>)> = BTreeMap::new();
    for row in connection.query_all_raw(question(INDEXES)).await? {
        let (text, name, is_valid) = read(&row)?;
        let (has_valid, invalid) = present.entry(text).or_default();
        *has_valid |= is_valid;
        if !is_valid {
            invalid.push(name);
        }
    }
    let lacks = Text::all(registry).into_iter().filter_map(|text| {
        let of_text = present.remove(&(text.table.to_owned(), text.column.clone()));
        match of_text.unwrap_or_default() {
            (true, _) => None,
            (false, invalid) => Some(Lack { text, invalid }),
        }
    });
    Ok(lacks.collect())
}

/// Reads an index: its table and column, its name, and whether it is valid.
fn read(row: &QueryResult) -> Result<((String, String), String, bool), DbErr> {
    let text = (row.try_get("", "of_table")?, row.try_get("", "of_column")?);
    Ok((text, row.try_get("", "name")?, row.try_get("", "is_valid")?))
}

async fn has_few(connection: &impl ConnectionTrait, table: &str) -> Result<bool> {
    let sql = format!(
        "SELECT count(*) AS number FROM (SELECT 1 FROM \"{table}\" LIMIT {}) AS few",
        FEW + 1
    );
    let row = connection.query_one_raw(question(&sql)).await?;
    let number: i64 = row.map_or(Ok(0), |it| it.try_get("", "number"))?;
    Ok(number <= FEW)
}

fn question(sql: &str) -> Statement {
    Statement::from_string(DbBackend::Postgres, sql)
}

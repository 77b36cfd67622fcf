//! The index of trigrams in a SQLite file: one table of FTS5 for the texts of each table.
//!
//! FTS5 names rows by numbers. A table whose key is a text has none that stay: `VACUUM` may give it others. So a table
//! beside the index gives each key a number. Triggers keep both in the transaction of every write. Rows that were there
//! before are added some hundred at a time; until all are, no search uses the index.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use entity_core::db::{Db, SEARCHES, TextIndex};
use entity_core::{Error, ErrorKind, Registry, Result};
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, Statement, Value};
use tokio::time::sleep;

use super::super::catalog::{Catalog, has_table};
use super::super::migrate::{begin_alone, begin_write};
use super::{Text, Unindexed};

/// Says of each index what it was made as, the last key that was added of the rows that were there before, and whether
/// all of them are.
const CREATE: &str = "CREATE TABLE IF NOT EXISTS search_index (
    table_name TEXT NOT NULL PRIMARY KEY, definition TEXT NOT NULL, filled TEXT NOT NULL, is_whole BOOLEAN NOT NULL
)";
/// The events that triggers follow.
const EVENTS: [&str; 3] = ["insert", "update", "delete"];
/// The number of rows of a table whose index is made at once.
const FEW: i64 = 1_000;
/// Most rows that are added in one transaction: some fifty milliseconds.
const ROWS_AT_ONCE: i64 = 500;
/// The time for which others have the file to themselves between two transactions.
const PAUSE: Duration = Duration::from_millis(20);
/// The number of times that a transaction which others were in the way of is tried, at most.
const TRIES: usize = 60;

/// The texts of a table, and its index.
struct Texts {
    table: &'static str,
    key: &'static str,
    columns: Vec<String>,
}

impl Texts {
    /// Returns the tables of the registered types with texts.
    fn all(registry: &Registry) -> Vec<Self> {
        let mut tables: BTreeMap<(&'static str, &'static str), Vec<String>> = BTreeMap::new();
        for Text { table, key, column } in Text::all(registry) {
            tables.entry((table, key)).or_default().push(column);
        }
        let tables = tables.into_iter();
        let texts = tables.map(|((table, key), columns)| Self {
            table,
            key,
            columns,
        });
        texts.collect()
    }

    fn index(&self) -> TextIndex {
        TextIndex::of(self.table)
    }

    /// Returns the names of the columns, each behind `before` and in quotes.
    fn columns(&self, before: &str) -> String {
        let names = self.columns.iter().map(|it| format!("{before}\"{it}\""));
        names.collect::<Vec<_>>().join(", ")
    }

    fn trigger(&self, event: &str) -> String {
        format!("{}_{event}", self.index().entries)
    }

    /// Returns the names of the triggers.
    fn triggers(&self) -> [String; 3] {
        EVENTS.map(|it| self.trigger(it))
    }

    /// Returns what the index is made as.
    fn definition(&self) -> String {
        self.creation().join(";\n")
    }

    /// Returns the statements that make the index and the triggers.
    ///
    /// A trigger says by itself what is done with a row that is there already: the words of the statement that it follows
    /// would hold otherwise.
    fn creation(&self) -> Vec<String> {
        let Self { table, key, .. } = self;
        let TextIndex { entries, keys } = self.index();
        let (names, new) = (self.columns(""), self.columns("NEW."));
        let add = format!(
            "INSERT INTO \"{keys}\" (key) SELECT NEW.\"{key}\" WHERE NOT EXISTS
                (SELECT 1 FROM \"{keys}\" WHERE key = NEW.\"{key}\");
             DELETE FROM \"{entries}\" WHERE rowid = (SELECT number FROM \"{keys}\" WHERE key = NEW.\"{key}\");
             INSERT INTO \"{entries}\" (rowid, {names}) SELECT number, {new} FROM \"{keys}\" WHERE key = NEW.\"{key}\";"
        );
        let remove = |whether: &str| {
            format!(
                "DELETE FROM \"{entries}\" WHERE rowid = (SELECT number FROM \"{keys}\" WHERE key = OLD.\"{key}\"{whether});
                 DELETE FROM \"{keys}\" WHERE key = OLD.\"{key}\"{whether};"
            )
        };
        let moved = format!(" AND OLD.\"{key}\" <> NEW.\"{key}\"");
        let differs = std::iter::once((*key).to_owned()).chain(self.columns.iter().cloned());
        let differs = differs.map(|it| format!("OLD.\"{it}\" IS NOT NEW.\"{it}\""));
        let differs = differs.collect::<Vec<_>>().join(" OR ");
        let [insert, update, delete] = self.triggers();
        vec![
            format!("CREATE TABLE \"{keys}\" (number INTEGER NOT NULL PRIMARY KEY, key TEXT NOT NULL UNIQUE)"),
            format!(
                "CREATE VIRTUAL TABLE \"{entries}\" USING fts5 ({names}, tokenize = 'trigram case_sensitive 1', \
                 detail = none, content = '', contentless_delete = 1)"
            ),
            format!("CREATE TRIGGER \"{insert}\" AFTER INSERT ON \"{table}\" BEGIN {add} END"),
            format!(
                "CREATE TRIGGER \"{update}\" AFTER UPDATE OF \"{key}\", {names} ON \"{table}\" WHEN {differs}
                 BEGIN {} {add} END",
                remove(&moved)
            ),
            format!("CREATE TRIGGER \"{delete}\" AFTER DELETE ON \"{table}\" BEGIN {} END", remove("")),
        ]
    }

    /// Makes the index anew, without the rows that are there.
    async fn create(&self, transaction: &DatabaseTransaction) -> Result<(), DbErr> {
        let TextIndex { entries, keys } = self.index();
        forget(transaction, self.table).await?;
        for sql in [
            format!("DROP TABLE IF EXISTS \"{entries}\""),
            format!("DROP TABLE IF EXISTS \"{keys}\""),
        ] {
            transaction.execute_unprepared(&sql).await?;
        }
        for sql in self.creation() {
            transaction.execute_unprepared(&sql).await?;
        }
        let sql = format!(
            "INSERT INTO {SEARCHES} (table_name, definition, filled, is_whole) VALUES (?, ?, '', FALSE)"
        );
        let values = [self.table.into(), self.definition().into()];
        transaction.execute_raw(question(&sql, values)).await?;
        Ok(())
    }

    /// Adds the next rows of those that were there before. Returns whether there may be more.
    async fn fill(&self, connection: &impl ConnectionTrait) -> Result<bool, DbErr> {
        let Self { table, key, .. } = self;
        let TextIndex { entries, keys } = self.index();
        let sql =
            format!("SELECT filled AS last FROM {SEARCHES} WHERE table_name = ? AND NOT is_whole");
        let Some(row) = connection
            .query_one_raw(question(&sql, [self.table.into()]))
            .await?
        else {
            return Ok(false);
        };
        let last: String = row.try_get("", "last")?;
        let sql = format!(
            "SELECT max(\"{key}\") AS last FROM (SELECT \"{key}\" FROM \"{table}\" WHERE \"{key}\" > ? \
             ORDER BY \"{key}\" LIMIT {ROWS_AT_ONCE})"
        );
        let row = connection
            .query_one_raw(question(&sql, [last.as_str().into()]))
            .await?;
        let end: Option<String> = row.map(|it| it.try_get("", "last")).transpose()?.flatten();
        let Some(end) = end else {
            let sql = format!("UPDATE {SEARCHES} SET is_whole = TRUE WHERE table_name = ?");
            connection
                .execute_raw(question(&sql, [self.table.into()]))
                .await?;
            return Ok(false);
        };
        let sql = format!("SELECT coalesce(max(number), 0) AS last FROM \"{keys}\"");
        let row = connection.query_one_raw(question(&sql, [])).await?;
        let number: i64 = row.map_or(Ok(0), |it| it.try_get("", "last"))?;
        let range: [Value; 2] = [last.into(), end.as_str().into()];
        // Whoever has written a row meanwhile has added it.
        let sql = format!(
            "INSERT INTO \"{keys}\" (key) SELECT t.\"{key}\" FROM \"{table}\" t WHERE t.\"{key}\" > ? AND t.\"{key}\" <= ? \
             AND NOT EXISTS (SELECT 1 FROM \"{keys}\" k WHERE k.key = t.\"{key}\") ORDER BY t.\"{key}\""
        );
        connection.execute_raw(question(&sql, range)).await?;
        let sql = format!(
            "INSERT INTO \"{entries}\" (rowid, {}) SELECT k.number, {} FROM \"{keys}\" k JOIN \"{table}\" t \
             ON t.\"{key}\" = k.key WHERE k.number > ?",
            self.columns(""),
            self.columns("t.")
        );
        connection
            .execute_raw(question(&sql, [number.into()]))
            .await?;
        let sql = format!("UPDATE {SEARCHES} SET filled = ? WHERE table_name = ?");
        connection
            .execute_raw(question(&sql, [end.into(), self.table.into()]))
            .await?;
        Ok(true)
    }
}

pub(super) async fn begin(db: &Db, registry: &Registry) -> Result<()> {
    let all = Texts::all(registry);
    if wrong(&db.reader, &all).await?.is_empty() {
        return Ok(());
    }
    let (transaction, watch) = begin_alone(db).await?;
    let work = async {
        transaction.execute_unprepared(CREATE).await?;
        for texts in wrong(&transaction, &all).await? {
            texts.create(&transaction).await?;
            if has_few(&transaction, texts.table).await? {
                while texts.fill(&transaction).await? {}
            }
        }
        Ok(())
    };
    watch.over(work).await?;
    Ok(transaction.commit().await?)
}

pub(super) async fn finish(db: &Db, registry: &Registry) -> Result<()> {
    let whole = whole(&db.reader).await?;
    for texts in Texts::all(registry) {
        if whole.get(texts.table) != Some(&false) {
            continue;
        }
        tracing::info!("making the index for searches in `{}`", texts.table);
        while fill_patiently(db, &texts).await? {
            sleep(PAUSE).await;
        }
    }
    Ok(())
}

/// Adds the next rows in a transaction of its own. Returns whether there may be more.
async fn fill_patiently(db: &Db, texts: &Texts) -> Result<bool> {
    let mut tries = 1;
    loop {
        let work = async {
            let transaction = begin_write(&db.writer).await?;
            let goes_on = texts.fill(&transaction).await?;
            transaction.commit().await?;
            Ok::<_, DbErr>(goes_on)
        };
        match work.await.map_err(Error::from) {
            Err(error)
                if tries < TRIES
                    && (error.is_transient() || error.kind() == ErrorKind::Unavailable) =>
            {
                tries += 1;
            }
            done => return done,
        }
        sleep(PAUSE).await;
    }
}

pub(super) async fn unindexed(db: &Db, registry: &Registry) -> Result<Option<Unindexed>> {
    let all = Texts::all(registry);
    let mut tables: BTreeSet<&str> = wrong(&db.reader, &all)
        .await?
        .iter()
        .map(|it| it.table)
        .collect();
    let whole = whole(&db.reader).await?;
    tables.extend(
        all.iter()
            .map(|it| it.table)
            .filter(|it| whole.get(*it) != Some(&true)),
    );
    for texts in &all {
        if !tables.contains(texts.table) && is_damaged(&db.reader, texts).await? {
            tables.insert(texts.table);
        }
    }
    let lacking = all.iter().filter(|it| tables.contains(it.table));
    let columns = lacking.flat_map(|it| {
        it.columns
            .iter()
            .map(|column| format!("{}.{column}", it.table))
    });
    let columns: Vec<String> = columns.collect();
    Ok((!columns.is_empty()).then_some(Unindexed::Columns(columns)))
}

/// Lets what is damaged be made anew.
pub(super) async fn mend(db: &Db, registry: &Registry) -> Result<()> {
    let mut damaged = Vec::new();
    for texts in Texts::all(registry) {
        if is_damaged(&db.reader, &texts).await? {
            damaged.push(texts);
        }
    }
    if damaged.is_empty() {
        return Ok(());
    }
    let (transaction, watch) = begin_alone(db).await?;
    let work = async {
        for texts in damaged {
            texts.create(&transaction).await?;
        }
        Ok(())
    };
    watch.over(work).await?;
    Ok(transaction.commit().await?)
}

/// Removes what keeps the index of `table` up to date, if there is something: a trigger that names a column that is not
/// there refuses every write. The next start makes the index anew.
pub(super) async fn forget(transaction: &DatabaseTransaction, table: &str) -> Result<(), DbErr> {
    let entries = TextIndex::of(table).entries;
    for event in EVENTS {
        let sql = format!("DROP TRIGGER IF EXISTS \"{entries}_{event}\"");
        transaction.execute_unprepared(&sql).await?;
    }
    if has_table(transaction, SEARCHES).await? {
        let sql = format!("DELETE FROM {SEARCHES} WHERE table_name = ?");
        transaction
            .execute_raw(question(&sql, [table.into()]))
            .await?;
    }
    Ok(())
}

/// Returns those of `all` whose index is not there, or made otherwise.
async fn wrong<'t>(
    connection: &impl ConnectionTrait,
    all: &'t [Texts],
) -> Result<Vec<&'t Texts>, DbErr> {
    let catalog = Catalog::read(connection).await?;
    let mut definitions: BTreeMap<String, String> = BTreeMap::new();
    if !catalog.columns(SEARCHES).is_empty() {
        let sql = format!("SELECT table_name, definition FROM {SEARCHES}");
        for row in connection.query_all_raw(question(&sql, [])).await? {
            definitions.insert(
                row.try_get("", "table_name")?,
                row.try_get("", "definition")?,
            );
        }
    }
    let is_right = |texts: &Texts| {
        let triggers = &catalog.table(texts.table).triggers;
        let TextIndex { entries, keys } = texts.index();
        definitions.get(texts.table) == Some(&texts.definition())
            && texts.triggers().iter().all(|it| triggers.contains(it))
            && [entries, keys]
                .iter()
                .all(|it| !catalog.columns(it).is_empty())
    };
    let present = all
        .iter()
        .filter(|it| !catalog.columns(it.table).is_empty());
    Ok(present.filter(|it| !is_right(it)).collect())
}

/// Returns of each index, by the name of its table, whether it is whole.
async fn whole(connection: &impl ConnectionTrait) -> Result<BTreeMap<String, bool>, DbErr> {
    if !has_table(connection, SEARCHES).await? {
        return Ok(BTreeMap::new());
    }
    let sql = format!("SELECT table_name, is_whole FROM {SEARCHES}");
    let rows = connection.query_all_raw(question(&sql, [])).await?;
    let pairs = rows
        .iter()
        .map(|row| Ok((row.try_get("", "table_name")?, row.try_get("", "is_whole")?)));
    pairs.collect()
}

/// Returns whether SQLite finds a fault in the index of `texts`, if there is one.
async fn is_damaged(connection: &impl ConnectionTrait, texts: &Texts) -> Result<bool, DbErr> {
    let entries = texts.index().entries;
    if !has_table(connection, &entries).await? {
        return Ok(false);
    }
    let sql = format!("PRAGMA quick_check('{entries}')");
    let rows = connection.query_all_raw(question(&sql, [])).await?;
    let told: Result<Vec<String>, DbErr> = rows.iter().map(|it| it.try_get_by_index(0)).collect();
    Ok(told?.iter().any(|it| it != "ok"))
}

async fn has_few(connection: &impl ConnectionTrait, table: &str) -> Result<bool, DbErr> {
    let sql = format!(
        "SELECT count(*) AS number FROM (SELECT 1 FROM \"{table}\" LIMIT {})",
        FEW + 1
    );
    let row = connection.query_one_raw(question(&sql, [])).await?;
    let number: i64 = row.map_or(Ok(0), |it| it.try_get("", "number"))?;
    Ok(number <= FEW)
}

fn question(sql: &str, values: impl IntoIterator<Item = Value>) -> Statement {
    Statement::from_sql_and_values(DbBackend::Sqlite, sql, values)
}

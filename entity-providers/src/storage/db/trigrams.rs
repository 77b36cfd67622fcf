//! The index of trigrams behind searches: which texts it has, and which it lacks.
//!
//! Lists look for words in the middle of folded text. Without this index, a search of everything reads every text. It
//! changes no answer: where it is missing, searches take longer.

mod file;
mod server;

use std::collections::BTreeSet;
use std::fmt;

use entity_core::db::{Db, TableSpec};
use entity_core::engine::Route;
use entity_core::{Registry, Result};
use sea_orm::{ConnectionTrait as _, DatabaseTransaction, DbBackend, DbErr};

/// A column with folded text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Text {
    table: &'static str,
    /// The key of the table, which is a text.
    key: &'static str,
    column: String,
}

impl Text {
    /// Returns the columns with folded text of the registered types, those of their children included.
    fn all(registry: &Registry) -> BTreeSet<Self> {
        let tables = |route: &Route| {
            let spec = route.table.map(|it| it());
            spec.map_or_else(Vec::new, TableSpec::with_children)
        };
        let texts = registry.routes().flat_map(tables).flat_map(|spec| {
            let (table, key) = (spec.name, spec.key);
            let columns: Vec<String> = spec.folded_columns().collect();
            columns
                .into_iter()
                .map(move |column| Self { table, key, column })
        });
        texts.collect()
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.table, self.column)
    }
}

/// The parts that the index of searches lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unindexed {
    /// The server lacks the extension that makes such indexes.
    Extension,
    /// Some columns, each as table and column with a dot between.
    Columns(Vec<String>),
}

impl fmt::Display for Unindexed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Extension => f.write_str(
                "searches read every text, because the database lacks the extension `pg_trgm`: run `CREATE EXTENSION \
                 pg_trgm` in it as a role that may, then `lectern migrate`",
            ),
            Self::Columns(columns) => write!(
                f,
                "searches read every text where they have no index: `lectern migrate` makes it for {}",
                columns.join(", ")
            ),
        }
    }
}

/// Begins the index of searches: makes what takes no time, in tables with few rows.
///
/// # Errors
/// Returns an error if the database refuses a statement. Searches read every text then, and find the same.
pub async fn begin_index(db: &Db, registry: &Registry) -> Result<()> {
    match db.writer.get_database_backend() {
        DbBackend::Postgres => server::begin(db, registry).await,
        _ => file::begin(db, registry).await,
    }
}

/// Makes what the index of searches lacks, in tables with many rows too. Nobody who reads or writes waits for it. Of
/// several processes one makes it, and the others wait.
///
/// # Errors
/// Returns an error if the database refuses a statement; what was made stays.
pub async fn finish_index(db: &Db, registry: &Registry) -> Result<()> {
    match db.writer.get_database_backend() {
        DbBackend::Postgres => server::finish(db, registry).await,
        _ => file::finish(db, registry).await,
    }
}

/// Returns what the index of searches lacks: `None` if it is whole.
pub async fn unindexed(db: &Db, registry: &Registry) -> Result<Option<Unindexed>> {
    match db.reader.get_database_backend() {
        DbBackend::Postgres => server::unindexed(db, registry).await,
        _ => file::unindexed(db, registry).await,
    }
}

/// Makes anew what is damaged of the index of searches, and then what it lacks.
///
/// # Errors
/// Returns an error if the database refuses a statement; what was made stays.
pub async fn mend_index(db: &Db, registry: &Registry) -> Result<()> {
    if db.writer.get_database_backend() == DbBackend::Sqlite {
        file::mend(db, registry).await?;
    }
    finish_index(db, registry).await
}

/// Stops keeping the index of the texts of `table`, one of whose columns changes: the next start makes it anew.
pub(super) async fn forget(transaction: &DatabaseTransaction, table: &str) -> Result<(), DbErr> {
    match transaction.get_database_backend() {
        // The index of a column is renamed with it, and goes with it.
        DbBackend::Postgres => Ok(()),
        _ => file::forget(transaction, table).await,
    }
}

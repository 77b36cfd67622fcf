//! Storage by sea-orm: one writer, many readers, and ready-made verbs over a table.

mod column;
mod file;
mod folded;
mod lane;
mod row;
mod search;
mod table;

use std::any::Any;

use async_trait::async_trait;
use sea_orm::{
    AccessMode, ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr,
    ExecResult, QueryResult, SqliteTransactionMode, Statement, TransactionOptions,
    TransactionTrait,
};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::unit::{Mode, Store, Unit};

pub use column::{Column, ColumnType};
pub use file::File;
pub use folded::folded;
pub use lane::{Lane, LaneCounts, Lanes, Scanning, refusal};
pub use row::Row;
pub use search::{apply, condition, count_rows};
pub use table::{Table, TableSpec, count, create, delete, list, read, read_many, row, update};

/// A database. Its readers can't write.
#[derive(Clone, Debug)]
pub struct Db {
    /// Connections that only read.
    pub reader: DatabaseConnection,
    /// Connections that write: on SQLite there is one.
    pub writer: DatabaseConnection,
    /// The file behind them, where there is one and it may be read without them.
    pub file: Option<File>,
    /// Connections that kinds of statements have for themselves.
    pub lanes: Lanes,
}

/// What a unit of work reads and writes through.
#[derive(Debug)]
pub enum Session {
    /// Reads, each statement on its own: from the file, where there is one, what is surely short.
    /// What may look at many rows has connections of its own.
    Reader(DatabaseConnection, Option<File>, Lanes),
    /// Reads and writes, in one transaction.
    Writer(DatabaseTransaction),
}

#[async_trait]
impl Store for Db {
    async fn begin(&self, mode: Mode) -> Result<Box<dyn Unit>> {
        let session = match mode {
            Mode::Read => {
                Session::Reader(self.reader.clone(), self.file.clone(), self.lanes.clone())
            }
            Mode::Write => Session::Writer(begin_write(&self.writer).await?),
        };
        Ok(Box::new(session))
    }
}

/// Begins a transaction that has the right to write from its first statement on. A deferred one would fail
/// at its first write when somebody else wrote in between.
pub async fn begin_write(writer: &DatabaseConnection) -> Result<DatabaseTransaction, DbErr> {
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

impl Session {
    /// What `read` makes of each row that answers `statement`, which finds its rows by an index and no more
    /// than an answer holds. It may be run in the thread that asks, so that it must be short: a
    /// millisecond, not ten. What takes much longer is begun again by [`Session::scan`].
    ///
    /// # Errors
    /// The database can't be read, or `read` fails.
    pub async fn rows<T>(
        &self,
        statement: Statement,
        mut read: impl FnMut(&mut Row<'_>) -> Result<T> + Send,
    ) -> Result<Vec<T>> {
        if let Self::Reader(_, Some(file), _) = self
            && let Some(rows) = file.rows(&statement, &mut read)?
        {
            return Ok(rows);
        }
        self.scan(statement, read).await
    }

    /// The same for a statement that may look at any number of rows.
    ///
    /// # Errors
    /// The database can't be read, or `read` fails.
    pub async fn scan<T>(
        &self,
        statement: Statement,
        mut read: impl FnMut(&mut Row<'_>) -> Result<T> + Send,
    ) -> Result<Vec<T>> {
        let rows = self.scanning().query_all_raw(statement).await?;
        rows.iter().map(|it| read(&mut Row::of(it))).collect()
    }
}

impl Session {
    fn lanes(&self) -> Option<&Lanes> {
        match self {
            Self::Reader(.., lanes) => Some(lanes),
            Self::Writer(_) => None,
        }
    }
}

#[async_trait]
impl Unit for Session {
    async fn commit(self: Box<Self>) -> Result<()> {
        match *self {
            Self::Reader(..) => Ok(()),
            Self::Writer(transaction) => Ok(transaction.commit().await?),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Context {
    /// The database of this unit of work: a pool for reads, the transaction for writes.
    ///
    /// # Errors
    /// The service keeps its data elsewhere.
    pub fn db(&self) -> Result<&Session> {
        self.unit()
            .as_any()
            .downcast_ref()
            .ok_or_else(|| Error::internal("this service has no database"))
    }
}

#[async_trait]
impl ConnectionTrait for Session {
    fn get_database_backend(&self) -> DbBackend {
        match self {
            Self::Reader(it, ..) => it.get_database_backend(),
            Self::Writer(it) => it.get_database_backend(),
        }
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        match self {
            Self::Reader(it, ..) => it.execute_raw(statement).await,
            Self::Writer(it) => it.execute_raw(statement).await,
        }
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        match self {
            Self::Reader(it, ..) => it.execute_unprepared(sql).await,
            Self::Writer(it) => it.execute_unprepared(sql).await,
        }
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        if let Some(lane) = self.lanes().and_then(|it| it.reads.as_ref()) {
            return Ok(lane.query_all(statement).await?.into_iter().next());
        }
        match self {
            Self::Reader(it, ..) => it.query_one_raw(statement).await,
            Self::Writer(it) => it.query_one_raw(statement).await,
        }
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        if let Some(lane) = self.lanes().and_then(|it| it.reads.as_ref()) {
            return lane.query_all(statement).await;
        }
        match self {
            Self::Reader(it, ..) => it.query_all_raw(statement).await,
            Self::Writer(it) => it.query_all_raw(statement).await,
        }
    }
}

/// The kind of a database error, found once, here.
impl From<DbErr> for Error {
    fn from(error: DbErr) -> Self {
        use sea_orm::SqlErr::{ForeignKeyConstraintViolation, UniqueConstraintViolation};
        if let Some(refused) = lane::refused(&error) {
            return refused.with_source(error);
        }
        match error.sql_err() {
            Some(UniqueConstraintViolation(_)) => {
                return Self::conflict("this already exists").with_source(error);
            }
            Some(ForeignKeyConstraintViolation(_)) => {
                return Self::conflict(
                    "something this belongs to, or that belongs to this, stands against it",
                )
                .with_source(error);
            }
            _ => {}
        }
        match sql_state(&error).as_deref() {
            // PostgreSQL: serialisation failure, deadlock.
            Some("40001" | "40P01") => {
                Self::unavailable("others changed the same data: try again", 1)
                    .with_source(error)
                    .transient()
            }
            // PostgreSQL and SQLite: stopped, because its time was over.
            Some("57014" | "9") => lane::too_long().with_source(error),
            // PostgreSQL: lock timeout. SQLite: busy, locked.
            Some("55P03" | "5" | "6" | "261" | "517" | "262") => busy().with_source(error),
            // PostgreSQL and SQLite: disk full.
            Some("53100" | "13") => full().with_source(error),
            _ if is_connection_failure(&error) => {
                Self::unavailable("the database can't be reached: try again", 2).with_source(error)
            }
            _ => Self::internal(error),
        }
    }
}

fn busy() -> Error {
    Error::unavailable("the database is busy: try again", 1)
}

fn full() -> Error {
    Error::unavailable("the storage is full", 30)
}

fn sql_state(error: &DbErr) -> Option<String> {
    use sea_orm::RuntimeErr::SqlxError;
    match error {
        DbErr::Exec(SqlxError(error))
        | DbErr::Query(SqlxError(error))
        | DbErr::Conn(SqlxError(error)) => error
            .as_database_error()?
            .code()
            .map(std::borrow::Cow::into_owned),
        _ => None,
    }
}

fn is_connection_failure(error: &DbErr) -> bool {
    use sea_orm::RuntimeErr::SqlxError;
    use sea_orm::sqlx::Error::{Io, PoolClosed, PoolTimedOut};
    match error {
        DbErr::ConnectionAcquire(_) => true,
        DbErr::Exec(SqlxError(error))
        | DbErr::Query(SqlxError(error))
        | DbErr::Conn(SqlxError(error)) => {
            matches!(&**error, Io(_) | PoolTimedOut | PoolClosed)
        }
        _ => false,
    }
}

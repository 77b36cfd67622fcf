//! Sessions: the connections that one unit of work reads and writes by.

use std::any::Any;
use std::sync::Arc;

use async_trait::async_trait;
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DbBackend, DbErr, ExecResult, QueryResult, QuerySelect,
    QueryTrait, Statement,
};

use crate::contract::context::Context;
use crate::db::failure;
use crate::db::faults::Faults;
use crate::db::file::File;
use crate::db::query_pool::QueryPools;
use crate::db::row::{FromRow, Row, columns};
use crate::db::sink::{Made, Sink};
use crate::db::sql::Sql;
use crate::db::stop::Stops;
use crate::db::transaction::Transaction;
use crate::primitives::error::{Error, Result};
use crate::primitives::unit::{Mode, Store, Unit};

/// A database. Its readers can't write.
#[derive(Clone, Debug)]
pub struct Db {
    /// Connections that only read.
    pub reader: DatabaseConnection,
    /// Connections that write: on SQLite there is one.
    pub writer: DatabaseConnection,
    /// The SQLite file behind the connections, if there is one that may be read without them.
    pub file: Option<File>,
    /// The connections that are reserved for certain kinds of statements.
    pub query_pools: QueryPools,
    /// The known faults of the database.
    pub faults: Faults,
    /// The source of the handles that stop a writer's statement when nobody waits for it any more, if statements can be
    /// stopped.
    pub stops: Option<Arc<dyn Stops>>,
}

/// The session with a database through which a unit of work reads and writes.
#[derive(Debug)]
pub enum Session {
    /// Reads, each statement on its own: a statement that is certain to be short runs on the file, where there is one.
    /// Statements that may look at many rows use connections of their own. When the connection to a server is lost, the
    /// statement is tried once more.
    Reader(Reader),
    /// Reads and writes, in one transaction.
    Writer(Transaction),
}

/// The parts of a [`Db`] that a read-only unit of work needs.
#[derive(Clone, Debug)]
pub struct Reader {
    pub(super) connection: DatabaseConnection,
    file: Option<File>,
    query_pools: QueryPools,
    faults: Faults,
}

#[async_trait]
impl Store for Db {
    async fn begin(&self, mode: Mode) -> Result<Box<dyn Unit>> {
        let (writer, faults, stops) = (&self.writer, &self.faults, self.stops.as_deref());
        let session = match mode {
            Mode::Read => self.read(),
            Mode::Write => Session::Writer(Transaction::begin_with(writer, faults, stops).await?),
        };
        Ok(Box::new(session))
    }
}

impl Db {
    /// Returns a session that reads this database.
    pub fn read(&self) -> Session {
        Session::Reader(Reader {
            connection: self.reader.clone(),
            file: self.file.clone(),
            query_pools: self.query_pools.clone(),
            faults: self.faults.clone(),
        })
    }
}

impl Session {
    /// Begins a statement for this database with `text`.
    pub fn sql(&self, text: &str) -> Sql {
        Sql::new(self.get_database_backend(), text)
    }

    /// Runs `statement` and returns what `read` makes of each row. The statement must find its rows by an index and
    /// return no more rows than an answer holds. It may run in the calling thread, so it must be short: a millisecond,
    /// not ten. A statement that takes much longer is started again by [`Session::scan`].
    ///
    /// # Errors
    /// Returns an error if the database can't be read or `read` fails.
    pub async fn rows<T: Send>(
        &self,
        statement: Statement,
        read: impl FnMut(&mut Row<'_>) -> Result<T> + Send,
    ) -> Result<Vec<T>> {
        let mut made = Made::by(read);
        self.rows_into(statement, &mut made).await?;
        Ok(made.items)
    }

    /// Runs `statement` as [`rows`](Self::rows) does, and passes each row to `sink`.
    pub(super) async fn rows_into(&self, statement: Statement, sink: &mut dyn Sink) -> Result<()> {
        let Some(file) = self.file() else {
            return take_all(&self.query_all_raw(statement).await?, sink);
        };
        if file.each(&statement, &mut |row| sink.take(row).map(|()| true))? {
            return Ok(());
        }
        sink.cut(0);
        self.scan_into(statement, sink).await
    }

    async fn scan_into(&self, statement: Statement, sink: &mut dyn Sink) -> Result<()> {
        take_all(&self.scanning().query_all_raw(statement).await?, sink)
    }

    /// Runs `query` as [`rows`](Self::rows) runs a statement, and returns what it selects for each row.
    ///
    /// ```
    /// # use entity_core::{Context, Entity, Result};
    /// use entity_core::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
    /// # /// A piece of equipment that somebody has borrowed.
    /// # #[derive(Clone, Debug, serde::Serialize, Entity)]
    /// # #[entity(table = "loan")]
    /// # struct Loan { #[entity(id)] loan_id: String, #[entity(site)] site_id: String, item: String }
    ///
    /// async fn items(cx: &Context, site: &str) -> Result<Vec<(String, String)>> {
    ///     let loans = loan::Entity::find()
    ///         .select_only()
    ///         .columns([loan::Column::LoanId, loan::Column::Item])
    ///         .filter(loan::Column::SiteId.eq(site));
    ///     cx.db()?.select(&loans).await
    /// }
    /// ```
    ///
    /// # Errors
    /// Returns an error if the database can't be read, or if a column holds a value of another type.
    pub fn select<T: FromRow + Send>(
        &self,
        query: &impl QueryTrait,
    ) -> impl Future<Output = Result<Vec<T>>> + Send {
        let statement = query.build(self.get_database_backend());
        self.rows(statement, columns)
    }

    /// Returns what `query` selects for the first row in its order, if there is one. It is run as
    /// [`select`](Self::select) runs it.
    ///
    /// # Errors
    /// Returns an error if the database can't be read, or if a column holds a value of another type.
    pub fn first<T: FromRow + Send>(
        &self,
        query: impl QueryTrait + QuerySelect,
    ) -> impl Future<Output = Result<Option<T>>> + Send {
        let query = QuerySelect::limit(query, 1);
        let statement = query.build(self.get_database_backend());
        async move { Ok(self.rows(statement, columns).await?.pop()) }
    }

    /// Runs a statement that may look at any number of rows, and otherwise does the same as [`rows`](Self::rows).
    ///
    /// # Errors
    /// Returns an error if the database can't be read or `read` fails.
    pub async fn scan<T: Send>(
        &self,
        statement: Statement,
        read: impl FnMut(&mut Row<'_>) -> Result<T> + Send,
    ) -> Result<Vec<T>> {
        let mut made = Made::by(read);
        self.scan_into(statement, &mut made).await?;
        Ok(made.items)
    }
}

fn take_all(rows: &[QueryResult], sink: &mut dyn Sink) -> Result<()> {
    rows.iter().try_for_each(|it| sink.take(&mut Row::of(it)))
}

impl Session {
    pub(super) fn query_pools(&self) -> Option<&QueryPools> {
        match self {
            Self::Reader(reader) => Some(&reader.query_pools),
            Self::Writer(_) => None,
        }
    }

    /// Returns the file that may be read without a connection, if there is one.
    pub(super) fn file(&self) -> Option<&File> {
        match self {
            Self::Reader(reader) => reader.file.as_ref(),
            Self::Writer(_) => None,
        }
    }

    /// Returns whether a read failed because its connection to a server is lost. If so, records the loss, so that
    /// connections opened before it are closed.
    pub(super) fn has_lost(&self, error: &DbErr) -> bool {
        match self {
            Self::Reader(reader) if failure::is_lost_in(error) => {
                reader.faults.see_in(error);
                true
            }
            _ => false,
        }
    }
}

#[async_trait]
impl Unit for Session {
    async fn commit(self: Box<Self>) -> Result<()> {
        match *self {
            Self::Reader(..) => Ok(()),
            Self::Writer(transaction) => transaction.commit().await,
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Context {
    /// Returns the database session of this unit of work: a pool for reads, the transaction for writes.
    ///
    /// # Errors
    /// Returns an error if the service keeps its data elsewhere.
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
            Self::Reader(it) => it.connection.get_database_backend(),
            Self::Writer(it) => it.get_database_backend(),
        }
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        match self {
            Self::Reader(reader) => {
                again(reader, statement, sea_orm::ConnectionTrait::execute_raw).await
            }
            Self::Writer(it) => it.execute_raw(statement).await,
        }
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        match self {
            Self::Reader(it) => it.connection.execute_unprepared(sql).await,
            Self::Writer(it) => it.execute_unprepared(sql).await,
        }
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        if let Some(pool) = self.query_pools().and_then(|it| it.reads.as_ref()) {
            return Ok(pool.query_all(statement).await?.into_iter().next());
        }
        match self {
            Self::Reader(reader) => {
                again(reader, statement, |it, statement| {
                    it.query_one_raw(statement)
                })
                .await
            }
            Self::Writer(it) => it.query_one_raw(statement).await,
        }
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        if let Some(pool) = self.query_pools().and_then(|it| it.reads.as_ref()) {
            return pool.query_all(statement).await;
        }
        match self {
            Self::Reader(reader) => {
                again(reader, statement, |it, statement| {
                    it.query_all_raw(statement)
                })
                .await
            }
            Self::Writer(it) => it.query_all_raw(statement).await,
        }
    }
}

/// Runs `statement` with `read`. When the connection to the server is lost meanwhile, runs it once more on another one:
/// connections that were opened before the loss are closed by then.
async fn again<'a, T, F>(
    reader: &'a Reader,
    statement: Statement,
    read: impl Fn(&'a DatabaseConnection, Statement) -> F,
) -> Result<T, DbErr>
where
    F: Future<Output = Result<T, DbErr>>,
{
    let connection = &reader.connection;
    if connection.get_database_backend() != DbBackend::Postgres {
        return read(connection, statement).await;
    }
    let done = read(connection, statement.clone()).await;
    match done {
        Err(error) if failure::is_lost_in(&error) => {
            reader.faults.see_in(&error);
            read(connection, statement).await
        }
        done => done,
    }
}

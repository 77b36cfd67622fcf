//! A transaction on a connection of its own.
//!
//! The driver counts how deeply transactions are nested, and is wrong after errors at which SQLite rolls back by
//! itself: the next transaction would be a savepoint in a transaction that nobody commits. So a transaction here begins
//! on a connection that is in none, which the statement that begins it proves; it succeeds only if its final COMMIT
//! does; and a connection whose state is in doubt is closed before it serves again.

use std::time::Duration;

use async_trait::async_trait;
use futures::lock::Mutex;
use sea_orm::sqlx::pool::PoolConnection;
use sea_orm::sqlx::{self, AssertSqlSafe, Error as DriverError, Pool, Postgres, Sqlite};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DbBackend, DbErr, ExecResult, QueryResult, RuntimeErr,
    Statement,
};
use sqlx_core::rt::timeout;
use sqlx_core::sql_str::SqlSafeStr as _;
use sqlx_core::transaction::TransactionManager;

use super::driver::Driver;
use super::failure;
use super::faults::Faults;
use super::query_pool::RowVisitor;
use super::stop::{Stop, Stops};
use super::transaction_cache::TransactionCache;
use crate::primitives::error::{Error, Result};

/// The maximum time of a COMMIT. After that, the outcome is reported as unknown.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(10);

/// A transaction that has the right to write from its first statement on. Dropping it rolls back what it wrote.
#[derive(Debug)]
pub struct Transaction {
    kind: Kind,
    pub(super) cache: TransactionCache,
}

#[derive(Debug)]
enum Kind {
    Sqlite(Mutex<Open<Sqlite>>),
    Postgres(Mutex<Open<Postgres>>),
}

/// A connection, and the known state of the transaction on it.
#[derive(Debug)]
pub(super) struct Open<D: Driver> {
    pub(super) connection: PoolConnection<D>,
    pub(super) state: State,
    pub(super) faults: Faults,
    stop: Option<Box<dyn Stop>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The transaction is open, and each of its statements succeeded.
    Open,
    /// The transaction is open, and one of its statements is running or was dropped in the middle.
    Running,
    /// The transaction is open, and one of its statements failed: it can only be rolled back.
    Failed,
    /// There is no transaction: the connection may serve others.
    Ended,
    /// The state of the transaction is unknown.
    Doubtful,
}

impl Transaction {
    /// Begins a transaction on a connection of `writer`, and records the faults of that connection in `faults`.
    ///
    /// # Errors
    /// Returns an error if the database can't be reached or nothing may be written to it.
    pub async fn begin(writer: &DatabaseConnection, faults: &Faults) -> Result<Self> {
        Self::begin_with(writer, faults, None).await
    }

    /// Begins a transaction as [`begin`](Self::begin) does, with a handle of `stops` that stops a statement which is
    /// dropped in the middle. Without `stops`, such a statement continues in the database until it is done.
    ///
    /// # Errors
    /// Fails as [`begin`](Self::begin) does.
    pub async fn begin_with(
        writer: &DatabaseConnection,
        faults: &Faults,
        stops: Option<&dyn Stops>,
    ) -> Result<Self> {
        faults.check()?;
        let kind = if writer.get_database_backend() == DbBackend::Postgres {
            let pool = writer.get_postgres_connection_pool();
            Kind::Postgres(Mutex::new(Open::begin(pool, faults, stops).await?))
        } else {
            let pool = writer.get_sqlite_connection_pool();
            Kind::Sqlite(Mutex::new(Open::begin(pool, faults, stops).await?))
        };
        Ok(Self {
            kind,
            cache: TransactionCache::default(),
        })
    }

    /// Makes the writes durable and visible. When this succeeds, the transaction is over.
    ///
    /// # Errors
    /// Returns an error if nothing was written or, if the [code](Error::code) of the error says so, if it is unknown
    /// whether anything was written.
    pub async fn commit(self) -> Result<()> {
        match self.kind {
            Kind::Sqlite(it) => it.into_inner().commit().await,
            Kind::Postgres(it) => it.into_inner().commit().await,
        }
    }

    /// Runs `statement` and passes its rows to `take` one by one, until `take` wants no more.
    pub(super) async fn each(
        &self,
        statement: &Statement,
        take: &mut RowVisitor<'_>,
    ) -> Result<(), DbErr> {
        self.cache.see(&statement.sql);
        match &self.kind {
            Kind::Sqlite(it) => it.lock().await.each(statement, take).await,
            Kind::Postgres(it) => it.lock().await.each(statement, take).await,
        }
    }
}

impl<D: Driver> Open<D> {
    async fn begin(
        pool: &Pool<D>,
        faults: &Faults,
        stops: Option<&dyn Stops>,
    ) -> Result<Self, DbErr> {
        let mut may_try_again = true;
        loop {
            let connection = pool.acquire().await.map_err(|error| {
                faults.see(&error);
                connection_error(error)
            })?;
            let mut open = Self {
                connection,
                state: State::Doubtful,
                faults: faults.clone(),
                stop: stops.map(Stops::begin),
            };
            let name = open.stop.as_ref().and_then(|it| it.name());
            let statement = Some(AssertSqlSafe(D::begin(name)).into_sql_str());
            match D::TransactionManager::begin(&mut open.connection, statement).await {
                Ok(()) => {
                    open.state = State::Open;
                    return Ok(open);
                }
                // Nothing was done yet: a connection that was lost or left in a transaction is closed, and
                // another one may do.
                Err(error) if may_try_again && is_fault_of_connection(&error) => {
                    faults.see(&error);
                    may_try_again = false;
                }
                Err(error) => {
                    faults.see(&error);
                    if failure::is_busy(&error) {
                        open.state = State::Ended;
                    }
                    return Err(query_error(error));
                }
            }
        }
    }

    async fn commit(mut self) -> Result<()> {
        if self.state != State::Open || self.depth() != 1 {
            return Err(Error::internal("a transaction is committed after an error"));
        }
        self.state = State::Doubtful;
        let commit = D::TransactionManager::commit(&mut self.connection);
        match timeout(COMMIT_TIMEOUT, commit).await {
            Ok(Ok(())) if self.depth() == 0 => {
                self.state = State::Ended;
                self.faults.see_success();
                Ok(())
            }
            Ok(Ok(())) => Err(Error::outcome_unknown()),
            Ok(Err(error)) => {
                self.faults.see(&error);
                match D::refuses_commit(&error) {
                    true => Err(query_error(error).into()),
                    false => Err(Error::outcome_unknown().with_source(error)),
                }
            }
            Err(elapsed) => Err(Error::outcome_unknown().with_source(elapsed)),
        }
    }

    fn depth(&self) -> usize {
        D::TransactionManager::get_transaction_depth(&self.connection)
    }

    async fn execute(&mut self, statement: &Statement) -> Result<ExecResult, DbErr> {
        self.start()?;
        let done = D::execute(&mut self.connection, statement).await;
        self.see(done).map_err(execution_error)
    }

    async fn execute_unprepared(&mut self, sql: &str) -> Result<ExecResult, DbErr> {
        self.start()?;
        let done = D::execute_unprepared(&mut self.connection, sql).await;
        self.see(done).map_err(execution_error)
    }

    async fn query_one(&mut self, statement: &Statement) -> Result<Option<QueryResult>, DbErr> {
        self.start()?;
        let found = D::query_one(&mut self.connection, statement).await;
        self.see(found).map_err(query_error)
    }

    async fn query_all(&mut self, statement: &Statement) -> Result<Vec<QueryResult>, DbErr> {
        self.start()?;
        let found = D::query_all(&mut self.connection, statement).await;
        self.see(found).map_err(query_error)
    }

    async fn each(
        &mut self,
        statement: &Statement,
        take: &mut RowVisitor<'_>,
    ) -> Result<(), DbErr> {
        self.start()?;
        let done = D::each(&mut self.connection, statement, take).await;
        self.see(done).map_err(query_error)
    }

    /// Marks the transaction as running a statement, and refuses the statement after an error: SQLite might run it
    /// outside of the transaction. It is also refused after a statement that was dropped in the middle.
    fn start(&mut self) -> Result<(), DbErr> {
        if self.state == State::Open {
            self.state = State::Running;
            if let Some(stop) = &self.stop {
                stop.see();
            }
            return Ok(());
        }
        Err(DbErr::Custom(
            "a transaction goes on after one of its statements failed".to_owned(),
        ))
    }

    fn see<T>(&mut self, done: Result<T, DriverError>) -> Result<T, DriverError> {
        self.state = match &done {
            Ok(_) => State::Open,
            Err(error) => {
                self.faults.see(error);
                match D::spares(error) {
                    true => State::Failed,
                    false => State::Doubtful,
                }
            }
        };
        done
    }
}

impl<D: Driver> Drop for Open<D> {
    fn drop(&mut self) {
        match self.state {
            State::Ended => {}
            // Comes before anything else that the connection does. Whether it succeeded is seen when somebody asks
            // the pool for the connection.
            State::Open | State::Failed => {
                D::TransactionManager::start_rollback(&mut self.connection);
            }
            State::Running => {
                if let Some(stop) = &self.stop {
                    stop.stop();
                }
                self.connection.close_on_drop();
            }
            State::Doubtful => self.connection.close_on_drop(),
        }
    }
}

/// Returns whether a connection of a pool of [`Transaction`]s is in no transaction, as it must be before it serves.
pub fn is_at_rest<D: sqlx::Database>(connection: &D::Connection) -> bool {
    D::TransactionManager::get_transaction_depth(connection) == 0
}

fn is_fault_of_connection(error: &DriverError) -> bool {
    let is_within = matches!(
        error,
        DriverError::InvalidSavePointStatement | DriverError::BeginFailed
    );
    is_within || failure::is_lost(error) || failure::spares_sqlite(error)
}

fn connection_error(error: DriverError) -> DbErr {
    DbErr::Conn(RuntimeErr::SqlxError(error.into()))
}

pub(super) fn query_error(error: DriverError) -> DbErr {
    DbErr::Query(RuntimeErr::SqlxError(error.into()))
}

fn execution_error(error: DriverError) -> DbErr {
    DbErr::Exec(RuntimeErr::SqlxError(error.into()))
}

#[async_trait]
impl ConnectionTrait for Transaction {
    fn get_database_backend(&self) -> DbBackend {
        match &self.kind {
            Kind::Sqlite(_) => DbBackend::Sqlite,
            Kind::Postgres(_) => DbBackend::Postgres,
        }
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        self.cache.see(&statement.sql);
        match &self.kind {
            Kind::Sqlite(it) => it.lock().await.execute(&statement).await,
            Kind::Postgres(it) => it.lock().await.execute(&statement).await,
        }
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        self.cache.see(sql);
        match &self.kind {
            Kind::Sqlite(it) => it.lock().await.execute_unprepared(sql).await,
            Kind::Postgres(it) => it.lock().await.execute_unprepared(sql).await,
        }
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        self.cache.see(&statement.sql);
        match &self.kind {
            Kind::Sqlite(it) => it.lock().await.query_one(&statement).await,
            Kind::Postgres(it) => it.lock().await.query_one(&statement).await,
        }
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        self.cache.see(&statement.sql);
        match &self.kind {
            Kind::Sqlite(it) => it.lock().await.query_all(&statement).await,
            Kind::Postgres(it) => it.lock().await.query_all(&statement).await,
        }
    }
}

//! The connections of a query pool: each in a pool of its own, with the means to stop its statement.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use entity_core::db::{QueryPool, QueryPoolCounts, RowVisitor, overrun, refusal};
use futures::TryStreamExt as _;
use parking_lot::Mutex;
use sea_orm::sqlx::pool::PoolOptions;
use sea_orm::sqlx::postgres::{PgConnectOptions, PgConnection};
use sea_orm::sqlx::sqlite::SqliteConnectOptions;
use sea_orm::sqlx::{self, Connection as _, Postgres, Sqlite};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DbErr, QueryResult, RuntimeErr, SqlxPostgresConnector,
    SqlxSqliteConnector, Statement, StreamTrait as _,
};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout};

use super::stop::{Timer, cancel, timed};

/// The number that may wait for each connection: more than it serves in the time that they wait.
const WAITING: usize = 1024;
/// The time after its limit at which a statement that does not stop is given up.
const GRACE: Duration = Duration::from_millis(500);
/// `query_canceled` of PostgreSQL.
const CANCELED: &str = "57014";
/// The number of tries of a connection whose statement was given up before it serves again.
const TRIES: usize = 5;

/// A query pool: a fixed number of connections, opened when they are first used.
#[derive(Debug)]
pub(super) struct BoundedPool {
    connections: Mutex<VecDeque<PooledConnection>>,
    free: Arc<Semaphore>,
    waiting: Semaphore,
    /// The time that a statement may take.
    limit: Duration,
    /// The time for which a statement waits for a connection.
    wait: Duration,
    stopped: AtomicU64,
    abandoned: AtomicU64,
    refused: AtomicU64,
}

/// A connection, and what stops its statement.
#[derive(Debug)]
pub(super) struct PooledConnection {
    connection: DatabaseConnection,
    stopper: Stopper,
}

#[derive(Debug)]
enum Stopper {
    /// SQLite asks between its steps whether the statement may go on.
    Sqlite(Arc<Timer>),
    /// PostgreSQL measures the time itself, and is told over another connection that nobody waits any more.
    Postgres {
        process: Arc<AtomicI32>,
        control: DatabaseConnection,
    },
}

impl PooledConnection {
    /// A connection to a SQLite file.
    pub(super) fn sqlite(pool: PoolOptions<Sqlite>, options: SqliteConnectOptions) -> Self {
        let timer = Arc::new(Timer::default());
        let stopper = Stopper::Sqlite(Arc::clone(&timer));
        let pool = timed(pool, move || Arc::clone(&timer));
        let pool = pool.min_connections(0).connect_lazy_with(options);
        Self {
            connection: SqlxSqliteConnector::from_sqlx_sqlite_pool(pool),
            stopper,
        }
    }

    /// A connection to a PostgreSQL server, whose statements `control` stops.
    pub(super) fn postgres(
        pool: PoolOptions<Postgres>,
        options: PgConnectOptions,
        control: DatabaseConnection,
    ) -> Self {
        let process = Arc::new(AtomicI32::new(0));
        let own = Arc::clone(&process);
        let pool = pool.after_connect(move |connection, _| {
            let own = Arc::clone(&own);
            Box::pin(async move {
                let process: i32 = sqlx::query_scalar("SELECT pg_backend_pid()")
                    .fetch_one(connection)
                    .await?;
                own.store(process, Ordering::SeqCst);
                Ok(())
            })
        });
        let pool = pool.after_release(|connection, _| Box::pin(settle(connection)));
        let pool = pool.min_connections(0).connect_lazy_with(options);
        Self {
            connection: SqlxPostgresConnector::from_sqlx_postgres_pool(pool),
            stopper: Stopper::Postgres { process, control },
        }
    }

    /// Gives the next statement until `end`.
    fn start(&self, end: Instant) {
        if let Stopper::Sqlite(timer) = &self.stopper {
            timer.set(Some(end));
        }
    }

    fn end(&self) {
        if let Stopper::Sqlite(timer) = &self.stopper {
            timer.set(None);
        }
    }

    /// Stops the statement, and waits until the connection can serve again.
    async fn clear(&self) {
        match &self.stopper {
            Stopper::Sqlite(timer) => timer.set(Some(Instant::now())),
            Stopper::Postgres { process, control } => {
                let process = process.load(Ordering::SeqCst);
                if process != 0 {
                    cancel(control, "it.pid = $1", process.into()).await;
                }
            }
        }
        for _ in 0..TRIES {
            if self.connection.ping().await.is_ok() {
                break;
            }
        }
        self.end();
    }
}

/// Returns whether `connection` can serve again. The answer of a statement that was stopped ends with an error, at
/// which the pool would close its connection: a new one costs more than most statements.
async fn settle(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    for _ in 0..TRIES {
        match connection.ping().await {
            Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some(CANCELED) => {}
            Err(error) => return Err(error),
            Ok(()) => return Ok(true),
        }
    }
    Ok(false)
}

impl BoundedPool {
    /// A query pool of these connections, whose statements may take `limit`.
    pub(super) fn new(
        connections: impl IntoIterator<Item = PooledConnection>,
        limit: Duration,
        wait: Duration,
    ) -> Arc<Self> {
        let connections: VecDeque<PooledConnection> = connections.into_iter().collect();
        let size = connections.len();
        Arc::new(Self {
            connections: Mutex::new(connections),
            free: Arc::new(Semaphore::new(size)),
            waiting: Semaphore::new(size.saturating_mul(WAITING)),
            limit,
            wait,
            stopped: AtomicU64::default(),
            abandoned: AtomicU64::default(),
            refused: AtomicU64::default(),
        })
    }

    /// A connection of the pool, when one is free.
    async fn take(&self) -> Option<(PooledConnection, OwnedSemaphorePermit)> {
        let permit = match Arc::clone(&self.free).try_acquire_owned() {
            Ok(permit) => permit,
            Err(_taken) => {
                let _turn = self.waiting.try_acquire().ok()?;
                let wanted = Arc::clone(&self.free).acquire_owned();
                timeout(self.wait, wanted).await.ok()?.ok()?
            }
        };
        Some((self.connections.lock().pop_front()?, permit))
    }

    /// A connection that has served comes first again: its statements are prepared, and its rows are in the caches. One
    /// whose statement was stopped or failed comes last.
    fn give_back(
        &self,
        connection: PooledConnection,
        permit: OwnedSemaphorePermit,
        has_served: bool,
    ) {
        let mut connections = self.connections.lock();
        match has_served {
            true => connections.push_front(connection),
            false => connections.push_back(connection),
        }
        drop(connections);
        drop(permit);
    }
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// The pool as a session uses it.
#[derive(Clone, Debug)]
pub(super) struct Shared(pub(super) Arc<BoundedPool>);

impl Shared {
    /// A connection of the pool, whose next statement has the time that statements of the pool have.
    async fn start(&self) -> Result<Running, DbErr> {
        let pool = &self.0;
        let Some(taken) = pool.take().await else {
            count(&pool.refused);
            return Err(refusal());
        };
        taken.0.start(Instant::now() + pool.limit);
        Ok(Running {
            pool: Arc::clone(pool),
            taken: Some(taken),
        })
    }
}

#[async_trait]
impl QueryPool for Shared {
    async fn query_all(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        let running = self.start().await?;
        let asked = running.connection()?.query_all_raw(statement);
        let done = timeout(self.0.limit + GRACE, asked).await;
        running.end(done)
    }

    async fn each(&self, statement: Statement, take: &mut RowVisitor<'_>) -> Result<(), DbErr> {
        let mut running = self.start().await?;
        let connection = running.connection()?;
        let read = async {
            let mut rows = connection.stream_raw(statement).await?;
            while let Some(row) = rows.try_next().await? {
                if !take(row) {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        let done = timeout(self.0.limit + GRACE, read).await;
        if let Ok(Ok(false)) = done {
            running.end_early().await;
            return Ok(());
        }
        running.end(done).map(|_is_whole| ())
    }

    fn counts(&self) -> QueryPoolCounts {
        let read = |it: &AtomicU64| it.load(Ordering::Relaxed);
        QueryPoolCounts {
            stopped: read(&self.0.stopped),
            abandoned: read(&self.0.abandoned),
            refused: read(&self.0.refused),
        }
    }
}

/// Returns whether the statement was stopped: `SQLITE_INTERRUPT`, or `query_canceled` of PostgreSQL.
fn is_stopped(error: &DbErr) -> bool {
    let (DbErr::Query(RuntimeErr::SqlxError(error)) | DbErr::Exec(RuntimeErr::SqlxError(error))) =
        error
    else {
        return false;
    };
    let code = error.as_database_error();
    let code = code.and_then(sqlx::error::DatabaseError::code);
    matches!(code.as_deref(), Some("9" | CANCELED))
}

/// A statement on its way. When nobody waits for it any more, it is stopped, and its connection is given back when
/// it can serve again.
struct Running {
    pool: Arc<BoundedPool>,
    taken: Option<(PooledConnection, OwnedSemaphorePermit)>,
}

impl Running {
    fn connection(&self) -> Result<&DatabaseConnection, DbErr> {
        let taken = self.taken.as_ref();
        taken.map(|it| &it.0.connection).ok_or_else(refusal)
    }

    /// Returns the result of the statement. One that did not end in time is stopped.
    fn end<T>(mut self, done: Result<Result<T, DbErr>, Elapsed>) -> Result<T, DbErr> {
        let Ok(done) = done else {
            count(&self.pool.stopped);
            self.stop(false);
            return Err(overrun());
        };
        if done.as_ref().is_err_and(is_stopped) {
            count(&self.pool.stopped);
        }
        if let Some((connection, _)) = &self.taken {
            connection.end();
        }
        self.give_back(done.is_ok());
        done
    }

    fn give_back(&mut self, has_served: bool) {
        if let Some((connection, permit)) = self.taken.take() {
            self.pool.give_back(connection, permit, has_served);
        }
    }

    /// Ends a statement whose caller has enough rows.
    async fn end_early(&mut self) {
        match &self.taken {
            // It stops at once, so that the next statement of the request finds this connection again. Another one would
            // have to be opened, and to prepare what this one has prepared.
            Some((connection, _)) if matches!(connection.stopper, Stopper::Sqlite(_)) => {
                connection.clear().await;
                self.give_back(true);
            }
            _ => self.stop(true),
        }
    }

    /// Stops the statement, and gives its connection back when it can serve again.
    fn stop(&mut self, has_served: bool) {
        let Some((connection, permit)) = self.taken.take() else {
            return;
        };
        let pool = Arc::clone(&self.pool);
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(async move {
                connection.clear().await;
                pool.give_back(connection, permit, has_served);
            })),
            // The process ends.
            Err(_no_runtime) => pool.give_back(connection, permit, false),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.taken.is_some() {
            count(&self.pool.abandoned);
            self.stop(false);
        }
    }
}

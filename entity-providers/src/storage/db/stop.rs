//! The means to stop a statement in the middle: SQLite asks between its steps, PostgreSQL is told over another
//! connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use entity_core::db::{Stop, Stops};
use parking_lot::Mutex;
use sea_orm::sqlx::Sqlite;
use sea_orm::sqlx::pool::PoolOptions;
use sea_orm::{ConnectionTrait as _, DatabaseConnection, DbBackend, Statement, Value};
use tokio::runtime::Handle;
use tokio::time::Instant;
use uuid::Uuid;

/// Steps of SQLite's machine between two looks at the time: some microseconds.
const STEPS: i32 = 2_000;

/// Until when the statement of a SQLite connection may run: for ever, unless there is an end.
#[derive(Debug, Default)]
pub(super) struct Timer(Mutex<Option<Instant>>);

impl Timer {
    pub(super) fn set(&self, end: Option<Instant>) {
        *self.0.lock() = end;
    }

    fn may_go_on(&self) -> bool {
        let end = *self.0.lock();
        end.is_none_or(|it| Instant::now() < it)
    }
}

/// `pool`, whose connections ask between their steps the timer that `timer` gives each of them.
pub(super) fn timed(
    pool: PoolOptions<Sqlite>,
    timer: impl Fn() -> Arc<Timer> + Send + Sync + 'static,
) -> PoolOptions<Sqlite> {
    pool.after_connect(move |connection, _| {
        let timer = timer();
        Box::pin(async move {
            let mut handle = connection.lock_handle().await?;
            handle.set_progress_handler(STEPS, move || timer.may_go_on());
            Ok(())
        })
    })
}

/// Has PostgreSQL stop what its processes work on that `condition`, of a process `it`, tells from all others. A server
/// that can't be told ends a statement at its own limit.
pub(super) async fn cancel(control: &DatabaseConnection, condition: &str, value: Value) {
    let sql =
        format!("SELECT pg_cancel_backend(it.pid) FROM pg_stat_activity AS it WHERE {condition}");
    let cancel = Statement::from_sql_and_values(DbBackend::Postgres, sql, [value]);
    if let Err(error) = control.query_all_raw(cancel).await {
        tracing::debug!(error = %error, "can't stop a statement that nobody waits for");
    }
}

/// Stops the writer of a SQLite file: there is one connection at a time.
#[derive(Debug, Default)]
pub(super) struct FileStops(Mutex<Arc<Timer>>);

impl FileStops {
    /// The writer's pool, which this stops. Each connection has a timer of its own: one that was stopped is closed.
    pub(super) fn of(pool: PoolOptions<Sqlite>) -> (PoolOptions<Sqlite>, Arc<Self>) {
        let stops = Arc::new(Self::default());
        let own = Arc::clone(&stops);
        let pool = timed(pool, move || {
            let timer = Arc::<Timer>::default();
            *own.0.lock() = Arc::clone(&timer);
            timer
        });
        (pool, stops)
    }
}

impl Stops for FileStops {
    fn begin(&self) -> Box<dyn Stop> {
        let timer = self.0.lock();
        Box::new(FileStop(Arc::clone(&timer)))
    }
}

#[derive(Debug)]
struct FileStop(Arc<Timer>);

impl Stop for FileStop {
    fn name(&self) -> Option<&str> {
        None
    }

    fn stop(&self) {
        self.0.set(Some(Instant::now()));
    }
}

/// Stops what writes to a PostgreSQL server. Each transaction gives its connection a name, by which it is found.
#[derive(Debug)]
pub(super) struct ServerStops {
    prefix: String,
    count: AtomicU64,
    control: DatabaseConnection,
}

impl ServerStops {
    /// Returns the means to stop statements by the connection `control`.
    pub(super) fn new(application: &str, control: DatabaseConnection) -> Self {
        // Other nodes write to the same server.
        let (_, node) = Uuid::now_v7().as_u64_pair();
        Self {
            prefix: format!("{application} {node:016x}"),
            count: AtomicU64::default(),
            control,
        }
    }
}

impl Stops for ServerStops {
    fn begin(&self) -> Box<dyn Stop> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        Box::new(ServerStop {
            name: format!("{} {number}", self.prefix),
            control: self.control.clone(),
        })
    }
}

#[derive(Debug)]
struct ServerStop {
    name: String,
    control: DatabaseConnection,
}

impl Stop for ServerStop {
    fn name(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn stop(&self) {
        let (name, control) = (self.name.clone(), self.control.clone());
        // Without a runtime the process ends.
        if let Ok(runtime) = Handle::try_current() {
            drop(runtime.spawn(async move {
                cancel(&control, "it.application_name = $1", name.into()).await;
            }));
        }
    }
}

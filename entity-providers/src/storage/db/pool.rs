//! Connection pools: their sizes, and the time that a statement may read.

use std::sync::Arc;
use std::time::Duration;

use entity_core::db::{Faults, QueryPool, QueryPools};
use sea_orm::sqlx::postgres::PgConnectOptions;
use sea_orm::sqlx::sqlite::SqliteConnectOptions;
use sea_orm::sqlx::{Postgres, Sqlite};
use sea_orm::{SqlxPostgresConnector, SqlxSqliteConnector};

use super::connect::{pool, quiet};
use super::query_pool::{BoundedPool, PooledConnection, Shared};

/// The number of rows a scan of a SQLite file reads ahead of whoever takes them: they are in memory, whatever is taken.
const AHEAD: usize = 8;

/// The number of connections a service has, and how long its statements may read.
#[derive(Clone, Copy, Debug)]
pub struct Pools {
    /// The number of connections that find rows by an index.
    pub readers: u32,
    /// The number of connections that are for statements that may look at any number of rows.
    pub scans: u32,
    /// The number of connections that write, on PostgreSQL; SQLite has one.
    pub writers: u32,
    /// The time that a statement that reads may take before it is stopped.
    pub statement_time: Duration,
    /// The time for which a request waits for a free connection, and SQLite for the lock of its file.
    pub wait: Duration,
}

impl Default for Pools {
    fn default() -> Self {
        Self {
            readers: 8,
            scans: 4,
            writers: 16,
            statement_time: Duration::from_secs(2),
            wait: Duration::from_secs(1),
        }
    }
}

impl Pools {
    /// The query pools of a SQLite file that `options` open for reading.
    pub(super) fn sqlite_query_pools(
        &self,
        options: &SqliteConnectOptions,
        faults: &Faults,
    ) -> QueryPools {
        let query_pool = |size: u32, options: SqliteConnectOptions| {
            let connection =
                |_| PooledConnection::sqlite(pool::<Sqlite>(1, self.wait, faults), options.clone());
            self.query_pool((0..size).map(connection))
        };
        let probe = pool::<Sqlite>(1, self.wait, faults).min_connections(0);
        QueryPools {
            reads: Some(query_pool(self.readers, options.clone())),
            scans: Some(query_pool(
                self.scans,
                options.clone().row_buffer_size(AHEAD),
            )),
            probe: Some(SqlxSqliteConnector::from_sqlx_sqlite_pool(
                probe.connect_lazy_with(options.clone()),
            )),
        }
    }

    fn query_pool(
        &self,
        connections: impl IntoIterator<Item = PooledConnection>,
    ) -> Arc<dyn QueryPool> {
        Arc::new(Shared(BoundedPool::new(
            connections,
            self.statement_time,
            self.wait,
        )))
    }

    /// The query pools of a PostgreSQL server that `options` open for reading. Other readers measure the time
    /// themselves.
    pub(super) fn postgres_query_pools(
        &self,
        options: &PgConnectOptions,
        faults: &Faults,
    ) -> QueryPools {
        let options = quiet(options.clone(), self.statement_time, self.wait);
        let probe = pool::<Postgres>(2, self.wait, faults).min_connections(0);
        let probe = SqlxPostgresConnector::from_sqlx_postgres_pool(
            probe.connect_lazy_with(options.clone()),
        );
        // On a busy machine a new connection takes as long as a statement may.
        let wait = self.wait.max(self.statement_time);
        let pool_of_one = || pool::<Postgres>(1, wait, faults);
        let connection =
            |_| PooledConnection::postgres(pool_of_one(), options.clone(), probe.clone());
        QueryPools {
            reads: None,
            scans: Some(self.query_pool((0..self.scans).map(connection))),
            probe: Some(probe),
        }
    }
}

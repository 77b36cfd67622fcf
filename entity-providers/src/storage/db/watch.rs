//! Reports the connections that a migration waits for.

use std::time::Duration;

use entity_core::db::Db;
use entity_core::{Error, ErrorKind, Result};
use parking_lot::Mutex;
use sea_orm::{ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, Statement};
use tokio::time::sleep;

/// The interval between two looks.
const PAUSE: Duration = Duration::from_millis(250);

/// The processes of the database server that block the process with the given number, as one text.
const BLOCKERS: &str = "SELECT string_agg(format(
        'process %s of `%s`, which is %s since %s', pid, application_name, coalesce(state, 'connected'),
        coalesce(to_char(state_change, 'HH24:MI:SS'), 'its start')
    ), '; ') AS blockers
    FROM pg_stat_activity WHERE pid = ANY(pg_blocking_pids($1))";

/// Watches a transaction of a PostgreSQL server. One of SQLite waits for nobody once it has begun.
#[derive(Debug, Default)]
pub(super) struct Watch(Option<Watched>);

#[derive(Debug)]
struct Watched {
    /// Asks the server, because the one that waits can't.
    connection: DatabaseConnection,
    process: i32,
    /// The blockers at the last look.
    blockers: Mutex<Option<String>>,
}

impl Watch {
    /// Watches `transaction`.
    pub(super) async fn of(db: &Db, transaction: &DatabaseTransaction) -> Result<Self> {
        let question =
            Statement::from_string(DbBackend::Postgres, "SELECT pg_backend_pid() AS pid");
        let row = transaction.query_one_raw(question).await?;
        let row = row.ok_or_else(|| Error::internal("the server does not tell its processes"))?;
        Ok(Self(Some(Watched {
            connection: db.reader.clone(),
            process: row.try_get("", "pid")?,
            blockers: Mutex::default(),
        })))
    }

    /// Returns the result of `work` in the transaction.
    ///
    /// # Errors
    /// Fails as `work` does. If `work` waited for a lock for too long, the error says who holds it.
    pub(super) async fn over<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        let Some(watched) = &self.0 else {
            return work.await;
        };
        let done = tokio::select! {
            done = work => done,
            never = watched.look() => match never {},
        };
        done.map_err(|error| watched.explain(error))
    }
}

impl Watched {
    async fn look(&self) -> std::convert::Infallible {
        loop {
            sleep(PAUSE).await;
            let question = Statement::from_sql_and_values(
                DbBackend::Postgres,
                BLOCKERS,
                [self.process.into()],
            );
            let found = self.connection.query_one_raw(question).await;
            let found = found.ok().flatten();
            let blockers: Option<String> =
                found.and_then(|row| row.try_get("", "blockers").ok().flatten());
            let mut known = self.blockers.lock();
            if let Some(blockers) = blockers
                && known.as_ref() != Some(&blockers)
            {
                tracing::warn!("bringing the database up to date waits for {blockers}");
                *known = Some(blockers);
            }
        }
    }

    fn explain(&self, error: Error) -> Error {
        let known = self.blockers.lock();
        match &*known {
            Some(blockers) if error.kind() == ErrorKind::Unavailable => Error::new(
                ErrorKind::Internal,
                format!(
                    "the database can't be brought up to date because its tables are in use by {blockers}: end it, or try again later"
                ),
            )
            .with_source(error),
            _ => error,
        }
    }
}

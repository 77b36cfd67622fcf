//! The operations that transactions need from the two database drivers.

use std::borrow::Cow;
use std::future::Future;

use futures::TryStreamExt as _;
use sea_orm::sqlx::query::Query;
use sea_orm::sqlx::{
    AssertSqlSafe, Database, Error as DriverError, Executor as _, IntoArguments, Postgres, Sqlite,
    query_with,
};
use sea_orm::{ExecResult, QueryResult, Statement, Values};
use sea_query_sqlx::SqlxValues;

use super::failure;
use super::query_pool::RowVisitor;

type Done<T> = Result<T, DriverError>;

/// A driver that [`Transaction`](super::Transaction) can work with.
pub(super) trait Driver: Database {
    /// Returns the SQL that begins a transaction which may write. For as long as the transaction is open, the server
    /// knows the connection by `name`, if one is given.
    fn begin(name: Option<&str>) -> Cow<'static, str>;

    /// Returns whether a connection stays usable, in the transaction that it was in, after a statement failed with
    /// `error`.
    fn spares(error: &DriverError) -> bool;

    /// Returns whether a COMMIT that failed with `error` certainly wrote nothing.
    fn refuses_commit(error: &DriverError) -> bool;

    /// Runs `statement`, which returns no rows.
    fn execute(
        connection: &mut Self::Connection,
        statement: &Statement,
    ) -> impl Future<Output = Done<ExecResult>> + Send;

    /// Runs the statements of `sql` without preparing them.
    fn execute_unprepared(
        connection: &mut Self::Connection,
        sql: &str,
    ) -> impl Future<Output = Done<ExecResult>> + Send;

    /// Runs `statement` and returns the first row, if there is one.
    fn query_one(
        connection: &mut Self::Connection,
        statement: &Statement,
    ) -> impl Future<Output = Done<Option<QueryResult>>> + Send;

    /// Runs `statement` and returns all rows.
    fn query_all(
        connection: &mut Self::Connection,
        statement: &Statement,
    ) -> impl Future<Output = Done<Vec<QueryResult>>> + Send;

    /// Runs `statement` and passes its rows to `take` one by one, until `take` wants no more.
    fn each(
        connection: &mut Self::Connection,
        statement: &Statement,
        take: &mut RowVisitor<'_>,
    ) -> impl Future<Output = Done<()>> + Send;
}

fn query<D>(statement: &Statement) -> Query<'_, D, SqlxValues>
where
    D: Database,
    SqlxValues: IntoArguments<D>,
{
    let values = statement.values.clone().unwrap_or(Values(Vec::new()));
    query_with(AssertSqlSafe(statement.sql.as_str()), SqlxValues(values))
}

/// Implements the functions that run statements: they are the same for both drivers except for the types.
macro_rules! run_statements {
    ($driver:ty) => {
        async fn execute(
            connection: &mut Self::Connection,
            statement: &Statement,
        ) -> Done<ExecResult> {
            let done = query::<$driver>(statement).execute(connection).await;
            done.map(ExecResult::from)
        }

        async fn execute_unprepared(
            connection: &mut Self::Connection,
            sql: &str,
        ) -> Done<ExecResult> {
            let done = connection.execute(AssertSqlSafe(sql.to_owned())).await;
            done.map(ExecResult::from)
        }

        async fn query_one(
            connection: &mut Self::Connection,
            statement: &Statement,
        ) -> Done<Option<QueryResult>> {
            let found = query::<$driver>(statement).fetch_optional(connection).await;
            found.map(|row| row.map(QueryResult::from))
        }

        async fn query_all(
            connection: &mut Self::Connection,
            statement: &Statement,
        ) -> Done<Vec<QueryResult>> {
            let found = query::<$driver>(statement).fetch_all(connection).await;
            found.map(|rows| rows.into_iter().map(QueryResult::from).collect())
        }

        async fn each(
            connection: &mut Self::Connection,
            statement: &Statement,
            take: &mut RowVisitor<'_>,
        ) -> Done<()> {
            let mut rows = query::<$driver>(statement).fetch(connection);
            while let Some(row) = rows.try_next().await? {
                if !take(QueryResult::from(row)) {
                    break;
                }
            }
            Ok(())
        }
    };
}

impl Driver for Sqlite {
    fn begin(_name: Option<&str>) -> Cow<'static, str> {
        Cow::Borrowed("BEGIN IMMEDIATE")
    }

    fn spares(error: &DriverError) -> bool {
        failure::spares_sqlite(error)
    }

    fn refuses_commit(error: &DriverError) -> bool {
        failure::sqlite_refuses_commit(error)
    }

    run_statements!(Sqlite);
}

impl Driver for Postgres {
    fn begin(name: Option<&str>) -> Cow<'static, str> {
        const BEGIN: &str = "BEGIN READ WRITE";
        match name {
            // In the same message: no further way to the server and back.
            Some(name) => Cow::Owned(format!(
                "{BEGIN}; SET LOCAL application_name = '{}'",
                name.replace('\'', "''")
            )),
            None => Cow::Borrowed(BEGIN),
        }
    }

    fn spares(error: &DriverError) -> bool {
        failure::spares_postgres(error)
    }

    fn refuses_commit(error: &DriverError) -> bool {
        failure::postgres_refuses_commit(error)
    }

    run_statements!(Postgres);
}

//! Refusing what stands between this service and a PostgreSQL server and hands its processes round: a pooler such as
//! `PgBouncer`.
//!
//! The service keeps connections of its own, each with limits on its statements, with statements that stay prepared,
//! and with a process that another connection can stop. A pooler drops the limits, and in its transaction mode gives
//! each transaction another process: then a reader could write, and a stranger's statement would be stopped.

use std::borrow::Cow;

use entity_core::{Error, ErrorKind, Result};
use sea_orm::sqlx::postgres::{PgConnectOptions, PgConnection};
use sea_orm::sqlx::{self, ConnectOptions as _, Connection as _, Row as _};

/// The messages of `PgBouncer` about settings that it does not know, in whatever version, and about a transaction in
/// the mode that has none.
const REFUSALS: [&str; 2] = [
    "unsupported startup parameter",
    "not allowed in statement pooling mode",
];

/// Why a pooler is refused, and what to do.
const ADVICE: &str = "a pooler such as PgBouncer, in whatever mode, does not keep the settings and the process of a \
    connection, which this service relies on (limits of statements, prepared statements, stopping a statement): let \
    the setting `database` name the PostgreSQL server itself; the service has a pool of its own";

/// The error that a pooler refused a connection, if `error` says so.
pub(super) fn refused_by_pooler(error: &sqlx::Error) -> Option<Error> {
    let text = error.as_database_error()?.message();
    let is_refused = REFUSALS.iter().any(|it| text.contains(it));
    is_refused.then(|| refusal("PgBouncer stands before the database"))
}

/// The settings of a connection are not in force.
pub(super) fn lost_settings() -> Error {
    refusal("the database does not open read-only connections, although it is asked to")
}

/// Connections share processes.
pub(super) fn shared_processes() -> Error {
    refusal("the database gives one process to several connections")
}

fn refusal(what: &str) -> Error {
    let text: Cow<'static, str> = format!("{what}: {ADVICE}").into();
    Error::new(ErrorKind::Internal, text)
}

/// Returns whether connections to the server of `options` share processes.
///
/// One connection is asked for its process again and again, while others keep theirs by transactions: with a pooler it
/// then gets another one, or they get its.
pub(super) async fn is_pooled(options: &PgConnectOptions) -> Result<bool, sqlx::Error> {
    let mut first = options.connect().await?;
    let process = process_of(&mut first).await?;
    let mut others = Vec::new();
    let mut is_pooled = false;
    for _ in 0..2 {
        let mut other = options.connect().await?;
        sqlx::raw_sql("BEGIN").execute(&mut other).await?;
        is_pooled |= process_of(&mut other).await? == process;
        is_pooled |= process_of(&mut first).await? != process;
        others.push(other);
    }
    for mut other in others {
        sqlx::raw_sql("ROLLBACK").execute(&mut other).await?;
        other.close().await?;
    }
    first.close().await?;
    Ok(is_pooled)
}

/// Asked without a prepared statement, which a pooler may mix up with those of others.
async fn process_of(connection: &mut PgConnection) -> Result<i32, sqlx::Error> {
    let question = sqlx::raw_sql("SELECT pg_backend_pid()");
    question.fetch_one(connection).await?.try_get(0)
}

//! Query pools: connections that are reserved for one kind of statement, so that no kind takes the last connection of
//! another one, and each statement is stopped when its time is over or nobody waits for it any more.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use sea_orm::{DatabaseConnection, DbErr, QueryResult, RuntimeErr, Statement};

use crate::primitives::error::Error;

/// A function that receives each row and returns whether another one is wanted.
pub type RowVisitor<'a> = dyn FnMut(QueryResult) -> bool + Send + 'a;

/// Connections that only read, reserved for one kind of statement. Their number is bounded, and so is the number of
/// callers that wait for one.
#[async_trait]
pub trait QueryPool: fmt::Debug + Send + Sync {
    /// Runs `statement` and returns all rows. When its time is over, or this future is dropped, the statement is
    /// stopped in the database.
    ///
    /// # Errors
    /// Returns [`refusal`] if no connection became free. Returns an error if the statement took too long or the
    /// database refuses it.
    async fn query_all(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr>;

    /// Passes the rows of `statement` to `take` one by one, until `take` wants no more: then the statement is stopped.
    /// Otherwise works as [`query_all`](Self::query_all) does.
    ///
    /// # Errors
    /// Fails as [`query_all`](Self::query_all) does; `take` may have seen rows by then.
    async fn each(&self, statement: Statement, take: &mut RowVisitor<'_>) -> Result<(), DbErr>;

    /// Returns how many statements of the pool were stopped or refused so far.
    fn counts(&self) -> QueryPoolCounts;
}

/// The numbers of statements of a query pool that were not completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueryPoolCounts {
    /// The number of statements that were stopped because their time was over.
    pub stopped: u64,
    /// The number of statements that were stopped because nobody waited for them any more.
    pub abandoned: u64,
    /// The number of statements that were not started because no connection became free.
    pub refused: u64,
}

/// The query pools of a database. Statements of a kind without a query pool use the readers.
#[derive(Clone, Debug, Default)]
pub struct QueryPools {
    /// The pool for statements that find their rows by an index. On PostgreSQL the readers themselves limit the time.
    pub reads: Option<Arc<dyn QueryPool>>,
    /// The pool for statements that may look at any number of rows.
    pub scans: Option<Arc<dyn QueryPool>>,
    /// A connection for checking whether the database responds, which no other statement takes.
    pub probe: Option<DatabaseConnection>,
}

const FULL: &str = "no connection of the lane became free";
const UNENDED: &str = "the statement did not end when its time was over";

/// Returns the error of a query pool in which no connection became free.
pub fn refusal() -> DbErr {
    DbErr::Conn(RuntimeErr::Internal(FULL.to_owned()))
}

/// Returns the error of a query pool whose statement ran on when its time was over, and is being stopped.
pub fn overrun() -> DbErr {
    DbErr::Query(RuntimeErr::Internal(UNENDED.to_owned()))
}

/// Returns the error that the client receives when a query pool did not start or did not complete a statement; `None`
/// for all other errors.
pub(super) fn refused(error: &DbErr) -> Option<Error> {
    match error {
        DbErr::Conn(RuntimeErr::Internal(text)) if text == FULL => Some(Error::unavailable(
            "too much is being looked for at the same time: try again",
            1,
        )),
        DbErr::Query(RuntimeErr::Internal(text)) if text == UNENDED => Some(too_long()),
        _ => None,
    }
}

/// Returns the error that the client receives when a statement was stopped because its time was over.
pub(super) fn too_long() -> Error {
    Error::unavailable(
        "the database took too long over this: narrow it, by a site, a filter or fewer words",
        5,
    )
}

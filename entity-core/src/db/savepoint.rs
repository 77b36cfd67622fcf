//! The savepoint of one unit of work among several in a transaction on SQLite. There is always one: the next unit of
//! work begins where the last one ended.
//!
//! The savepoint also proves that the transaction is still the one in which it was set: if SQLite has rolled back by
//! itself, the savepoint is gone, and naming it fails.

use std::time::Duration;

use sea_orm::sqlx::Sqlite;
use sqlx_core::rt::timeout;

use super::driver::Driver as _;
use super::transaction::{Open, State, query_error};
use crate::primitives::error::{Error, Result};

/// The statements that begin a transaction with a savepoint.
pub(super) const BEGIN: &str = "BEGIN IMMEDIATE; SAVEPOINT unit";
const KEEP: &str = "RELEASE unit; SAVEPOINT unit";
const GIVE_UP: &str = "ROLLBACK TO unit";
/// The time for which a statement that was dropped in the middle may go on. Then it is stopped, and the transaction is
/// lost.
const GRACE: Duration = Duration::from_millis(50);

impl Open<Sqlite> {
    /// Makes the writes since the savepoint a part of the transaction.
    ///
    /// # Errors
    /// Returns an error if one of the statements since the savepoint failed, or this one does: the writes can't be kept
    /// then.
    pub(super) async fn keep(&mut self) -> Result<()> {
        match self.state {
            State::Open => self.mark(KEEP).await,
            _ => Err(Error::internal("a unit of work is kept after an error")),
        }
    }

    /// Rolls back to the savepoint, after a statement that was dropped in the middle has ended.
    ///
    /// # Errors
    /// Returns an error if the transaction is lost, or may be.
    pub(super) async fn give_up(&mut self) -> Result<()> {
        match self.state {
            State::Open | State::Failed => self.mark(GIVE_UP).await,
            State::Running => timeout(GRACE, self.mark(GIVE_UP))
                .await
                .map_err(Error::internal)?,
            State::Ended | State::Doubtful => Err(Error::internal("a transaction is lost")),
        }
    }

    async fn mark(&mut self, sql: &str) -> Result<()> {
        self.state = State::Running;
        let done = Sqlite::execute_unprepared(&mut self.connection, sql).await;
        match done {
            Ok(_) => {
                self.state = State::Open;
                Ok(())
            }
            Err(error) => {
                self.faults.see(&error);
                self.state = State::Doubtful;
                Err(query_error(error).into())
            }
        }
    }
}

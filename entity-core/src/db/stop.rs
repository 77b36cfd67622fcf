//! Stopping a writer's statement in the middle, when nobody waits for it any more.
//!
//! A unit of work whose time is over is dropped where it stands. Its statement would continue in the database, and keep
//! the right to write, or rows, from everybody else for as long as it takes.

use std::fmt;

/// Creates the handles that stop the statements of transactions, one for each transaction.
pub trait Stops: fmt::Debug + Send + Sync {
    /// Returns the handle for the transaction that begins now, on a connection that was just taken from the writers'
    /// pool.
    fn begin(&self) -> Box<dyn Stop>;
}

/// Stops the statement of one transaction, whose connection is then closed.
pub trait Stop: fmt::Debug + Send + Sync {
    /// Returns the name by which the server must know the connection for as long as the transaction is open, if it
    /// needs one.
    fn name(&self) -> Option<&str>;

    /// Notes that a statement of the transaction begins.
    fn see(&self) {}

    /// Stops the statement that runs now, without waiting for its end.
    fn stop(&self);
}

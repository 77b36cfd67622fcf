//! Stopping a statement of a writer in the middle, when nobody waits for it any more.
//!
//! A unit of work whose time is over is dropped where it stands. Its statement would go on in the database, and keep
//! the right to write, or rows, from everybody else for as long as it takes.

use std::fmt;

/// Makes what stops the statements of one transaction after another.
pub trait Stops: fmt::Debug + Send + Sync {
    /// For the transaction that begins now, on a connection that was just taken from the pool of the writers.
    fn begin(&self) -> Box<dyn Stop>;
}

/// Stops the statement of one transaction, whose connection is closed then.
pub trait Stop: fmt::Debug + Send + Sync {
    /// The name by which the server must know the connection for as long as the transaction is open, if it has to.
    fn name(&self) -> Option<&str>;

    /// Stops the statement that runs now. This does not wait for it.
    fn stop(&self);
}

//! The limit on the time for which one unit of work may hold the right to write.
//!
//! On SQLite one unit of work writes at a time, and on PostgreSQL one that writes locks rows that others need. A unit
//! of work that takes too long is therefore ended, between two of its steps or in the middle of one, and rolled back.
//! This crate has no timer of its own: the service provides one.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::{BoxFuture, Either, select};

use crate::words::error::{Error, ErrorKind, Result};
use crate::words::large::{Hurry, Reading};

/// A timer on a clock that never jumps.
pub trait Timer: Send + Sync {
    /// Returns a future that completes after `duration`.
    fn after(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

/// The limit on the time for which one unit of work may hold the right to write, counted from when it got that right.
#[derive(Clone)]
pub struct WriteLimit {
    /// The maximum time.
    pub length: Duration,
    /// The maximum time for a unit of work that joined the transaction of others, whose COMMIT waits for it. A unit of work
    /// that takes longer is run again in a transaction of its own, so that the others do not wait for it.
    pub joined: Duration,
    /// The timer that tells when the time is over.
    pub timer: Arc<dyn Timer>,
}

impl WriteLimit {
    /// The usual value of [`joined`](Self::joined).
    pub const JOINED: Duration = Duration::from_millis(50);
}

impl fmt::Debug for WriteLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WriteLimit({:?})", self.length)
    }
}

/// The time for which one unit of work holds the right to write.
pub(crate) struct Hold {
    /// The end of the time; `None` if there is no limit.
    end: Option<End>,
    is_over: bool,
    /// True if the unit of work joined the transaction of others, whose COMMIT waits for it.
    is_joined: bool,
    /// Keeps the request from waiting for anything else while it holds the right to write.
    _hurry: Hurry,
}

/// The end of the time.
struct End {
    /// A future that completes at the end, to stop work that waits for something.
    alarm: BoxFuture<'static, ()>,
    /// The instant of the end. It is checked too, because a thread that is blocked by the work notices the alarm late.
    instant: Instant,
}

impl Hold {
    /// Starts the time under `limit` for the request whose bytes `reading` counts. The time is shorter for a unit of
    /// work that joined the transaction of others.
    pub(crate) fn begin(limit: Option<&WriteLimit>, is_joined: bool, reading: &Reading) -> Self {
        let end = |limit: &WriteLimit| {
            let length = match is_joined {
                true => limit.length.min(limit.joined),
                false => limit.length,
            };
            End {
                alarm: limit.timer.after(length),
                instant: Instant::now() + length,
            }
        };
        Self {
            end: limit.map(end),
            is_over: false,
            is_joined,
            _hurry: reading.hurry(),
        }
    }

    /// Runs `work` and returns its result, if it completes before the time is over. Otherwise drops it unfinished.
    ///
    /// # Errors
    /// Fails as `work` does, and when the time is over.
    pub(crate) async fn during<T>(&mut self, work: impl Future<Output = Result<T>>) -> Result<T> {
        if self.is_over {
            return Err(overstayed(self.is_joined));
        }
        let Some(end) = &mut self.end else {
            return work.await;
        };
        let done = match select(&mut end.alarm, pin!(work)).await {
            Either::Left(((), _unfinished)) => None,
            Either::Right((done, _)) => Some(done),
        };
        self.is_over = done.is_none() || Instant::now() >= end.instant;
        match done {
            // What failed tells more than that it took too long.
            Some(done) if done.is_err() || !self.is_over => done,
            _ => Err(overstayed(self.is_joined)),
        }
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hold")
            .field("is_limited", &self.end.is_some())
            .field("is_over", &self.is_over)
            .field("is_joined", &self.is_joined)
            .finish_non_exhaustive()
    }
}

/// Returns the error for a unit of work that held the right to write for too long. The same request would take as long
/// again, so the error names no time after which to retry. A unit of work that joined others may well finish in time in
/// a transaction of its own, so its error is transient.
fn overstayed(is_joined: bool) -> Error {
    if is_joined {
        return Error::run_apart();
    }
    Error::new(
        ErrorKind::Unavailable,
        "the request held the right to write for too long and was rolled back: write less at a time, in a batch \
         by fewer operations",
    )
}

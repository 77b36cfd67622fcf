//! How long one unit of work may hold the right to write.
//!
//! On SQLite one unit of work writes at a time, and on PostgreSQL one that writes keeps rows from others. A unit of
//! work that takes too long is therefore ended, between two of its steps or in the middle of one, and rolled back.
//! This crate has no timer of its own: the service gives it one.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::{BoxFuture, Either, select};

use crate::error::{Error, ErrorKind, Result};
use crate::large::{Hurry, Reading};

/// How long one unit of work may take for whose COMMIT others wait. One that needs longer is run again by itself, so
/// that they do not wait for it.
const PATIENCE: Duration = Duration::from_millis(50);

/// Waits, by a clock that never jumps.
pub trait Timer: Send + Sync {
    /// Completes after `duration`.
    fn after(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

/// How long one unit of work may hold the right to write, counted from when it was given that right.
#[derive(Clone)]
pub struct WriteLimit {
    /// How long.
    pub length: Duration,
    /// What tells when that is over.
    pub timer: Arc<dyn Timer>,
}

impl fmt::Debug for WriteLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WriteLimit({:?})", self.length)
    }
}

/// One unit of work's time with the right to write.
pub(crate) struct Hold {
    /// Nothing where there is no limit.
    end: Option<End>,
    is_over: bool,
    /// Whether others wait until the end.
    is_joined: bool,
    /// Whoever may write waits for nothing else.
    _hurry: Hurry,
}

/// When the time is over.
struct End {
    /// Completes then, to end work that waits for something.
    alarm: BoxFuture<'static, ()>,
    /// The instant: a thread that work has blocked hears the alarm late.
    instant: Instant,
}

impl Hold {
    /// The time under `limit`, which begins now, of a request that has read what `reading` says. It is short for a unit
    /// of work that joined others.
    pub(crate) fn begin(limit: Option<&WriteLimit>, is_joined: bool, reading: &Reading) -> Self {
        let end = |limit: &WriteLimit| {
            let length = match is_joined {
                true => limit.length.min(PATIENCE),
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

    /// What `work` comes to, if it does before the time is over; else it is dropped where it stands.
    ///
    /// # Errors
    /// Those of `work`; the time is over.
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

/// The same request would take as long again, so that no time is named after which to send it again. One that joined
/// others may well be done in time by itself.
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

//! The limit on the time for which one unit of work may hold the permit to write.
//!
//! On SQLite one unit of work writes at a time, and on PostgreSQL one that writes locks rows that others need. A unit
//! of work that takes too long is therefore ended, between two of its steps or in the middle of one, and rolled back.
//! This crate has no timer of its own: the service provides one.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::{BoxFuture, Either, select};
use parking_lot::Mutex;

use crate::contract::origin::Origin;
use crate::contract::request::Request;
use crate::primitives::error::{Error, ErrorKind, Result};
use crate::primitives::read_budget::NoWaitGuard;

/// A timer on a clock that never jumps.
pub trait Timer: Send + Sync {
    /// Returns a future that completes after `duration`.
    fn after(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

/// The limit on the time for which one unit of work may hold the permit to write, counted from when it got that permit.
#[derive(derive_more::Debug, Clone)]
#[debug("WriteLimit({:?})", self.length)]
pub struct WriteLimit {
    /// The maximum time.
    pub length: Duration,
    /// The timer that tells when the time is over.
    pub timer: Arc<dyn Timer>,
}

/// The units of work that hold the permit to write at present. All clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Holders(Arc<Mutex<Book>>);

#[derive(Debug, Default)]
struct Book {
    /// Each with the instant since which it holds the permit, and what it does.
    held: BTreeMap<u64, (Instant, String)>,
    /// The instant at which the last one ended.
    ended: Option<Instant>,
}

impl Holders {
    /// Returns what the unit of work does that holds the right for longest, if none has come to its end for longer than
    /// `length` until `now`: a hook of a type that loops without waiting for anything is one that nothing can end.
    pub fn stalled(&self, now: Instant, length: Duration) -> Option<String> {
        let book = self.0.lock();
        let (since, work) = book.held.values().next()?;
        let last = book.ended.map_or(*since, |it| it.max(*since));
        (now.saturating_duration_since(last) > length).then(|| work.clone())
    }

    /// Notes that a unit of work, which does this, holds the right since `now`. Returns its number.
    fn enter(&self, work: String, now: Instant) -> u64 {
        let held = &mut self.0.lock().held;
        let number = held.last_key_value().map_or(0, |it| it.0 + 1);
        held.insert(number, (now, work));
        number
    }

    fn leave(&self, number: u64, now: Instant) {
        let mut book = self.0.lock();
        book.held.remove(&number);
        book.ended = Some(now);
    }
}

/// The timeout of one unit of work that holds the permit to write.
#[derive(derive_more::Debug)]
#[debug("WriteTimeout {{ is_limited: {:?}, is_over: {:?} }}", self.end.is_some(), self.is_over)]
pub(crate) struct WriteTimeout {
    /// The end of the time; `None` if there is no limit.
    end: Option<End>,
    is_over: bool,
    holders: Holders,
    /// Its number among these.
    number: u64,
    /// Keeps the request from waiting for anything else while it holds the right to write.
    _no_wait: NoWaitGuard,
}

/// The end of the time.
struct End {
    /// A future that completes at the end, to stop work that waits for something.
    alarm: BoxFuture<'static, ()>,
    /// The instant of the end. It is checked too, because a thread that is blocked by the work notices the alarm late.
    instant: Instant,
}

impl WriteTimeout {
    /// Starts the time under `limit` for a unit of work of `origin`, one of `holders`.
    pub(crate) fn begin(limit: Option<&WriteLimit>, origin: &Origin, holders: &Holders) -> Self {
        let work = format!("`{} {}`", origin.method, origin.path);
        let end = |limit: &WriteLimit| End {
            alarm: limit.timer.after(limit.length),
            instant: Instant::now() + limit.length,
        };
        Self {
            end: limit.map(end),
            is_over: false,
            number: holders.enter(work, Instant::now()),
            holders: holders.clone(),
            _no_wait: origin.read_budget.forbid_waiting(),
        }
    }

    /// Notes that the unit of work carries out `request` now.
    pub(crate) fn set_request(&self, request: &Request) {
        let (verb, path) = (request.verb.name(), &request.path);
        let work = format!("`{verb} /direct{path}` of the type `{}`", path.prefix);
        if let Some(held) = self.holders.0.lock().held.get_mut(&self.number) {
            held.1 = work;
        }
    }

    /// Returns the error for a unit of work that held the right to write for too long. The same request would take as
    /// long again, so the error names no time after which to retry.
    fn overstayed(&self) -> Error {
        let held = self.holders.0.lock().held.get(&self.number).cloned();
        Error::new(
            ErrorKind::Unavailable,
            "the request held the right to write for too long and was rolled back: write less at a time, in a batch \
             by fewer operations",
        )
        .with_source(held.map_or_else(String::new, |it| it.1))
    }

    /// Runs `work` and returns its result, if it completes before the time is over. Otherwise drops it unfinished.
    ///
    /// # Errors
    /// Fails as `work` does, and when the time is over.
    pub(crate) async fn during<T>(&mut self, work: impl Future<Output = Result<T>>) -> Result<T> {
        if self.is_over {
            return Err(self.overstayed());
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
            _ => Err(self.overstayed()),
        }
    }
}

impl Drop for WriteTimeout {
    fn drop(&mut self) {
        self.holders.leave(self.number, Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn y12_a_write_that_does_not_end_is_named_and_an_idle_service_is_not_stalled() {
        let (holders, begin) = (Holders::default(), Instant::now());
        let after = |seconds| begin + Duration::from_secs(seconds);
        let long = Duration::from_secs(30);
        assert_eq!(holders.stalled(after(99), long), None, "nobody writes");
        let endless = holders.enter("endless".to_owned(), begin);
        let other = holders.enter("other".to_owned(), after(5));
        assert_eq!(holders.stalled(after(30), long), None);
        assert_eq!(holders.stalled(after(31), long).as_deref(), Some("endless"));
        // Where several write at once, the others show that writes get through.
        holders.leave(other, after(20));
        assert_eq!(holders.stalled(after(50), long), None);
        assert_eq!(holders.stalled(after(51), long).as_deref(), Some("endless"));
        holders.leave(endless, after(60));
        assert_eq!(holders.stalled(after(99), long), None, "it has ended");
    }
}

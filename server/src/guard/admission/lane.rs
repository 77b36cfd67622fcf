//! The places of one class, and the queue before them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use entity_core::{Error, Result};
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use super::later;
use super::shares::{ClientKey, Limits, Refused, Shares};
use crate::base::class::Class;
use crate::base::metrics::{Metrics, RejectReason};

/// The `Retry-After` of a client that finds no place for a stream of events, in seconds.
const STREAM_RETRY_AFTER: u32 = 30;

/// The places of one class. All clones are the same places.
#[derive(derive_more::Debug, Clone)]
#[debug("Lane({})", self.0.class.name())]
pub(crate) struct Lane(Arc<Inner>);

struct Inner {
    class: Class,
    limits: Limits,
    shares: Mutex<Shares<oneshot::Sender<Permit>>>,
    metrics: Metrics,
}

/// The right to run. It is given back when this is dropped.
#[derive(derive_more::Debug)]
#[debug("Permit({:?})", self.lane)]
pub(crate) struct Permit {
    lane: Lane,
    who: ClientKey,
    since: Instant,
}

/// A place in the queue: it is given back when this is dropped, for example because the client has gone.
struct Waiting<'a> {
    lane: &'a Lane,
    number: u64,
}

impl Lane {
    pub(super) fn new(class: Class, limits: Limits, metrics: Metrics) -> Self {
        Self(Arc::new(Inner {
            class,
            limits,
            shares: Mutex::new(Shares::new(limits)),
            metrics,
        }))
    }

    /// Waits for a place for `who`.
    ///
    /// # Errors
    /// The queue is full, they have all that one may have, or they waited too long.
    pub(crate) async fn enter(&self, who: ClientKey) -> Result<Permit> {
        self.enter_for(who, Duration::ZERO).await
    }

    /// Waits for a place as [`enter`](Self::enter) does, for a request that is `expected` to take so much longer than
    /// others.
    ///
    /// # Errors
    /// Fails as [`enter`](Self::enter) does.
    pub(super) async fn enter_for(&self, who: ClientKey, expected: Duration) -> Result<Permit> {
        let now = Instant::now();
        let asked = {
            let mut shares = self.0.shares.lock();
            if shares.may_start(who, expected, now) && shares.start(who) {
                return Ok(self.place(who));
            }
            shares.check(who).map(|()| {
                let (sender, turn) = oneshot::channel();
                let waiting = shares.wait(who, expected, sender);
                (waiting, turn, shares.resume_after(now))
            })
        };
        let ((number, gone), turn, pause) = asked.map_err(|refused| self.refuse(refused))?;
        drop(gone);
        self.resume_after(pause);
        let _waiting = Waiting { lane: self, number };
        let since = Instant::now();
        let turn = timeout(self.0.limits.wait, turn).await;
        self.0.metrics.waited(self.0.class, since.elapsed());
        match turn {
            Ok(Ok(place)) => Ok(place),
            // Somebody who has less of the queue took the place in it.
            Ok(Err(_gone)) => Err(self.refuse(Refused::Full)),
            Err(_elapsed) => Err(self.error(RejectReason::Age)),
        }
    }

    /// A place for `who`, if they can have one at once.
    pub(crate) fn try_enter(&self, who: ClientKey) -> Result<Permit> {
        let (may, has_place) = {
            let mut shares = self.0.shares.lock();
            (shares.start(who), shares.has_place())
        };
        match (may, has_place) {
            (true, _) => Ok(self.place(who)),
            (false, true) => Err(self.error(RejectReason::Share)),
            (false, false) => Err(self.error(RejectReason::Full)),
        }
    }

    /// Returns whether `who` would be let in, without taking a place: what comes before is not worth while otherwise.
    ///
    /// # Errors
    /// As [`Lane::enter`].
    pub(crate) fn check(&self, who: ClientKey) -> Result<()> {
        let checked = self.0.shares.lock().check(who);
        checked.map_err(|refused| self.refuse(refused))
    }

    /// The number that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.0.shares.lock().waiting()
    }

    /// The number that run.
    pub(crate) fn running(&self) -> usize {
        self.0.shares.lock().running()
    }

    fn place(&self, who: ClientKey) -> Permit {
        Permit {
            lane: self.clone(),
            who,
            since: Instant::now(),
        }
    }

    fn refuse(&self, refused: Refused) -> Error {
        self.error(match refused {
            Refused::Full => RejectReason::Full,
            Refused::Share => RejectReason::Share,
        })
    }

    fn error(&self, reason: RejectReason) -> Error {
        self.0.metrics.refused(reason);
        match (self.0.class, reason) {
            (Class::Login, RejectReason::Share) => Error::too_many_requests(
                "too many logins of this account or network at the same time: wait and try again",
                later(),
            ),
            (Class::Login, _) => {
                Error::unavailable("too many people log in right now: try again", later())
            }
            (Class::Large, _) => Error::unavailable(
                "too many large answers are being made: try again, or ask for less",
                later(),
            ),
            (Class::Text, _) => {
                Error::unavailable("too much long HTML is sent right now: try again", 1)
            }
            (Class::Stream, RejectReason::Share) => Error::too_many_requests(
                format!(
                    "an account follows {} streams of events at most (`limits.eventStreams`): close one",
                    self.0.limits.of_group.0
                ),
                STREAM_RETRY_AFTER,
            ),
            (Class::Stream, _) => Error::unavailable(
                "too many streams of events are open: try again",
                STREAM_RETRY_AFTER,
            ),
            (_, RejectReason::Share) => Error::unavailable(
                "too many requests of this account or network at the same time: send fewer at once",
                later(),
            ),
            _ => Error::unavailable(
                "the service has too much to do right now: try again",
                later(),
            ),
        }
    }

    /// Gives free places to those whose turn it is, when `pause` is over.
    fn resume_after(&self, pause: Option<Duration>) {
        let (Some(pause), Ok(runtime)) = (pause, Handle::try_current()) else {
            return;
        };
        let lane = self.clone();
        drop(runtime.spawn(async move {
            sleep(pause).await;
            lane.0.shares.lock().resume();
            lane.hand_out();
        }));
    }

    /// Gives free places to those whose turn it is.
    fn hand_out(&self) {
        loop {
            let now = Instant::now();
            let next = {
                let mut shares = self.0.shares.lock();
                let next = shares.next(now);
                next.ok_or_else(|| shares.resume_after(now))
            };
            let (who, turn) = match next {
                Ok(next) => next,
                Err(pause) => return self.resume_after(pause),
            };
            // Whoever has gone gives the place back by dropping it, and so it goes on.
            drop(turn.send(self.place(who)));
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let now = Instant::now();
        self.lane.0.shares.lock().end(self.who, self.since, now);
        self.lane.hand_out();
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.lane.0.shares.lock().leave(self.number);
    }
}

#[cfg(test)]
impl Lane {
    /// One with a place, for which so many of anybody may wait for so long.
    pub(super) fn of_one_place(class: Class, queue: usize, wait: Duration) -> Self {
        let limits = Limits {
            places: 1,
            queue,
            wait,
            of_group: (1, queue),
            of_member: (1, queue),
            counts_time: false,
        };
        Self::new(class, limits, Metrics::default())
    }
}

#[cfg(test)]
mod tests {
    use entity_core::ErrorKind;
    use futures::FutureExt as _;

    use super::*;

    fn lane(wait: Duration) -> Lane {
        Lane::of_one_place(Class::Read, 2, wait)
    }

    #[tokio::test]
    async fn dos_4_a_full_queue_is_told_at_once_with_a_time_to_come_back() {
        let lane = lane(Duration::from_mins(1));
        let who = ClientKey::group(1);
        let place = lane.enter(who).await.unwrap();
        let waiting: Vec<_> = (0..2)
            .map(|_| {
                let lane = lane.clone();
                tokio::spawn(async move { lane.enter(who).await })
            })
            .collect();
        while lane.waiting() < 2 {
            tokio::task::yield_now().await;
        }
        let error = lane.enter(who).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.retry_after().is_some_and(|it| (1..=3).contains(&it)));
        assert!(lane.check(who).is_err());
        drop(place);
        for waiting in waiting {
            drop(waiting.await.unwrap().unwrap());
        }
        assert_eq!((lane.waiting(), lane.running()), (0, 0));
    }

    #[tokio::test]
    async fn places_are_given_back_when_clients_go() {
        let lane = lane(Duration::from_mins(1));
        let who = ClientKey::group(1);
        let place = lane.enter(who).await.unwrap();
        let mut waiting = Box::pin(lane.enter(who));
        assert!(waiting.as_mut().now_or_never().is_none());
        assert_eq!(lane.waiting(), 1);
        drop(waiting);
        assert_eq!(lane.waiting(), 0);
        // The turn comes, and nobody takes it any more.
        let mut waiting = Box::pin(lane.enter(who));
        assert!(waiting.as_mut().now_or_never().is_none());
        drop(place);
        assert_eq!(lane.running(), 1);
        drop(waiting);
        assert_eq!((lane.waiting(), lane.running()), (0, 0));
    }

    #[tokio::test]
    async fn dos_4_nobody_waits_longer_than_it_is_worth() {
        let lane = lane(Duration::from_millis(1));
        let who = ClientKey::group(1);
        let _place = lane.enter(who).await.unwrap();
        let error = lane.enter(who).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert_eq!(lane.waiting(), 0);
    }
}

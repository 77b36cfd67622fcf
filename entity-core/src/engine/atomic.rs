//! A unit of work for one request or several.

use std::future::ready;

use futures::future::BoxFuture;

use crate::contract::context::Context;
use crate::contract::event::Event;
use crate::contract::event_sink::Audit;
use crate::contract::origin::Origin;
use crate::contract::preparation::Preparation;
use crate::contract::reply::Reply;
use crate::contract::request::Request;
use crate::contract::turn::Turn;
use crate::engine::dispatch::{Dispatcher, Finish};
use crate::engine::write_timeout::WriteTimeout;
use crate::primitives::error::{Error, Result};
use crate::primitives::unit::{CommitOutcome, End};

/// A unit of work in which requests run one after another. Each request sees what the earlier ones wrote; dropping the
/// unit of work rolls all of it back. Where the dispatcher has a [limit](crate::engine::WriteLimit), everything must be done
/// within that time.
///
/// After an error the unit of work can only be rolled back: the database may have done so already.
#[derive(Debug)]
pub struct Atomic<'d> {
    dispatcher: &'d Dispatcher,
    cx: Context,
    events: Vec<Event>,
    has_failed: bool,
    timeout: WriteTimeout,
    /// Declared last and therefore dropped last: the unit of work is over when the turn is given back.
    turn: Turn,
}

impl<'d> Atomic<'d> {
    pub(crate) fn new(
        dispatcher: &'d Dispatcher,
        cx: Context,
        timeout: WriteTimeout,
        turn: Turn,
    ) -> Self {
        Self {
            dispatcher,
            cx,
            events: Vec::new(),
            has_failed: false,
            timeout,
            turn,
        }
    }

    /// Returns the context of the request that ran last.
    pub fn context(&self) -> &Context {
        &self.cx
    }

    /// Switches to a request of `origin`, with its `preparation`.
    pub(crate) fn reset_for(&mut self, origin: &Origin, preparation: Preparation) {
        self.cx.reset_for(origin, preparation);
    }

    /// Runs `request`, for which `preparation` was [made](Dispatcher::prepare) before. If the request writes, `finish`
    /// may still refuse it, and its events and its audit row are stored in the same unit of work.
    ///
    /// # Errors
    /// Returns an error if the request is wrong, if the service fails, if a quota would be exceeded, if `finish` fails,
    /// if an earlier request of the unit of work has failed, or if the time is over.
    pub async fn run(
        &mut self,
        request: &Request,
        preparation: Preparation,
        finish: &dyn Finish,
    ) -> Result<Reply> {
        self.check()?;
        self.cx.reset_for(&request.origin, preparation);
        self.timeout.set_request(request);
        self.cx.serve(&request.input.uploads);
        let work = run_and_record(self.dispatcher, &self.cx, request, finish);
        let done = self.timeout.during(work).await;
        self.has_failed = done.is_err();
        let (reply, events) = done?;
        self.events.extend(events);
        Ok(reply)
    }

    /// Runs `work` as a part of this unit of work, and drops it unfinished when the time is over. The future that
    /// `work` returns must own what it uses besides the context.
    ///
    /// # Errors
    /// Fails as `work` does, when an earlier request of the unit of work has failed, and when the time is over.
    pub async fn during<T>(
        &mut self,
        work: impl for<'a> FnOnce(&'a Context) -> BoxFuture<'a, Result<T>>,
    ) -> Result<T> {
        self.check()?;
        let done = self.timeout.during(work(&self.cx)).await;
        self.has_failed = done.is_err();
        done
    }

    /// Runs `request` as if it had come at the instant `now`, and returns its reply with its events. Nobody is told of them:
    /// neither are they stored, nor is there an audit row.
    #[cfg(feature = "sea-orm")]
    pub(crate) async fn replay(
        &mut self,
        request: &Request,
        now: crate::DateTimeUtc,
    ) -> Result<(Reply, Vec<Event>)> {
        self.check()?;
        let present = std::mem::replace(&mut self.cx.now, now);
        let own = self.cx.origin().clone();
        self.cx.reset_for(&request.origin, Preparation::default());
        self.cx.serve(&request.input.uploads);
        let done = self.dispatcher.run(&self.cx, request).await;
        self.cx.now = present;
        self.cx.reset_for(&own, Preparation::default());
        self.has_failed = done.is_err();
        Ok((done?, self.cx.take_events()))
    }

    /// Stores the events that the last work emitted, and its audit row.
    ///
    /// # Errors
    /// Returns an error if an earlier request of the unit of work has failed, if they can't be stored, and when the time is
    /// over.
    pub async fn record(&mut self, audit: Audit) -> Result<()> {
        self.check()?;
        let work = record(self.dispatcher, &self.cx, audit);
        let done = self.timeout.during(work).await;
        self.has_failed = done.is_err();
        self.events.extend(done?);
        Ok(())
    }

    fn check(&self) -> Result<()> {
        match self.has_failed {
            true => Err(Error::internal("a unit of work goes on after an error")),
            false => Ok(()),
        }
    }

    /// Commits everything, then notifies the followers of the events. The commit is not interrupted when the time is
    /// over, because its outcome would be unknown.
    ///
    /// # Errors
    /// Returns an error if nothing was written or, with the code [`OUTCOME_UNKNOWN`](crate::engine::OUTCOME_UNKNOWN), if it is
    /// unknown whether anything was written. If the time was over before the commit, nothing was written.
    pub async fn commit(mut self) -> Result<()> {
        if self.has_failed {
            return Err(Error::internal(
                "a unit of work is committed after an error",
            ));
        }
        match self.timeout.during(ready(Ok(()))).await {
            Ok(()) => self.finish(End::Keep).await,
            Err(error) => {
                self.finish(End::GiveUp).await?;
                Err(error)
            }
        }
    }

    /// Ends the unit of work and returns `done`: commits if `done` is `Ok` and `end` is [`End::Keep`], and rolls back
    /// otherwise. What this returns may be disclosed: it does not depend on writes of others that were not kept.
    ///
    /// # Errors
    /// Fails as `done` or [`commit`](Self::commit) does, and with a transient error if the units of work that this one
    /// joined were not kept.
    pub(crate) async fn end<T>(self, done: Result<T>, end: End) -> Result<T> {
        match (&done, end) {
            (Ok(_), End::Keep) => self.commit().await?,
            _ => self.finish(End::GiveUp).await?,
        }
        done
    }

    async fn finish(self, end: End) -> Result<()> {
        let Self {
            dispatcher,
            cx,
            events,
            timeout,
            mut turn,
            ..
        } = self;
        turn.rest();
        match cx.unit.end(end, turn.is_awaited()).await? {
            CommitOutcome::Now => {
                publish(dispatcher, end, &events);
                drop(turn);
            }
            CommitOutcome::Later(outcome) => {
                drop((timeout, turn));
                outcome.await?;
                publish(dispatcher, end, &events);
            }
        }
        Ok(())
    }
}

fn publish(dispatcher: &Dispatcher, end: End, events: &[Event]) {
    if end == End::Keep {
        dispatcher.sink.published(events);
    }
}

/// Runs `request` in the unit of work of `cx`. Returns the reply and the events of the request, which are stored by
/// then.
async fn run_and_record(
    dispatcher: &Dispatcher,
    cx: &Context,
    request: &Request,
    finish: &dyn Finish,
) -> Result<(Reply, Vec<Event>)> {
    let reply = match request.is_dry_run {
        true => Box::pin(dispatcher.rehearse(cx, request)).await?,
        false => dispatcher.run(cx, request).await?,
    };
    if request.verb.is_safe() {
        return Ok((reply, Vec::new()));
    }
    #[cfg(feature = "sea-orm")]
    crate::db::quota::check(cx).await?;
    let audit = finish.finish(cx, &reply).await?;
    let events = record(dispatcher, cx, audit).await?;
    Ok((reply, events))
}

/// Stores the events that were emitted in the unit of work of `cx` since the last call, and returns them.
async fn record(dispatcher: &Dispatcher, cx: &Context, audit: Audit) -> Result<Vec<Event>> {
    let events = cx.take_events();
    dispatcher.sink.record(cx, &events, audit).await?;
    Ok(events)
}

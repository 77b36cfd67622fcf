//! One unit of work for one request or several.

use std::future::ready;

use futures::future::BoxFuture;

use crate::context::Context;
use crate::dispatch::{Dispatcher, Finish};
use crate::error::{Error, Result};
use crate::event::{Audit, Event};
use crate::hold::Hold;
use crate::prepare::Preparation;
use crate::reply::Reply;
use crate::request::{Origin, Request};
use crate::turn::Turn;
use crate::unit::{End, Ended};

/// A unit of work that requests run in one after the other. Each sees what those before it wrote; dropping it gives
/// everything up. Where the dispatcher has a [limit](crate::WriteLimit), all of it must be done before that is over.
///
/// After an error it can only be given up: the database may have done so already.
#[derive(Debug)]
pub struct Atomic<'d> {
    dispatcher: &'d Dispatcher,
    cx: Context,
    events: Vec<Event>,
    has_failed: bool,
    hold: Hold,
    /// Comes last: the unit of work is over when it is given back.
    turn: Turn,
}

impl<'d> Atomic<'d> {
    pub(crate) fn new(dispatcher: &'d Dispatcher, cx: Context, hold: Hold, turn: Turn) -> Self {
        Self {
            dispatcher,
            cx,
            events: Vec::new(),
            has_failed: false,
            hold,
            turn,
        }
    }

    /// The context of the request that ran last.
    pub fn context(&self) -> &Context {
        &self.cx
    }

    /// Goes on with a request of `origin`, for which `preparation` was made.
    pub(crate) fn turn_to(&mut self, origin: &Origin, preparation: Preparation) {
        self.cx.turn_to(origin, preparation);
    }

    /// Runs `request`, for which `preparation` was [made](Dispatcher::prepare) before. If it writes, `finish` has
    /// the last word on it, and its events and its audit row are written with it.
    ///
    /// # Errors
    /// Whatever is wrong with the request or with the service; somebody would have more than they may have; what
    /// `finish` says; one before it has failed; the time is over.
    pub async fn run(
        &mut self,
        request: &Request,
        preparation: Preparation,
        finish: &dyn Finish,
    ) -> Result<Reply> {
        self.cx.turn_to(&request.origin, preparation);
        let work = run_and_record(self.dispatcher, &self.cx, request, finish);
        let done = self.hold.during(work).await;
        self.has_failed = done.is_err();
        let (reply, events) = done?;
        self.events.extend(events);
        Ok(reply)
    }

    /// Does `work` as a part of this unit of work, and drops it where it stands when the time is over. What `work`
    /// uses it owns or clones into the future that it answers.
    ///
    /// # Errors
    /// Those of `work`; one before it has failed; the time is over.
    pub async fn during<T>(
        &mut self,
        work: impl for<'a> FnOnce(&'a Context) -> BoxFuture<'a, Result<T>>,
    ) -> Result<T> {
        self.check()?;
        let done = self.hold.during(work(&self.cx)).await;
        self.has_failed = done.is_err();
        done
    }

    /// Stores what the work that was done last told, and what the audit log is told of it.
    pub(crate) async fn record(&mut self, audit: Audit) -> Result<()> {
        self.check()?;
        let work = record(self.dispatcher, &self.cx, audit);
        let done = self.hold.during(work).await;
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

    /// Makes everything durable, then tells the followers. This is not cut off: what came of it would not be known.
    ///
    /// # Errors
    /// Nothing was written or, if the code of the error is [`OUTCOME_UNKNOWN`](crate::OUTCOME_UNKNOWN), nobody knows
    /// whether it was. If the time was over before, nothing was written.
    pub async fn commit(mut self) -> Result<()> {
        if self.has_failed {
            return Err(Error::internal(
                "a unit of work is committed after an error",
            ));
        }
        match self.hold.during(ready(Ok(()))).await {
            Ok(()) => self.finish(End::Keep).await,
            Err(error) => {
                self.finish(End::GiveUp).await?;
                Err(error)
            }
        }
    }

    /// Ends it with what it came to: it is kept if that is no error, unless `end` says otherwise. What this answers may be
    /// told: nothing of it rests on what others wrote that was not kept.
    ///
    /// # Errors
    /// Those of `done` and of [`commit`](Self::commit); a transient one, if what it came to rests on what was not kept.
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
            mut turn,
            ..
        } = self;
        turn.rest();
        match cx.unit.end(end, turn.is_awaited()).await? {
            Ended::Now => {
                publish(dispatcher, end, &events);
                drop(turn);
            }
            Ended::Later(outcome) => {
                drop(turn);
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

/// Runs `request` in the unit of work of `cx`. Answers too what it told, which is stored by then.
async fn run_and_record(
    dispatcher: &Dispatcher,
    cx: &Context,
    request: &Request,
    finish: &dyn Finish,
) -> Result<(Reply, Vec<Event>)> {
    let reply = dispatcher.run(cx, request).await?;
    if request.verb.is_safe() {
        return Ok((reply, Vec::new()));
    }
    #[cfg(feature = "sea-orm")]
    crate::db::quota::check(cx).await?;
    let audit = finish.finish(cx, &reply).await?;
    let events = record(dispatcher, cx, audit).await?;
    Ok((reply, events))
}

/// Stores what was told in the unit of work of `cx` since this was last done, and answers it.
async fn record(dispatcher: &Dispatcher, cx: &Context, audit: Audit) -> Result<Vec<Event>> {
    let events = cx.take_events();
    dispatcher.sink.record(cx, &events, audit).await?;
    Ok(events)
}

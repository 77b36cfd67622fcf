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
use crate::contract::write_queue::WritePermit;
use crate::engine::dispatch::{Dispatcher, Finish};
use crate::engine::write_timeout::WriteTimeout;
use crate::primitives::error::{Error, Result};

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
    /// Declared last and therefore dropped last: the unit of work is over when the permit is given back.
    permit: WritePermit,
}

impl<'d> Atomic<'d> {
    pub(crate) fn new(
        dispatcher: &'d Dispatcher,
        cx: Context,
        timeout: WriteTimeout,
        permit: WritePermit,
    ) -> Self {
        Self {
            dispatcher,
            cx,
            events: Vec::new(),
            has_failed: false,
            timeout,
            permit,
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
        self.timeout.during(ready(Ok(()))).await?;
        let Self {
            dispatcher,
            cx,
            events,
            timeout: _timeout,
            permit: _permit,
            ..
        } = self;
        cx.unit.commit().await?;
        dispatcher.sink.published(&events);
        Ok(())
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

//! One unit of work for one request or several.

use crate::context::Context;
use crate::dispatch::{Dispatcher, Finish};
use crate::error::{Error, Result};
use crate::event::{Audit, Event};
use crate::prepare::Preparation;
use crate::reply::Reply;
use crate::request::Request;

/// A unit of work that requests run in one after the other. Each sees what those before it wrote; dropping it gives
/// everything up.
///
/// After an error it can only be dropped: the database may have given up already.
#[derive(Debug)]
pub struct Atomic<'d> {
    dispatcher: &'d Dispatcher,
    cx: Context,
    events: Vec<Event>,
    has_failed: bool,
}

impl<'d> Atomic<'d> {
    pub(crate) fn new(dispatcher: &'d Dispatcher, cx: Context) -> Self {
        Self {
            dispatcher,
            cx,
            events: Vec::new(),
            has_failed: false,
        }
    }

    /// The context of the request that ran last.
    pub fn context(&self) -> &Context {
        &self.cx
    }

    /// Runs `request`, for which `preparation` was [made](Dispatcher::prepare) before. If it writes, `finish` has
    /// the last word on it, and its events and its audit row are written with it.
    ///
    /// # Errors
    /// Whatever is wrong with the request or with the service; what `finish` says; one before it has failed.
    pub async fn run(
        &mut self,
        request: &Request,
        preparation: Preparation,
        finish: &dyn Finish,
    ) -> Result<Reply> {
        if self.has_failed {
            return Err(Error::internal("a unit of work goes on after an error"));
        }
        self.cx.turn_to(&request.origin, preparation);
        let done = self.run_and_record(request, finish).await;
        self.has_failed = done.is_err();
        done
    }

    async fn run_and_record(&mut self, request: &Request, finish: &dyn Finish) -> Result<Reply> {
        let reply = self.dispatcher.run(&self.cx, request).await?;
        if !request.verb.is_safe() {
            let audit = finish.finish(&self.cx, &reply).await?;
            self.record(audit).await?;
        }
        Ok(reply)
    }

    /// Stores what the request that ran last told, and what the audit log is told of it.
    pub(crate) async fn record(&mut self, audit: Audit) -> Result<()> {
        let events = self.cx.take_events();
        self.dispatcher
            .sink
            .record(&self.cx, &events, audit)
            .await?;
        self.events.extend(events);
        Ok(())
    }

    /// Makes everything durable, then tells the followers.
    ///
    /// # Errors
    /// Nothing was written.
    pub async fn commit(self) -> Result<()> {
        if self.has_failed {
            return Err(Error::internal(
                "a unit of work is committed after an error",
            ));
        }
        self.cx.unit.commit().await?;
        self.dispatcher.sink.published(&self.events);
        Ok(())
    }
}

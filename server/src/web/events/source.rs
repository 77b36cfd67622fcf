//! The source of one stream: events, read on behalf of its caller for as long as the session lives.

use std::convert::Infallible;
use std::sync::Weak;
use std::time::Duration;

use axum::body::Bytes;
use entity_core::engine::{Event, Origin, ReadBudget};
use entity_core::{Context, Result};
use futures::stream::{self, Stream};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use crate::base::class::Class;
use crate::base::telemetry;
use crate::guard::admission::{self, Permit};
use crate::guard::session::SessionId;
use crate::operate::follower;
use crate::operate::told;
use crate::web::app::{App, Inner};

/// The time for which a client waits before it comes back.
const BEGIN: &str = "retry: 5000\n\n";
/// The message to a client whose last event was removed: it begins anew, after it has read the present state.
const RESET: &str = "event: reset\ndata: {}\n\n";
/// The maximum number of events that a stream looks back. A client that missed more begins anew.
const LOOK_BACK: i64 = 2_000;
/// The number of events that are read in one step. If there are more, each step takes a place among searches.
const STEP: i64 = 25;
/// The time that a stream waits that finds no place.
const LATER: Duration = Duration::from_secs(1);
/// The interval at which an idle stream checks whether its session lives.
const LOOK: Duration = Duration::from_secs(5);
/// The maximum time without a message, so that no proxy takes the stream for dead.
const SILENCE: Duration = Duration::from_secs(15);

/// A stream, as far as it has come.
pub(super) struct Source {
    /// The service, which a stream does not keep alive.
    app: Weak<Inner>,
    origin: Origin,
    session: SessionId,
    /// The number of the last event that is told or passed over.
    position: i64,
    /// The number of the last event that can be told.
    end: watch::Receiver<i64>,
    spoken: Instant,
    begin: Option<String>,
    _place: Permit,
}

impl Source {
    /// Begins behind the event `behind`, or with the events from now on.
    pub(super) async fn begin(
        app: &App,
        origin: Origin,
        (session, place): (SessionId, Permit),
        behind: Option<i64>,
    ) -> Result<Self> {
        let read = app
            .dispatcher
            .read(&origin, |cx| Box::pin(follower::bounds(cx)));
        let bounds = read.await?;
        let wanted = behind.map_or(bounds.last, |it| it.min(bounds.last));
        let position = wanted.max(bounds.last.saturating_sub(LOOK_BACK));
        let is_complete = position == wanted && position.saturating_add(1) >= bounds.first;
        let mut begin = BEGIN.to_owned();
        if !is_complete {
            begin.push_str(RESET);
        }
        Ok(Self {
            app: app.downgrade(),
            origin: Origin {
                // The place of a request is for those that end.
                read_budget: ReadBudget::default(),
                ..origin
            },
            session,
            position,
            end: app.followed.subscribe(),
            spoken: Instant::now(),
            begin: Some(begin),
            _place: place,
        })
    }

    /// Returns the bytes of the stream, each time that there are any.
    pub(super) fn into_stream(self) -> impl Stream<Item = std::result::Result<Bytes, Infallible>> {
        stream::unfold(self, |mut source| async move {
            let text = source.next().await?;
            source.spoken = Instant::now();
            Some((Ok(Bytes::from(text)), source))
        })
    }

    /// Returns the next message, or `None` at the end: when the session is over, the service stops, or the database
    /// can't be read. A client reconnects then, and gets the error.
    async fn next(&mut self) -> Option<String> {
        if let Some(begin) = self.begin.take() {
            return Some(begin);
        }
        loop {
            let end = *self.end.borrow_and_update();
            let app = App::from(self.app.upgrade()?);
            if app.health.is_draining() || !self.is_alive(&app).await {
                return None;
            }
            while self.position < end {
                let told = self.read(&app, end).await?;
                if !told.is_empty() {
                    return Some(told);
                }
            }
            drop(app);
            let left = SILENCE.saturating_sub(self.spoken.elapsed());
            if left.is_zero() {
                // No event, but the place from which the client goes on.
                return Some(format!("id: {}\n\n", self.position));
            }
            if let Ok(Err(_gone)) = timeout(LOOK.min(left), self.end.changed()).await {
                return None;
            }
        }
    }

    async fn is_alive(&self, app: &App) -> bool {
        match app.sessions().find(&self.session).await {
            Ok(found) => found.is_some(),
            Err(error) => {
                tracing::debug!(error = telemetry::cause(&error), "ended a stream of events");
                false
            }
        }
    }

    /// Waits for a place among searches.
    async fn enter(&self, app: &App) -> admission::Permit {
        let who = app
            .admission
            .account(self.origin.caller.user_id().unwrap_or_default());
        loop {
            match app.admission.lane(Class::Scan).enter(who).await {
                Ok(place) => return place,
                Err(_no_room) => sleep(LATER).await,
            }
        }
    }

    /// Reads some of the events up to `end` and goes on behind them.
    async fn read(&mut self, app: &App, end: i64) -> Option<String> {
        let position = self.position;
        let _place = match end.saturating_sub(position) > STEP {
            true => Some(self.enter(app).await),
            false => None,
        };
        let end = end.min(position.saturating_add(STEP));
        // Each step counts for itself what it reads.
        let origin = Origin {
            read_budget: ReadBudget::default(),
            ..self.origin.clone()
        };
        let work = app.dispatcher.read(&origin, |cx| {
            Box::pin(async move {
                let events = follower::events(cx, position, end, None).await?;
                let last = events.last().map_or(end, |it| it.0);
                Ok((last, tell(cx, &events).await?))
            })
        });
        match work.await {
            Ok((last, told)) => {
                self.position = last;
                Some(told)
            }
            Err(error) => {
                tracing::debug!(error = telemetry::cause(&error), "ended a stream of events");
                None
            }
        }
    }
}

/// Writes those of `events` that the caller may read.
async fn tell(cx: &Context, events: &[(i64, Event)]) -> Result<String> {
    let told = told::to_caller(cx, events).await?.into_iter();
    let written = told.map(|(number, told)| {
        let told = serde_json::to_string(&told).map_err(entity_core::Error::internal)?;
        Ok(format!("id: {number}\ndata: {told}\n\n"))
    });
    written.collect()
}

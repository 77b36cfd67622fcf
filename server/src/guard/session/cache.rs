//! Sessions in memory, in front of the store.
//!
//! The store is the truth. A session that is found there is cached for a second at most, because another node may end
//! it; one that this process ends is forgotten at once. The time of last use is kept in memory and written back now and
//! then, for many sessions at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use entity_core::context::Clock;
use entity_core::engine::Event;
use entity_core::{Context, Result};
use moka::sync::Cache;
use tokio::sync::mpsc;

use super::attributes::Area;
use super::id::{IdHash, SessionId};
use super::record::Session;
use super::store::{SqlSessions, Touch};
use crate::base::config::SessionSettings;
use crate::base::supervise::Task;
use crate::base::system::delta;

/// The time for which a session is believed without asking the store.
const BELIEVED: Duration = Duration::from_secs(1);
/// The time for which a session that this process ends is asked for in the store each time: until the transaction
/// that ends it is surely over.
const SUSPECTED: Duration = Duration::from_secs(30);
/// The number of sessions that are remembered.
const REMEMBERED: u64 = 100_000;
/// The number of uses that may wait to be written down.
const QUEUE: usize = 4096;
/// The number of uses that are written down at once.
const BATCH: usize = 256;
/// The event that tells that the password of a user changed, or the account was shut or deleted.
const CREDENTIALS: &str = "user.credentials";
/// The number of times within its timeout the use of a session is written down, at most.
const WRITES_PER_TIMEOUT: i64 = 30;

/// The sessions of the service.
#[derive(derive_more::Debug)]
#[debug("Sessions {{ settings: {:?}, believed: {:?} }}", self.settings, self.believed.entry_count())]
pub struct Sessions {
    settings: SessionSettings,
    store: SqlSessions,
    clock: Arc<dyn Clock>,
    /// The time when this was made, by both clocks: time never goes slower than the monotonic one since then.
    start: (DateTime<Utc>, Instant),
    believed: Cache<IdHash, Arc<Session>>,
    suspected: Cache<IdHash, ()>,
    uses: Cache<IdHash, Arc<Use>>,
    touches: mpsc::Sender<Touch>,
}

/// The time when a session was last used, in milliseconds since 1970, and what the store knows of it.
struct Use {
    last: AtomicI64,
    written: AtomicI64,
}

/// Writes down when sessions were used. Runs until its [`Sessions`] are gone.
#[derive(Debug)]
pub struct TouchWriter {
    store: SqlSessions,
    touches: mpsc::Receiver<Touch>,
}

impl Sessions {
    /// The sessions of `store`, and the task that writes down when they were used.
    pub fn new(
        settings: &SessionSettings,
        store: SqlSessions,
        clock: Arc<dyn Clock>,
    ) -> (Self, TouchWriter) {
        let (sender, touches) = mpsc::channel(QUEUE);
        let sessions = Self {
            settings: settings.clone(),
            store: store.clone(),
            start: (clock.now(), Instant::now()),
            clock,
            believed: Cache::builder()
                .max_capacity(REMEMBERED)
                .time_to_live(BELIEVED)
                .build(),
            suspected: Cache::builder().time_to_live(SUSPECTED).build(),
            uses: Cache::builder()
                .max_capacity(REMEMBERED)
                .time_to_idle(settings.timeout.max(BELIEVED))
                .build(),
            touches: sender,
        };
        (sessions, TouchWriter { store, touches })
    }

    /// The time for which a session lives without a request.
    pub fn timeout(&self) -> TimeDelta {
        delta(self.settings.timeout)
    }

    /// The time for which a session lives at all.
    fn max_lifetime(&self) -> TimeDelta {
        delta(self.settings.max_lifetime)
    }

    /// The store behind.
    pub fn store(&self) -> &SqlSessions {
        &self.store
    }

    /// The present instant. A clock that is set back does not lengthen anything: time goes on at least as
    /// fast as the monotonic clock.
    pub fn now(&self) -> DateTime<Utc> {
        let elapsed = i64::try_from(self.start.1.elapsed().as_millis()).unwrap_or_default();
        let at_least = self.start.0 + TimeDelta::milliseconds(elapsed);
        self.clock.now().max(at_least)
    }

    /// The living session with the id that a client presents. This does not count as a use of it.
    pub async fn find(&self, presented: &SessionId) -> Result<Option<Arc<Session>>> {
        let id = presented.hash();
        if let Some(session) = self.believed.get(&id) {
            return Ok(self.living(session));
        }
        let Some(session) = self.store.find(id).await? else {
            return Ok(None);
        };
        Ok(self.living(self.remember(session)))
    }

    /// The session with the id that a client presents, be it over or not, if that is known without asking the store.
    pub(crate) fn believed(&self, presented: &SessionId) -> Option<Arc<Session>> {
        self.believed.get(&presented.hash())
    }

    /// The living session with this public name.
    pub async fn find_by_handle(&self, cx: &Context, handle: &str) -> Result<Option<Arc<Session>>> {
        let found = self.store.find_by_handle(cx, handle).await?;
        Ok(found.and_then(|it| self.living(Arc::new(it))))
    }

    /// The time when `session` was last used.
    pub fn last_accessed(&self, session: &Session) -> DateTime<Utc> {
        self.uses
            .get(&session.id)
            .and_then(|it| DateTime::from_timestamp_millis(it.last.load(Ordering::Relaxed)))
            .map_or(session.last_accessed, |it| it.max(session.last_accessed))
    }

    /// Counts a use of `session` now: its time begins anew.
    pub fn touch(&self, session: &Session) {
        let now = self.now();
        let millis = now.timestamp_millis();
        let known = self.use_of(session);
        known.last.fetch_max(millis, Ordering::Relaxed);
        let written = known.written.load(Ordering::Relaxed);
        let step = session.max_inactive.num_milliseconds() / WRITES_PER_TIMEOUT;
        if millis.saturating_sub(written) < step {
            return;
        }
        let is_mine = known
            .written
            .compare_exchange(written, millis, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok();
        let touch = Touch {
            id: session.id,
            at: now,
        };
        if is_mine && self.touches.try_send(touch).is_err() {
            // The queue is full: the next use tries again.
            known.written.store(written, Ordering::Relaxed);
        }
    }

    /// Keeps a new session in the unit of work of `cx`.
    pub async fn create(&self, cx: &Context, session: &Session) -> Result<()> {
        let most = u64::try_from(self.settings.per_user).unwrap_or(u64::MAX);
        let ended = self.store.create(cx, session, most).await?;
        for id in ended {
            self.forget(id);
        }
        Ok(())
    }

    /// Ends the session `id` in the unit of work of `cx`; answers whether there was one.
    pub async fn end(&self, cx: &Context, id: IdHash) -> Result<bool> {
        let was_there = self.store.end(cx, id).await?;
        self.forget(id);
        Ok(was_there)
    }

    /// Ends all sessions of a user, but the one with the handle `but`, in the unit of work of `cx`: after a change of
    /// the password, or when the account is disabled, deleted or less than it was.
    pub async fn end_all_of_user(
        &self,
        cx: &Context,
        user_id: &str,
        but: Option<&str>,
    ) -> Result<()> {
        let ended = self.store.end_all_of_user(cx, user_id, but).await?;
        for id in ended {
            self.forget(id);
        }
        Ok(())
    }

    /// Ends the sessions of all users whose credentials changed, in the unit of work of `cx` that tells so
    /// by `events`.
    pub async fn follow(&self, cx: &Context, events: &[Event]) -> Result<()> {
        for event in events.iter().filter(|it| it.kind == CREDENTIALS) {
            if let Some(user) = event.reference.strip_prefix("/user/") {
                // Whoever changes their own password goes on where they did.
                let is_own = cx.caller().user_id() == Some(user);
                let own = cx.caller().session.as_deref().filter(|_| is_own);
                self.end_all_of_user(cx, user, own).await?;
            }
        }
        Ok(())
    }

    /// Sets an attribute of a session or of one of its sub-sessions; null removes it.
    ///
    /// # Errors
    /// The session holds too much, or the store can't be reached.
    pub async fn set_attribute(
        &self,
        cx: &Context,
        session: &Session,
        area: Area,
        name: &str,
        value: serde_json::Value,
    ) -> Result<()> {
        let Some(kept) = self.store.find_by_handle(cx, &session.handle).await? else {
            return Ok(());
        };
        let mut attributes = kept.attributes;
        attributes.set(area, name, value);
        self.store
            .keep_attributes(cx, session.id, &attributes)
            .await?;
        self.forget(session.id);
        Ok(())
    }

    /// Removes sessions that are over at `now` from the store, a bounded number at a time.
    pub async fn sweep(&self, now: DateTime<Utc>) -> Result<u64> {
        self.store.remove_expired(now, self.max_lifetime()).await
    }

    /// Asks the store about `id` from now on, until the unit of work that changes it is over.
    fn forget(&self, id: IdHash) {
        self.suspected.insert(id, ());
        self.believed.invalidate(&id);
    }

    fn remember(&self, session: Session) -> Arc<Session> {
        let session = Arc::new(session);
        let id = session.id;
        if !self.suspected.contains_key(&id) {
            self.believed.insert(id, Arc::clone(&session));
            // It may have been ended between the question and the insertion.
            if self.suspected.contains_key(&id) {
                self.believed.invalidate(&id);
            }
        }
        session
    }

    /// `session`, unless it is over.
    pub(crate) fn living(&self, session: Arc<Session>) -> Option<Arc<Session>> {
        let last_accessed = self.last_accessed(&session);
        let is_over = session.is_over(self.now(), last_accessed, self.max_lifetime());
        (!is_over).then_some(session)
    }

    fn use_of(&self, session: &Session) -> Arc<Use> {
        self.uses.get_with(session.id, || {
            let known = session.last_accessed.timestamp_millis();
            Arc::new(Use {
                last: AtomicI64::new(known),
                written: AtomicI64::new(known),
            })
        })
    }
}

impl Task for TouchWriter {
    const NAME: &'static str = "touches";

    /// Writes until the sessions are gone and the queue is empty.
    async fn run(&mut self) {
        let mut batch = Vec::with_capacity(BATCH);
        while self.touches.recv_many(&mut batch, BATCH).await > 0 {
            if let Err(error) = self.store.touch(&batch).await {
                tracing::warn!(%error, count = batch.len(), "could not write down the use of sessions");
            }
            batch.clear();
        }
    }

    fn is_over(&self) -> bool {
        self.touches.is_closed() && self.touches.is_empty()
    }
}

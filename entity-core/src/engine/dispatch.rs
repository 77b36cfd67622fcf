//! The dispatcher: finds the operation that a request asks for, runs it in one unit of work and commits.

use std::sync::Arc;

use async_trait::async_trait;
use futures::future::BoxFuture;

use crate::contract::access::{Caller, Need};
use crate::contract::blob::{Room, Target};
use crate::contract::context::{Context, Shared};
use crate::contract::event::{Audit, EventSink};
use crate::contract::html::LongTexts;
use crate::contract::look_up::{find, perform};
use crate::contract::operation::{Operation, is_public_action};
use crate::contract::preconditions::Preconditions;
use crate::contract::prepare::Preparation;
use crate::contract::registry::{Call, Registry, Route};
use crate::contract::reply::{Body, Reply};
use crate::contract::turn::{Turn, Turns};
use crate::engine::atomic::Atomic;
use crate::engine::hold::{Hold, Holders, WriteLimit};
use crate::engine::leads;
use crate::engine::menu;
use crate::engine::options;
use crate::engine::rehearsal;
use crate::engine::zone;
use crate::words::error::{Error, ErrorKind, Result};
use crate::words::path::DirectPath;
use crate::words::unit::{End, Mode, Store};
use crate::{
    contract::request::{Origin, Request},
    words::verb::Verb,
};

/// The maximum number of attempts at a unit of work that fails with a transient error, such as a lost race.
const TRIES: u32 = 4;

/// Runs requests, each in a unit of work. A service has one dispatcher, which all its parts share.
#[derive(Clone)]
pub struct Dispatcher {
    registry: Arc<Registry>,
    store: Arc<dyn Store>,
    pub(crate) sink: Arc<dyn EventSink>,
    shared: Arc<Shared>,
    limit: Option<WriteLimit>,
    turns: Option<Arc<dyn Turns>>,
    holders: Holders,
}

/// A hook that runs in the unit of work of a writing request, before the commit, and can still reject the request.
#[async_trait]
pub trait Finish: Send + Sync {
    /// Inspects the reply before anything is committed, and may write in the same unit of work. Returns the entry for
    /// the audit log.
    ///
    /// # Errors
    /// Returns an error if the request must not be carried out; nothing is written then.
    async fn finish(&self, cx: &Context, reply: &Reply) -> Result<Audit>;
}

/// The [`Finish`] hook that rejects nothing.
struct Unconditional;

#[async_trait]
impl Finish for Unconditional {
    async fn finish(&self, _cx: &Context, reply: &Reply) -> Result<Audit> {
        Ok(reply.effect.clone().into())
    }
}

impl Dispatcher {
    /// Creates a dispatcher that has no write limit and no turns.
    pub fn new(
        registry: Arc<Registry>,
        store: Arc<dyn Store>,
        sink: Arc<dyn EventSink>,
        shared: impl Into<Arc<Shared>>,
    ) -> Self {
        Self {
            registry,
            store,
            sink,
            shared: shared.into(),
            limit: None,
            turns: None,
            holders: Holders::default(),
        }
    }

    /// Limits the time for which each unit of work may hold the right to write. With `None`, that time is unlimited.
    #[must_use]
    pub fn with_write_limit(mut self, limit: Option<WriteLimit>) -> Self {
        self.limit = limit;
        self
    }

    /// Lets `turns` decide when each unit of work may write. With `None`, units of work wait for the store in the order
    /// in which they arrive.
    #[must_use]
    pub fn with_turns(mut self, turns: Option<Arc<dyn Turns>>) -> Self {
        self.turns = turns;
        self
    }

    /// Returns the registry of providers.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Returns the units of work that hold the right to write.
    pub fn holders(&self) -> &Holders {
        &self.holders
    }

    /// Returns what all units of work share, such as the clock and the authorizer.
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Refuses a caller without a session, unless `path` and `verb` select an operation that is declared public. This
    /// is called before anything else about the request is examined, so that the response reveals nothing to strangers:
    /// where there is no operation at all, they get the same error. An address that has a public operation, but none
    /// for `verb`, tells them its verbs, and a public one whose arguments are missing tells them which.
    ///
    /// # Errors
    /// Returns an error if the caller is not logged in and the operation is not public.
    pub fn admit(&self, path: &DirectPath, verb: Verb, caller: &Caller) -> Result<()> {
        if !caller.is_anonymous() {
            return Ok(());
        }
        let Some(route) = self.registry.route(&path.prefix) else {
            return Err(Error::unauthenticated());
        };
        let is_open = |verb: Verb| {
            let found = Operation::find(route, path, verb);
            found.is_ok_and(|it| it.need.is_some_and(Need::is_public))
        };
        match Operation::find(route, path, verb) {
            Ok(_) if is_open(verb) => Ok(()),
            // Where strangers may read, they are told by which verbs.
            Err(error)
                if error.kind() == ErrorKind::MethodNotAllowed
                    && Verb::ALL.into_iter().any(is_open) =>
            {
                Err(error)
            }
            // What is missing in the address of something public is said: it tells nothing of what is stored.
            Err(error)
                if error.kind() == ErrorKind::BadRequest
                    && is_public_action(route, &path.segments, verb) =>
            {
                Err(error)
            }
            _ => Err(Error::unauthenticated()),
        }
    }

    /// Runs `request` and returns its reply. By then, everything that the request wrote is committed together with its
    /// events. What a dry run wrote is rolled back.
    ///
    /// # Errors
    /// Returns an error if the request is wrong or the service fails. Nothing was written then, unless the code of the
    /// error is [`OUTCOME_UNKNOWN`](crate::engine::OUTCOME_UNKNOWN).
    pub async fn dispatch(&self, request: &Request) -> Result<Reply> {
        self.dispatch_and(request, &Unconditional).await
    }

    /// Runs `request` as [`dispatch`](Self::dispatch) does and, if the request writes, calls `finish` before the
    /// commit.
    ///
    /// # Errors
    /// Fails as [`dispatch`](Self::dispatch) does. Also fails as `finish` does, and nothing was written then.
    pub async fn dispatch_and(&self, request: &Request, finish: &dyn Finish) -> Result<Reply> {
        // What leads nowhere does not wait for the right to write.
        find(&self.registry, request)?;
        if request.verb.is_safe() {
            let cx = self.begin(&request.origin, Mode::Read).await?;
            return self.run(&cx, request).await;
        }
        let preparation = self.prepare(request).await?;
        let mut tries = 1;
        loop {
            let mode = mode_of(tries);
            match self.try_request(request, &preparation, finish, mode).await {
                Err(error) if error.is_transient() && tries < TRIES => tries += 1,
                done => return done,
            }
            self.catch_up(&request.origin, &preparation).await?;
        }
    }

    async fn try_request(
        &self,
        request: &Request,
        preparation: &Preparation,
        finish: &dyn Finish,
        mode: Mode,
    ) -> Result<Reply> {
        let mut atomic = self.unit(&request.origin, mode).await?;
        let done = atomic.run(request, preparation.clone(), finish).await;
        let end = match request.is_dry_run {
            true => End::GiveUp,
            false => End::Keep,
        };
        atomic.end(done, end).await
    }

    /// Does the slow work for `request` before a unit of work opens for it: sanitises its long HTML and does the work
    /// that its type [declares](crate::engine::Prepare), once it is clear that the caller may do what the request asks for.
    /// Returns an empty preparation if there is no such work.
    ///
    /// # Errors
    /// Returns an error if the request is wrong or the service fails.
    pub async fn prepare(&self, request: &Request) -> Result<Preparation> {
        let (route, operation) = find(&self.registry, request)?;
        let texts = self.texts_of(route, request);
        if request.verb.is_safe() || (route.ahead.work.is_none() && !texts.misses_some()) {
            return Ok(Preparation::default());
        }
        let caller = &request.origin.caller;
        let Some(check) = operation.check else {
            self.admit(&request.path, request.verb, caller)?;
            texts.catch_up(&self.shared, caller).await?;
            return Ok(Preparation::of(texts));
        };
        let ahead = Preparation::of(LongTexts::ahead());
        let (fields, raw) = {
            // Given back before the work begins, so that it keeps nobody else from reading.
            let mut cx = self.begin(&request.origin, Mode::Read).await?;
            cx.turn_to(&request.origin, ahead.clone());
            let call = operation.call(&self.registry, route, request);
            let fields = check(&cx, call, operation.need).await?;
            let raw = match route.ahead.work {
                Some((look, _work)) => look(&cx, call.id, &fields).await?,
                None => None,
            };
            (fields, raw)
        };
        texts.note_missed_by(&ahead.texts);
        texts.catch_up(&self.shared, caller).await?;
        // A text that is refused is told of before other work is done.
        texts.sanitize(&self.shared, (route.prefix, route.schema), fields, None)?;
        let made = match (route.ahead.work, raw) {
            (Some((_look, work)), Some(raw)) => Some(work(Arc::clone(&self.shared), raw).await?),
            _ => None,
        };
        Ok(Preparation::of(texts).and(made))
    }

    /// Checks whether the caller of `request` may do what it asks for, as if it arrived now, without doing it. The
    /// preconditions of the request on the state of an entity are ignored.
    ///
    /// # Errors
    /// Returns an error if the caller may not do it, or if the target of the request does not exist or the caller may
    /// not know of it.
    pub async fn permit(&self, request: &Request) -> Result<()> {
        let (route, operation) = find(&self.registry, request)?;
        let caller = &request.origin.caller;
        let Some(permit) = operation.permit else {
            return self.admit(&request.path, request.verb, caller);
        };
        let mut cx = self.begin(&request.origin, Mode::Read).await?;
        cx.turn_to(&request.origin, Preparation::of(LongTexts::ahead()));
        let call = Call {
            preconditions: &Preconditions::default(),
            ..operation.call(&self.registry, route, request)
        };
        let permitted = permit(&cx, call, operation.need).await;
        permitted
            .map(|_fields| ())
            .map_err(|error| operation.told(caller, error))
    }

    /// Returns the room for the files of `request`: that which its type [has](crate::blob::Receive::room), and that of its
    /// account. Called before the files are received, with the fields that came before them.
    ///
    /// # Errors
    /// Returns an error if the request is wrong, if the caller may not do what it asks for, or if it takes no files.
    pub async fn room(&self, request: &Request) -> Result<Room> {
        let (route, operation) = find(&self.registry, request)?;
        let (Some(receive), Some(permit)) = (route.receive, operation.permit) else {
            return Err(Error::bad_request("this address takes no files"));
        };
        let caller = &request.origin.caller;
        let mut cx = self.begin(&request.origin, Mode::Read).await?;
        cx.turn_to(&request.origin, Preparation::of(LongTexts::ahead()));
        let call = Call {
            preconditions: &Preconditions::default(),
            ..operation.call(&self.registry, route, request)
        };
        let (id, arguments) = (call.id, call.arguments);
        let permitted = permit(&cx, call, operation.need).await;
        let fields = permitted.map_err(|error| operation.told(caller, error))?;
        let target = Target {
            id,
            arguments,
            fields: &fields,
        };
        let mut room = (receive.room)(&cx, target).await?;
        #[cfg(feature = "sea-orm")]
        {
            room.account = crate::db::blobs::account_room(&cx).await?;
        }
        Ok(room)
    }

    /// Sanitises the long HTML of `request` without checking whether the caller may send it. For a request whose
    /// permission depends on the requests that run before it in the same unit of work.
    ///
    /// # Errors
    /// Returns an error if nothing handles the path and verb of `request`, or if too many texts are waiting to be
    /// sanitised.
    pub async fn prepare_unseen(&self, request: &Request) -> Result<Preparation> {
        let (route, _operation) = find(&self.registry, request)?;
        let texts = self.texts_of(route, request);
        texts.catch_up(&self.shared, &request.origin.caller).await?;
        Ok(Preparation::of(texts))
    }

    fn texts_of(&self, route: &Route, request: &Request) -> LongTexts {
        let texts = LongTexts::default();
        if !request.verb.is_safe() && route.has_html() {
            let of = (route.prefix, route.schema);
            texts.note(&self.shared, of, &request.input);
        }
        texts
    }

    /// Sanitises the long HTML that a unit of work came across and that could not be known before, so that the unit of
    /// work can run again.
    ///
    /// # Errors
    /// Returns an error if too many texts are waiting to be sanitised.
    pub async fn catch_up(&self, origin: &Origin, preparation: &Preparation) -> Result<()> {
        let texts = &preparation.texts;
        texts.catch_up(&self.shared, &origin.caller).await
    }

    /// Begins a unit of work for several requests, which are committed all together or not at all.
    ///
    /// # Errors
    /// Returns an error if the turn to write does not come, or if the store can't begin a unit of work.
    pub async fn atomic(&self, origin: &Origin) -> Result<Atomic<'_>> {
        self.unit(origin, Mode::Write).await
    }

    async fn unit(&self, origin: &Origin, mode: Mode) -> Result<Atomic<'_>> {
        let turn = match &self.turns {
            Some(turns) => turns.wait(origin, mode == Mode::Share).await?,
            None => Turn::free(),
        };
        // Nobody waits for another one who has no limit.
        let is_shared = mode == Mode::Share && turn.is_shared() && self.limit.is_some();
        let mode = match (is_shared, turn.is_awaited()) {
            (true, true) => Mode::Share,
            (true, false) => Mode::Join,
            (false, _) => Mode::Write,
        };
        let cx = self.begin(origin, mode).await?;
        let (limit, is_joined) = (self.limit.as_ref(), cx.unit.is_joined());
        let hold = Hold::begin(limit, is_joined, origin, &self.holders);
        Ok(Atomic::new(self, cx, hold, turn))
    }

    /// Runs `request` in the unit of work of `cx`. If the reply forwards to another path, returns the reply of that
    /// path.
    pub(crate) async fn run(&self, cx: &Context, request: &Request) -> Result<Reply> {
        run(&self.registry, cx, request).await
    }

    /// Runs `request`, which is given up, in the unit of work of `cx`, and answers what its caller could know before.
    pub(crate) async fn rehearse(&self, cx: &Context, request: &Request) -> Result<Reply> {
        let for_nobody = Request {
            wants_abilities: false,
            ..request.clone()
        };
        let reply = self.run(cx, &for_nobody).await?;
        let before = self.begin(&request.origin, Mode::Read).await?;
        if request.verb.is_safe()
            && let Ok(read) = self.run(&before, request).await
        {
            return Ok(read);
        }
        rehearsal::told(&before, &self.registry, &request.input, reply).await
    }

    /// Runs `work` in a unit of work that can only read.
    ///
    /// # Errors
    /// Fails as `work` does, and when the store can't be reached.
    pub async fn read<T>(
        &self,
        origin: &Origin,
        work: impl for<'a> FnOnce(&'a Context) -> BoxFuture<'a, Result<T>>,
    ) -> Result<T> {
        let cx = self.begin(origin, Mode::Read).await?;
        work(&cx).await
    }

    /// Runs `work` in one transaction and commits it with its events and its audit row.
    ///
    /// The future that `work` returns must own everything that it uses besides the context. Its output is the result
    /// and the entry for the audit log. `work` runs again when it fails with a transient error, such as a lost race
    /// against another transaction.
    ///
    /// # Errors
    /// Fails as `work` does, and when the store can't be reached. Nothing was written then, unless the code of the
    /// error is [`OUTCOME_UNKNOWN`](crate::engine::OUTCOME_UNKNOWN).
    pub async fn write<T, A, W>(&self, origin: &Origin, work: W) -> Result<T>
    where
        T: Send,
        A: Into<Audit> + Send,
        W: for<'a> Fn(&'a Context) -> BoxFuture<'a, Result<(T, A)>> + Send + Sync,
    {
        let preparation = Preparation::default();
        let mut tries = 1;
        loop {
            let mode = mode_of(tries);
            match self.try_write(origin, &preparation, &work, mode).await {
                Err(error) if error.is_transient() && tries < TRIES => tries += 1,
                done => return done,
            }
            self.catch_up(origin, &preparation).await?;
        }
    }

    async fn try_write<T, A, W>(
        &self,
        origin: &Origin,
        preparation: &Preparation,
        work: &W,
        mode: Mode,
    ) -> Result<T>
    where
        T: Send,
        A: Into<Audit> + Send,
        W: for<'a> Fn(&'a Context) -> BoxFuture<'a, Result<(T, A)>> + Send + Sync,
    {
        let mut atomic = self.unit(origin, mode).await?;
        atomic.turn_to(origin, preparation.clone());
        let done = match atomic.during(work).await {
            Ok((answer, audit)) => atomic.record(audit.into()).await.map(|()| answer),
            Err(error) => Err(error),
        };
        atomic.end(done, End::Keep).await
    }

    async fn begin(&self, origin: &Origin, mode: Mode) -> Result<Context> {
        let unit = self.store.begin(mode).await?;
        Ok(Context::new(Arc::clone(&self.shared), origin.clone(), unit))
    }
}

/// Returns the mode of the attempt number `tries`, counted from 1: only the first one may share a transaction with
/// other units of work.
fn mode_of(tries: u32) -> Mode {
    match tries {
        1 => Mode::Share,
        _ => Mode::Write,
    }
}

async fn run(registry: &Registry, cx: &Context, request: &Request) -> Result<Reply> {
    let mut reply = perform(registry, cx, request).await?;
    if request.wants_abilities {
        let site = menu::site(cx, registry, request, &reply).await?;
        leads::add(cx, registry, site.as_deref(), &mut reply).await?;
        options::add(cx, registry, &request.query, &mut reply.body).await?;
        let is_home = matches!(&reply.body, Body::Entity(it) if it.prefix() == "site");
        menu::add(cx, registry, site, is_home, &mut reply.abilities).await?;
        reply.abilities.zone = zone::of(cx).await?;
    }
    Ok(reply)
}

impl std::fmt::Debug for Dispatcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dispatcher")
            .field("registry", &self.registry)
            .finish_non_exhaustive()
    }
}

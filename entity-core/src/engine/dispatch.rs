//! The dispatcher: finds the operation that a request asks for, runs it in one unit of work and commits.

use std::sync::Arc;

use async_trait::async_trait;
use futures::future::BoxFuture;
use serde_json::Value;

use crate::contract::access::{Caller, Need};
use crate::contract::blob::{Room, Target};
use crate::contract::context::{Context, Shared};
use crate::contract::event_sink::{Audit, EventSink};
use crate::contract::html;
use crate::contract::input::Fields;
use crate::contract::look_up::{find, perform};
use crate::contract::operation::{Operation, is_public_action};
use crate::contract::preparation::Preparation;
use crate::contract::registry::Registry;
use crate::contract::reply::{Body, Reply};
use crate::contract::write_queue::{WritePermit, WriteQueue};
use crate::engine::atomic::Atomic;
use crate::engine::leads;
use crate::engine::menu;
use crate::engine::options;
use crate::engine::rehearsal;
use crate::engine::write_timeout::{Holders, WriteLimit, WriteTimeout};
use crate::engine::zone;
use crate::model::lines::structures;
use crate::primitives::error::{Error, ErrorKind, Result};
use crate::primitives::path::DirectPath;
use crate::primitives::unit::{Mode, Store};
use crate::{contract::origin::Origin, contract::request::Request, primitives::verb::Verb};

/// The maximum number of attempts at a unit of work that fails with a transient error, such as a lost race.
const TRIES: u32 = 4;

/// Runs requests, each in a unit of work. A service has one dispatcher, which all its parts share.
#[derive(derive_more::Debug, Clone)]
#[debug("Dispatcher {{ registry: {:?} }}", self.registry)]
pub struct Dispatcher {
    registry: Arc<Registry>,
    store: Arc<dyn Store>,
    pub(crate) sink: Arc<dyn EventSink>,
    shared: Arc<Shared>,
    limit: Option<WriteLimit>,
    write_queue: Option<Arc<dyn WriteQueue>>,
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
            write_queue: None,
            holders: Holders::default(),
        }
    }

    /// Limits the time for which each unit of work may hold the right to write. With `None`, that time is unlimited.
    #[must_use]
    pub fn with_write_limit(mut self, limit: Option<WriteLimit>) -> Self {
        self.limit = limit;
        self
    }

    /// Lets `write_queue` decide when each unit of work may write. With `None`, units of work wait for the store in the
    /// order in which they arrive.
    #[must_use]
    pub fn with_write_queue(mut self, write_queue: Option<Arc<dyn WriteQueue>>) -> Self {
        self.write_queue = write_queue;
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
        // A request without a route does not wait for the permit to write.
        find(&self.registry, request)?;
        if request.verb.is_safe() {
            let cx = self.begin(&request.origin, Mode::Read).await?;
            return self.run(&cx, request).await;
        }
        let preparation = self.prepare(request).await?;
        let mut tries = 1;
        loop {
            let attempt = async {
                let mut atomic = self.unit(&request.origin, false).await?;
                let reply = atomic.run(request, preparation.clone(), finish).await?;
                if !request.is_dry_run {
                    atomic.commit().await?;
                }
                Ok::<_, Error>(reply)
            };
            match attempt.await {
                Err(error) if error.is_transient() && tries < TRIES => tries += 1,
                done => return done,
            }
        }
    }

    /// Does the slow work for `request` before a unit of work opens for it: sanitises the long texts in its body, and does the
    /// work of its type at the [edge](crate::engine::Edge). Returns an empty preparation if there is none, and where nothing
    /// handles the request.
    ///
    /// # Errors
    /// Returns an error if the caller is not logged in and the operation is not public, if too much of such work is waiting,
    /// or if the type refuses the request.
    pub async fn prepare(&self, request: &Request) -> Result<Preparation> {
        let Ok((route, operation)) = find(&self.registry, request) else {
            return Ok(Preparation::default());
        };
        let (origin, input) = (&request.origin, &request.input);
        let said = input.said();
        if request.verb.is_safe() || said.is_empty() {
            return Ok(Preparation::default());
        }
        self.admit(&request.path, request.verb, &origin.caller)?;
        let mut preparation = Preparation::default();
        let fields = || {
            let fields = said.iter();
            Fields(fields.map(|it| (it.0.to_owned(), it.1.clone())).collect())
        };
        // An action may make entities of another type.
        if route.has_html() || operation.answers.is_some() {
            let mut made: Vec<Value> = Vec::new();
            if input.is_form {
                made.extend(said.iter().flat_map(|it| structures(it.1)));
            }
            if let Some(texts) = operation.texts {
                made.extend(texts(&fields()).into_iter().map(Value::from));
            }
            let values = said.iter().map(|it| it.1).chain(&made);
            let texts = values.flat_map(html::texts).collect();
            preparation = self.sanitize(origin, texts).await?;
        }
        if let Some(edge) = route.edge {
            // Given back before the work begins, so that it keeps nobody else from reading.
            let work = {
                let cx = self.begin(origin, Mode::Read).await?;
                edge(&cx, operation.id, &fields()).await?
            };
            if let Some(work) = work {
                preparation.made = Some(work.await?);
            }
        }
        Ok(preparation)
    }

    /// Sanitises the long texts in `body`, the data that an endpoint takes, before a unit of work opens for it.
    ///
    /// # Errors
    /// Returns an error if too many texts are waiting to be sanitised.
    pub async fn prepare_texts(&self, origin: &Origin, body: &Value) -> Result<Preparation> {
        self.sanitize(origin, html::texts(body)).await
    }

    async fn sanitize(&self, origin: &Origin, texts: Vec<&str>) -> Result<Preparation> {
        let texts = html::sanitize_apart(&self.shared, &origin.caller, texts).await?;
        Ok(Preparation {
            texts: Arc::new(texts),
            made: None,
        })
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
        let cx = self.begin(&request.origin, Mode::Read).await?;
        let call = operation.call(&self.registry, route, request);
        let permitted = permit(&cx, call).await;
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
        let cx = self.begin(&request.origin, Mode::Read).await?;
        let call = operation.call(&self.registry, route, request);
        let (id, arguments) = (call.id, call.arguments);
        let permitted = permit(&cx, call).await;
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

    /// Begins a unit of work for several requests, which are committed all together or not at all.
    ///
    /// # Errors
    /// Returns an error if the turn to write does not come, or if the store can't begin a unit of work.
    pub async fn atomic(&self, origin: &Origin) -> Result<Atomic<'_>> {
        self.unit(origin, true).await
    }

    async fn unit(&self, origin: &Origin, is_batch: bool) -> Result<Atomic<'_>> {
        let permit = match &self.write_queue {
            Some(write_queue) => write_queue.wait(origin, is_batch).await?,
            None => WritePermit::free(),
        };
        let cx = self.begin(origin, Mode::Write).await?;
        let timeout = WriteTimeout::begin(self.limit.as_ref(), origin, &self.holders);
        Ok(Atomic::new(self, cx, timeout, permit))
    }

    /// Runs `request` in the unit of work of `cx`. If the reply forwards to another path, returns the reply of that
    /// path.
    pub(crate) async fn run(&self, cx: &Context, request: &Request) -> Result<Reply> {
        run(&self.registry, cx, request).await
    }

    /// Runs `request`, which is given up, in the unit of work of `cx`, and answers what its caller could know before.
    pub(crate) async fn rehearse(&self, cx: &Context, request: &Request) -> Result<Reply> {
        let for_nobody = Request {
            wants_allowed_actions: false,
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
        self.write_prepared(origin, &Preparation::default(), work)
            .await
    }

    /// Runs `work` as [`write`](Self::write) does, with what was done for it at the edge.
    ///
    /// # Errors
    /// Fails as [`write`](Self::write) does.
    pub async fn write_prepared<T, A, W>(
        &self,
        origin: &Origin,
        preparation: &Preparation,
        work: W,
    ) -> Result<T>
    where
        T: Send,
        A: Into<Audit> + Send,
        W: for<'a> Fn(&'a Context) -> BoxFuture<'a, Result<(T, A)>> + Send + Sync,
    {
        let mut tries = 1;
        loop {
            let attempt = async {
                let mut atomic = self.unit(origin, false).await?;
                atomic.reset_for(origin, preparation.clone());
                let (answer, audit) = atomic.during(&work).await?;
                atomic.record(audit.into()).await?;
                atomic.commit().await?;
                Ok::<_, Error>(answer)
            };
            match attempt.await {
                Err(error) if error.is_transient() && tries < TRIES => tries += 1,
                done => return done,
            }
        }
    }

    async fn begin(&self, origin: &Origin, mode: Mode) -> Result<Context> {
        let unit = self.store.begin(mode).await?;
        Ok(Context::new(Arc::clone(&self.shared), origin.clone(), unit))
    }
}

async fn run(registry: &Registry, cx: &Context, request: &Request) -> Result<Reply> {
    let mut reply = perform(registry, cx, request).await?;
    if request.wants_allowed_actions {
        let site = menu::site(cx, registry, request, &reply).await?;
        let about = (site.as_deref(), &*request.query);
        leads::add(cx, registry, about, &mut reply).await?;
        options::add(cx, registry, &request.query, &mut reply.body).await?;
        let is_home = matches!(&reply.body, Body::Entity(it) if it.prefix() == "site");
        menu::add(cx, registry, site, is_home, &mut reply.allowed_actions).await?;
        reply.allowed_actions.zone = zone::of(cx).await?;
    }
    Ok(reply)
}

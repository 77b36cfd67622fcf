//! Request → Reply: finds the operation, runs it in one unit of work, commits.

use std::sync::Arc;

use futures::future::BoxFuture;

use crate::context::{Context, Shared};
use crate::error::{Error, Result};
use crate::event::EventSink;
use crate::path::DirectPath;
use crate::registry::{ActionRoute, Call, Registry, Route};
use crate::reply::{Body, Effect, Reply};
use crate::request::{Origin, Request, Verb};
use crate::unit::{Mode, Store};

/// How often a unit of work that lost a race is run, at most.
const TRIES: u32 = 4;

/// Runs requests. One for a service, shared by everything that serves.
#[derive(Clone)]
pub struct Dispatcher {
    registry: Arc<Registry>,
    store: Arc<dyn Store>,
    sink: Arc<dyn EventSink>,
    shared: Shared,
}

impl Dispatcher {
    /// A dispatcher of these parts.
    pub fn new(
        registry: Arc<Registry>,
        store: Arc<dyn Store>,
        sink: Arc<dyn EventSink>,
        shared: Shared,
    ) -> Self {
        Self {
            registry,
            store,
            sink,
            shared,
        }
    }

    /// What is registered.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// What its units of work share.
    pub fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Answers `request`. What it wrote is committed, together with its events, when this returns.
    ///
    /// # Errors
    /// Whatever is wrong with the request or with the service. Nothing was written then.
    pub async fn dispatch(&self, request: &Request) -> Result<Reply> {
        let reply = self.dispatch_once(request).await?;
        let Body::Forward(path) = reply.body else {
            return Ok(reply);
        };
        let forwarded = Request {
            path,
            ..request.clone()
        };
        match self.dispatch_once(&forwarded).await? {
            Reply {
                body: Body::Forward(_),
                ..
            } => Err(Error::internal("an action forwards to one that forwards")),
            reply => Ok(reply),
        }
    }

    async fn dispatch_once(&self, request: &Request) -> Result<Reply> {
        let route = self
            .registry
            .route(&request.path.prefix)
            .ok_or_else(Error::not_found)?;
        let operation = Operation::find(route, &request.path, request.verb)?;
        if request.verb.is_safe() {
            let cx = self.begin(&request.origin, Mode::Read).await?;
            return operation.run(&cx, route, request).await;
        }
        let mut tries = 1;
        loop {
            match self.try_operation(&operation, route, request).await {
                Err(error) if error.is_transient() && tries < TRIES => tries += 1,
                done => return done,
            }
        }
    }

    async fn try_operation(
        &self,
        operation: &Operation<'_>,
        route: &Route,
        request: &Request,
    ) -> Result<Reply> {
        let cx = self.begin(&request.origin, Mode::Write).await?;
        let reply = operation.run(&cx, route, request).await?;
        self.commit(cx, reply.effect.clone()).await?;
        Ok(reply)
    }

    /// Runs `work` on data that it can't change.
    ///
    /// # Errors
    /// Those of `work`, and that the store can't be reached.
    pub async fn read<T>(
        &self,
        origin: &Origin,
        work: impl for<'a> FnOnce(&'a Context) -> BoxFuture<'a, Result<T>>,
    ) -> Result<T> {
        let cx = self.begin(origin, Mode::Read).await?;
        work(&cx).await
    }

    /// Runs `work` in one transaction and commits it with its events and its audit row.
    /// What `work` uses it owns or clones into the future that it answers.
    /// `work` answers what it did; it is run again when it lost a race against another transaction.
    ///
    /// # Errors
    /// Those of `work`, and that the store can't be reached. Nothing was written then.
    pub async fn write<T, W>(&self, origin: &Origin, work: W) -> Result<T>
    where
        T: Send,
        W: for<'a> Fn(&'a Context) -> BoxFuture<'a, Result<(T, Effect)>> + Send + Sync,
    {
        let mut tries = 1;
        loop {
            match self.try_write(origin, &work).await {
                Err(error) if error.is_transient() && tries < TRIES => tries += 1,
                done => return done,
            }
        }
    }

    async fn try_write<T, W>(&self, origin: &Origin, work: &W) -> Result<T>
    where
        T: Send,
        W: for<'a> Fn(&'a Context) -> BoxFuture<'a, Result<(T, Effect)>> + Send + Sync,
    {
        let cx = self.begin(origin, Mode::Write).await?;
        let (answer, effect) = work(&cx).await?;
        self.commit(cx, effect).await?;
        Ok(answer)
    }

    /// Stores the events and the audit row, makes everything durable, then tells the followers.
    async fn commit(&self, cx: Context, effect: Effect) -> Result<()> {
        let events = cx.events();
        self.sink.record(&cx, &events, effect).await?;
        cx.unit.commit().await?;
        self.sink.published(&events);
        Ok(())
    }

    async fn begin(&self, origin: &Origin, mode: Mode) -> Result<Context> {
        let unit = self.store.begin(mode).await?;
        Ok(Context::new(self.shared.clone(), origin.clone(), unit))
    }
}

impl std::fmt::Debug for Dispatcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dispatcher")
            .field("registry", &self.registry)
            .finish_non_exhaustive()
    }
}

/// What a path and a verb mean for a route.
#[derive(Clone)]
enum Operation<'a> {
    Plain(crate::registry::Run, &'a str),
    Action(&'a ActionRoute, &'a str, &'a [String]),
}

impl<'a> Operation<'a> {
    fn find(route: &'a Route, path: &'a DirectPath, verb: Verb) -> Result<Self> {
        if let Some(found) = find_action(route, &path.segments, verb)? {
            return Ok(found);
        }
        match path
            .segments
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .as_slice()
        {
            [] => choose(
                verb,
                &[(Verb::Get, route.list, ""), (Verb::Post, route.create, "")],
            ),
            ["new"] => choose(
                verb,
                &[
                    (Verb::Get, route.create_form, ""),
                    (Verb::Post, route.create, ""),
                ],
            ),
            [id] => choose(
                verb,
                &[
                    (Verb::Get, route.read, id),
                    (Verb::Put, route.update, id),
                    (Verb::Post, route.update, id),
                    (Verb::Delete, route.delete, id),
                ],
            ),
            [id, "edit"] => choose(
                verb,
                &[
                    (Verb::Get, route.update, id),
                    (Verb::Put, route.update, id),
                    (Verb::Post, route.update, id),
                ],
            ),
            [id, "delete"] => choose(
                verb,
                &[
                    (Verb::Get, route.delete, id),
                    (Verb::Delete, route.delete, id),
                ],
            ),
            _ => Err(Error::not_found()),
        }
        .map(|(run, id)| Self::Plain(run, id))
    }

    fn run<'b>(
        &self,
        cx: &'b Context,
        route: &'b Route,
        request: &'b Request,
    ) -> BoxFuture<'b, Result<Reply>>
    where
        'a: 'b,
    {
        let call = |id, arguments| Call {
            route,
            verb: request.verb,
            id,
            arguments,
            query: &request.query,
            input: &request.input,
            if_match: request.if_match.as_ref(),
            wants_abilities: request.wants_abilities,
        };
        match *self {
            Self::Plain(run, id) => run(cx, call(id, &[])),
            Self::Action(action, id, arguments) => (action.run)(cx, call(id, arguments)),
        }
    }
}

/// The verbs that an address takes, for `OPTIONS`.
///
/// # Errors
/// There is nothing at this address.
pub fn allowed(registry: &Registry, path: &DirectPath) -> Result<Vec<Verb>> {
    let route = registry.route(&path.prefix).ok_or_else(Error::not_found)?;
    let allowed: Vec<Verb> = Verb::ALL
        .into_iter()
        .filter(|verb| Operation::find(route, path, *verb).is_ok())
        .collect();
    match allowed.is_empty() {
        true => Err(Error::not_found()),
        false => Ok(allowed),
    }
}

type Choice<'a> = (Verb, Option<crate::registry::Run>, &'a str);

fn choose<'a>(verb: Verb, choices: &[Choice<'a>]) -> Result<(crate::registry::Run, &'a str)> {
    let chosen = choices
        .iter()
        .find(|it| it.0 == verb)
        .and_then(|it| Some((it.1?, it.2)));
    match chosen {
        Some(found) => Ok(found),
        None => Err(Error::method_not_allowed(
            choices
                .iter()
                .filter(|it| it.1.is_some())
                .map(|it| it.0)
                .collect(),
        )),
    }
}

/// The action that `segments` name, on the collection first. A name that exists with other verbs only is
/// a wrong verb, unless the plain operation on an entity of that id takes this one.
fn find_action<'a>(
    route: &'a Route,
    segments: &'a [String],
    verb: Verb,
) -> Result<Option<Operation<'a>>> {
    let candidates: Vec<(&ActionRoute, &str, &[String])> = match segments {
        [name, arguments @ ..] if has_action(route, name, false) => named(route, name, false)
            .map(|it| (it, "", arguments))
            .collect(),
        [id, name, arguments @ ..] => named(route, name, true)
            .map(|it| (it, id.as_str(), arguments))
            .collect(),
        _ => Vec::new(),
    };
    if candidates.is_empty() {
        return Ok(None);
    }
    match candidates.iter().find(|(action, ..)| action.verb == verb) {
        Some((action, id, arguments)) if action.arguments.contains(&arguments.len()) => {
            Ok(Some(Operation::Action(action, id, arguments)))
        }
        Some((action, _, arguments)) if arguments.len() < *action.arguments.start() => {
            Err(Error::bad_request(format!(
                "the action `{}` needs more segments in the path",
                action.name
            )))
        }
        Some(_) => Err(Error::not_found()),
        None => Err(Error::method_not_allowed(
            candidates.iter().map(|(action, ..)| action.verb).collect(),
        )),
    }
}

fn has_action(route: &Route, name: &str, is_on_entity: bool) -> bool {
    named(route, name, is_on_entity).next().is_some()
}

fn named<'a>(
    route: &'a Route,
    name: &'a str,
    is_on_entity: bool,
) -> impl Iterator<Item = &'a ActionRoute> {
    route
        .actions
        .iter()
        .filter(move |it| it.name == name && it.is_on_entity == is_on_entity)
}

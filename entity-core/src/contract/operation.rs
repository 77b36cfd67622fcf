//! Resolves a path and a verb to an operation of a type: one of its plain operations, or one of its actions.

use futures::future::BoxFuture;

use crate::contract::access::{Caller, Need};
use crate::contract::action::{Answers, Argument, MakeTexts};
use crate::contract::blob::Reception;
use crate::contract::context::Context;
use crate::contract::registry::{ActionRoute, Call, Check, Registry, Route, Run};
use crate::contract::reply::{Body, Reply, Value};
use crate::primitives::error::{Error, ErrorKind, Result};
use crate::primitives::path::DirectPath;
use crate::{contract::request::Request, primitives::verb::Verb};

/// The operation that a path and a verb select on a route.
#[derive(Clone, Copy)]
pub(crate) struct Operation<'a> {
    run: &'a dyn RunCall,
    pub(crate) id: &'a str,
    arguments: &'a [String],
    pub(crate) need: Option<Need>,
    /// The check whether the caller may run the operation.
    pub(crate) permit: Option<Check>,
    /// The way in which the operation takes files, if it is an action that does.
    pub(crate) reception: Option<Reception>,
    /// Makes texts of the body, if the operation is an action that does.
    pub(crate) texts: Option<MakeTexts>,
    /// The kind of answer, if the operation is an action.
    pub(crate) answers: Option<Answers>,
    /// True if pages ask for something before they run the operation.
    is_asked: bool,
}

/// A plain operation or an action: something that can be called.
pub(crate) trait RunCall: Send + Sync {
    fn run<'a>(&'a self, cx: &'a Context, call: Call<'a>) -> BoxFuture<'a, Result<Reply>>;
}

impl RunCall for Run {
    fn run<'a>(&'a self, cx: &'a Context, call: Call<'a>) -> BoxFuture<'a, Result<Reply>> {
        self(cx, call)
    }
}

impl RunCall for ActionRoute {
    fn run<'a>(&'a self, cx: &'a Context, call: Call<'a>) -> BoxFuture<'a, Result<Reply>> {
        (self.run)(cx, call)
    }
}

impl<'a> Operation<'a> {
    pub(crate) fn find(route: &'a Route, path: &'a DirectPath, verb: Verb) -> Result<Self> {
        if let Some(found) = find_action(route, &path.segments, verb)? {
            return Ok(found);
        }
        let access = route.access;
        let read = |run| (Verb::Get, run, access.map(|it| it.read), None);
        let create = |verb, run| (verb, run, access.map(|it| it.create), route.permit_create);
        let update = |verb, run| (verb, run, access.map(|it| it.update), route.permit_update);
        let delete = |verb, run| (verb, run, access.map(|it| it.delete), None);
        let (list, item) = (route.list.as_ref(), route.read.as_ref());
        let (new, form) = (route.create.as_ref(), route.create_form.as_ref());
        let (change, remove) = (route.update.as_ref(), route.delete.as_ref());
        match path.segments.as_slice() {
            [] => choose(verb, "", &[read(list), create(Verb::Post, new)]),
            [word] if word == "new" => choose(
                verb,
                "",
                &[create(Verb::Get, form), create(Verb::Post, new)],
            ),
            [id] => choose(
                verb,
                id,
                &[
                    read(item),
                    update(Verb::Put, change),
                    update(Verb::Patch, change),
                    update(Verb::Post, change),
                    delete(Verb::Delete, remove),
                ],
            ),
            [id, word] if word == "edit" => choose(
                verb,
                id,
                &[
                    update(Verb::Get, change),
                    update(Verb::Put, change),
                    update(Verb::Post, change),
                ],
            ),
            [id, word] if word == "delete" => choose(
                verb,
                id,
                &[delete(Verb::Get, remove), delete(Verb::Delete, remove)],
            ),
            _ => Err(Error::not_found()),
        }
    }

    pub(crate) fn run<'b>(
        self,
        cx: &'b Context,
        registry: &'b Registry,
        route: &'b Route,
        request: &'b Request,
    ) -> BoxFuture<'b, Result<Reply>>
    where
        'a: 'b,
    {
        let call = self.call(registry, route, request);
        self.run.run(cx, call)
    }

    /// Converts `error` into the one that `caller` gets. Where only some entities are visible without a session, an
    /// anonymous caller is asked to log in for all others alike, whether they exist or not. A list still tells
    /// anonymous callers whether its site exists.
    pub(crate) fn told(&self, caller: &Caller, error: Error) -> Error {
        let is_concealed = self.need.is_some_and(|it| it.is_partly_public(caller));
        match error.kind() {
            ErrorKind::NotFound
                if is_concealed && !self.answers.is_some_and(Answers::are_a_list) =>
            {
                Error::unauthenticated()
            }
            _ => error,
        }
    }

    pub(crate) fn call<'b>(
        self,
        registry: &'b Registry,
        route: &'b Route,
        request: &'b Request,
    ) -> Call<'b>
    where
        'a: 'b,
    {
        Call {
            registry,
            route,
            verb: request.verb,
            need: self.need,
            id: self.id,
            arguments: self.arguments,
            query: &request.query,
            input: &request.input,
            preconditions: &request.preconditions,
            wants_allowed_actions: request.wants_allowed_actions,
        }
    }
}

/// Returns the verbs that an address supports, for `OPTIONS`.
///
/// # Errors
/// Returns an error if there is nothing at this address.
pub fn allowed(registry: &Registry, path: &DirectPath) -> Result<Vec<Verb>> {
    let route = registry.route(&path.prefix).ok_or_else(Error::not_found)?;
    match verbs(route, path) {
        none if none.is_empty() => Err(Error::not_found()),
        allowed => Ok(allowed),
    }
}

/// Returns the media types in which the address answers independently of the formats: those of an action that answers
/// with bytes, and none for anything else.
pub fn media_types(registry: &Registry, path: &DirectPath, verb: Verb) -> &'static [&'static str] {
    let found = registry.route(&path.prefix);
    match found.map(|it| Operation::find(it, path, verb)) {
        Some(Ok(Operation {
            answers: Some(Answers::Bytes(types)),
            ..
        })) => types,
        _ => &[],
    }
}

/// Returns whether an answer of the address that has no content is 200 and not 204, because its action
/// [declares](Answers::Done) that.
pub fn is_told_done(registry: &Registry, path: &DirectPath, verb: Verb) -> bool {
    let found = registry.route(&path.prefix);
    let found = found.and_then(|it| Operation::find(it, path, verb).ok());
    found.is_some_and(|it| matches!(it.answers, Some(Answers::Done)))
}

/// Returns whether pages show the answer of the address: data about what was sent through a form of its action, as the
/// action [asks](crate::Action::asks) for it.
pub fn is_shown(registry: &Registry, path: &DirectPath, verb: Verb) -> bool {
    let found = registry.route(&path.prefix);
    let found = found.and_then(|it| Operation::find(it, path, verb).ok());
    found.is_some_and(|it| it.is_asked && matches!(it.answers, Some(Answers::Value(_))))
}

/// Returns how the operation at the address takes files, if it does.
pub fn reception(registry: &Registry, path: &DirectPath, verb: Verb) -> Option<Reception> {
    if verb.is_safe() {
        return None;
    }
    let route = registry.route(&path.prefix)?;
    let operation = Operation::find(route, path, verb).ok()?;
    let is_form = operation.answers.is_none() && matches!(verb, Verb::Post | Verb::Put);
    let in_forms = route.receive.filter(|it| is_form && it.in_forms);
    operation.reception.or_else(|| {
        in_forms.map(|it| Reception {
            is_whole: false,
            most: it.most,
        })
    })
}

/// The meaning of the body of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// The fields of an entity: the address creates or changes one.
    Fields,
    /// Nothing: the address reads or deletes, or its type has no field that may be written.
    Nothing,
    /// Whatever the action makes of it, if there is one.
    Arguments,
}

/// Returns what the body of a request with `verb` to the address says.
pub fn content(registry: &Registry, path: &DirectPath, verb: Verb) -> Content {
    let found = registry
        .route(&path.prefix)
        .and_then(|it| Some((it, Operation::find(it, path, verb).ok()?)));
    match found {
        None
        | Some((
            _,
            Operation {
                answers: Some(_), ..
            },
        )) => Content::Arguments,
        Some(_) if verb.is_safe() || verb == Verb::Delete => Content::Nothing,
        Some((route, _)) => match route.schema.writable(true).next() {
            Some(_) => Content::Fields,
            None => Content::Nothing,
        },
    }
}

/// Returns an empty sample of a successful answer of the address, which shows in advance which formats can render the
/// answer. Returns `None` if the kind of answer is not declared or is bytes, or if there is nothing at the address.
pub fn sample(registry: &Registry, path: &DirectPath, verb: Verb) -> Option<Body> {
    let route = registry.route(&path.prefix)?;
    match Operation::find(route, path, verb).ok()?.answers {
        None => Some(plain_sample(route, &path.segments, verb)),
        Some(Answers::Unsaid | Answers::Bytes(_)) => None,
        Some(Answers::Nothing | Answers::Done) => Some(Body::Empty),
        Some(Answers::Entity | Answers::Created) => Some(route.sample_entity()),
        Some(Answers::EntityOf(other)) => registry.route(other).map(Route::sample_entity),
        Some(Answers::Collection) => Some(route.sample_list()),
        Some(Answers::CollectionOf(other)) => registry.route(other).map(Route::sample_list),
        Some(Answers::Value(_)) => Some(Body::Value(Value::sample())),
    }
}

fn plain_sample(route: &Route, segments: &[String], verb: Verb) -> Body {
    match (segments, verb) {
        ([], Verb::Get) => route.sample_list(),
        ([word], Verb::Get) if word == "new" => route.sample_form(),
        ([_, _], Verb::Get) => route.sample_form(),
        (_, Verb::Delete) => Body::Empty,
        _ => route.sample_entity(),
    }
}

/// Returns the verbs that `path` supports, which may be none.
pub(crate) fn verbs(route: &Route, path: &DirectPath) -> Vec<Verb> {
    Verb::ALL
        .into_iter()
        .filter(|verb| Operation::find(route, path, *verb).is_ok())
        .collect()
}

/// A verb that an address may support, the function to run if the type can do it, its need, and the check of whether the
/// caller may run it.
type Choice<'a> = (Verb, Option<&'a Run>, Option<Need>, Option<Check>);

fn choose<'a>(verb: Verb, id: &'a str, choices: &[Choice<'a>]) -> Result<Operation<'a>> {
    let offered = || {
        choices
            .iter()
            .filter_map(|(verb, run, need, permit)| Some((*verb, (*run)?, *need, *permit)))
    };
    match offered().find(|it| it.0 == verb) {
        Some((_, run, need, permit)) => Ok(Operation {
            run,
            id,
            arguments: &[],
            need,
            permit,
            reception: None,
            texts: None,
            answers: None,
            is_asked: false,
        }),
        None => match offered().map(|it| it.0).collect::<Vec<_>>() {
            none if none.is_empty() => Err(Error::not_found()),
            verbs => Err(Error::method_not_allowed(verbs)),
        },
    }
}

/// Finds the action that `segments` name, preferring actions on the collection. Returns `None` if they name no action.
///
/// # Errors
/// Returns an error if the action exists with other verbs only, if too many or too few segments follow its name, or if
/// one of these is blank.
fn find_action<'a>(
    route: &'a Route,
    segments: &'a [String],
    verb: Verb,
) -> Result<Option<Operation<'a>>> {
    let candidates = candidates(route, segments);
    if candidates.is_empty() {
        return Ok(None);
    }
    match candidates.iter().find(|(action, ..)| action.verb == verb) {
        Some((action, id, arguments)) if Argument::take(&action.arguments, arguments.len()) => {
            refuse_blank(action, arguments)?;
            Ok(Some(Operation {
                run: *action,
                id,
                arguments,
                need: action.need,
                permit: Some(action.permit),
                reception: route
                    .receive
                    .filter(|_| action.is_receiving)
                    .map(|it| Reception {
                        is_whole: action.is_whole,
                        most: it.most,
                    }),
                texts: action.texts,
                answers: Some(action.answers),
                is_asked: !action.asks.is_empty(),
            }))
        }
        Some((action, _, arguments)) => match action.arguments.get(arguments.len()) {
            Some(missing) => Err(Error::bad_request(format!(
                "the path must go on with a `{}` behind `{}`",
                missing.name, action.name
            ))),
            None => Err(Error::not_found()),
        },
        None => Err(Error::method_not_allowed(
            candidates.iter().map(|(action, ..)| action.verb).collect(),
        )),
    }
}

/// An action, the id of the entity on which it runs, and the arguments behind its name.
type Candidate<'a> = (&'a ActionRoute, &'a str, &'a [String]);

/// Returns the actions that `segments` name, with whatever verb.
pub(crate) fn candidates<'a>(route: &'a Route, segments: &'a [String]) -> Vec<Candidate<'a>> {
    match segments {
        [name, arguments @ ..] if has_action(route, name, false) => named(route, name, false)
            .map(|it| (it, "", arguments))
            .collect(),
        [id, name, arguments @ ..] => named(route, name, true)
            .map(|it| (it, id.as_str(), arguments))
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns the name of the action at the address, if it is one.
pub fn action(registry: &Registry, path: &DirectPath) -> Option<&'static str> {
    let route = registry.route(&path.prefix)?;
    let found = candidates(route, &path.segments).into_iter().next();
    found.map(|it| it.0.name)
}

/// Returns whether the action on the collection that `segments` name admits callers without a session, whatever arguments
/// follow its name.
pub(crate) fn is_public_action(route: &Route, segments: &[String], verb: Verb) -> bool {
    let is_public = |it: &ActionRoute| it.verb == verb && it.need.is_some_and(Need::is_public);
    segments
        .first()
        .is_some_and(|name| named(route, name, false).any(is_public))
}

/// Refuses blank arguments.
fn refuse_blank(action: &ActionRoute, arguments: &[String]) -> Result<()> {
    let mut given = action.arguments.iter().zip(arguments);
    match given.find(|(_, value)| value.trim().is_empty()) {
        Some((blank, _)) => Err(Error::bad_request(format!(
            "the `{}` behind `{}` in the path must not be blank",
            blank.name, action.name
        ))),
        None => Ok(()),
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

//! Actions: named operations of a type, on one entity or on the collection.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use erased_serde::Serialize as ErasedSerialize;
use futures::future::BoxFuture;

use crate::access::Need;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::path::DirectPath;
use crate::provider::{List, Provider};
use crate::reply::{Bytes, Remark};
use crate::request::Verb;
use crate::search::{Grammar, Page, Search, Window};
use crate::shape::Shape;

/// A named operation of a type. Built by [`Action::entity`], [`Action::collection`] or [`Action::list`], each from an
/// `async fn`.
///
/// ```
/// use entity_core::{Action, Arguments, Context, Need, Outcome, Provider, Result, Verb};
///
/// async fn shout<P: Provider>(_cx: &Context, _entity: P::Entity, _arguments: Arguments) -> Result<Outcome<P>> {
///     Ok(Outcome::value("HELLO"))
/// }
///
/// fn actions<P: Provider>() -> Vec<Action<P>> {
///     vec![
///         Action::entity(Verb::Get, "shout", Need::Session, shout::<P>)
///             .argument("name", "Whom to say hello to.")
///             .doc("Says hello, loudly."),
///     ]
/// }
/// ```
pub struct Action<P: Provider> {
    /// The name of the action in the URL.
    pub name: &'static str,
    /// The verb of the requests that run the action.
    pub verb: Verb,
    /// The requirement that the caller must meet, besides being allowed to read the entity. For an action on the
    /// collection, a need in a site applies to the site that the first argument names. The registry refuses an action
    /// without a need.
    pub need: Option<Need>,
    /// The description of the action.
    pub doc: &'static str,
    /// The query parameters that the action takes, each with its description.
    pub parameters: &'static [(&'static str, &'static str)],
    /// The path segments that the action takes after its name, in order.
    pub arguments: Vec<Argument>,
    /// The kind of a successful answer.
    pub answers: Answers,
    /// Whether the body is [prepared](crate::Prepare) before the unit of work opens.
    pub is_prepared: bool,
    /// Whether the action on an entity only tells that it exists.
    pub(crate) is_existence: bool,
    /// The grammar of the type's list queries, if the action accepts such queries too.
    pub grammar: Option<fn() -> Result<Grammar>>,
    /// The function that runs a search as the type's own list does, if the action accepts such queries.
    pub(crate) run_search: Option<RunSearch<P>>,
    /// The function that carries out the action.
    pub handler: Handler<P>,
}

/// A path segment that follows the name of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The name of the segment, such as `siteId`.
    pub name: &'static str,
    /// The description of the segment.
    pub doc: &'static str,
    /// Whether the segment is required. Optional segments follow all required ones.
    pub is_required: bool,
}

impl Argument {
    /// Returns the smallest and the largest number of path segments that an action with `arguments` takes.
    pub(crate) fn count(arguments: &[Self]) -> RangeInclusive<usize> {
        let required = arguments.iter().filter(|it| it.is_required).count();
        required..=arguments.len()
    }
}

/// The declared kind of an action's successful answer.
#[derive(Clone, Copy, Debug)]
pub enum Answers {
    /// The action declares nothing.
    Unsaid,
    /// An answer without content: 204.
    Nothing,
    /// The same as 200, where existing clients expect that.
    Done,
    /// One entity of the type.
    Entity,
    /// An entity of the type, which the action created.
    Created,
    /// Entities of the type. Under a need of the [public's view](Need::PublicView), an anonymous caller is not refused
    /// in a site that shows the public nothing, but gets an empty list.
    Collection,
    /// Entities of the type with this other prefix, to whose list or searched action the action forwards.
    CollectionOf(&'static str),
    /// Data of this shape that is no entity.
    Value(Shape),
    /// Bytes of one of these media types; `*/*` if the media type is known only once the bytes exist.
    Bytes(&'static [&'static str]),
}

impl Answers {
    /// Returns whether the answer is a list of entities of the type: of only those that the caller may read, however
    /// few they are.
    pub(crate) fn are_a_list(self) -> bool {
        matches!(self, Self::Collection)
    }
}

/// A function that runs a search of a type.
pub(crate) type RunSearch<P> = for<'a> fn(&'a Context, Search) -> BoxFuture<'a, Result<Found<P>>>;

/// The page that a search asks for and, if it asks for that, the total number of entities.
pub(crate) type Found<P> = (Page<<P as Provider>::Entity>, Option<u64>);

/// The function that carries out an action.
pub enum Handler<P: Provider> {
    /// The handler of an action on one entity, which the gate has loaded and checked.
    Entity(EntityHandler<P>),
    /// The handler of an action on the collection.
    Collection(CollectionHandler<P>),
}

/// A function that carries out an action on one entity.
pub type EntityHandler<P> = Arc<
    dyn for<'a> Fn(
            &'a Context,
            <P as Provider>::Entity,
            Arguments,
        ) -> BoxFuture<'a, Result<Outcome<P>>>
        + Send
        + Sync,
>;

/// A function that carries out an action on the collection.
pub type CollectionHandler<P> =
    Arc<dyn for<'a> Fn(&'a Context, Arguments) -> BoxFuture<'a, Result<Outcome<P>>> + Send + Sync>;

/// An `async fn` that carries out an action on one entity.
pub trait RunOnEntity<'a, P: Provider>: Copy + Send + Sync + 'static {
    /// Calls the function.
    fn run(
        self,
        cx: &'a Context,
        entity: P::Entity,
        arguments: Arguments,
    ) -> BoxFuture<'a, Result<Outcome<P>>>;
}

impl<'a, P: Provider, F, R> RunOnEntity<'a, P> for F
where
    F: Fn(&'a Context, P::Entity, Arguments) -> R + Copy + Send + Sync + 'static,
    R: Future<Output = Result<Outcome<P>>> + Send + 'a,
{
    fn run(
        self,
        cx: &'a Context,
        entity: P::Entity,
        arguments: Arguments,
    ) -> BoxFuture<'a, Result<Outcome<P>>> {
        Box::pin(self(cx, entity, arguments))
    }
}

/// An `async fn` that carries out an action on the collection.
pub trait RunOnCollection<'a, P: Provider>: Copy + Send + Sync + 'static {
    /// Calls the function.
    fn run(self, cx: &'a Context, arguments: Arguments) -> BoxFuture<'a, Result<Outcome<P>>>;
}

impl<'a, P: Provider, F, R> RunOnCollection<'a, P> for F
where
    F: Fn(&'a Context, Arguments) -> R + Copy + Send + Sync + 'static,
    R: Future<Output = Result<Outcome<P>>> + Send + 'a,
{
    fn run(self, cx: &'a Context, arguments: Arguments) -> BoxFuture<'a, Result<Outcome<P>>> {
        Box::pin(self(cx, arguments))
    }
}

/// A closure without captures that carries out an action on one entity.
pub type EntityFn<P> = for<'a> fn(
    &'a Context,
    <P as Provider>::Entity,
    Arguments,
) -> BoxFuture<'a, Result<Outcome<P>>>;

/// A closure without captures that carries out an action on the collection.
pub type CollectionFn<P> = for<'a> fn(&'a Context, Arguments) -> BoxFuture<'a, Result<Outcome<P>>>;

impl<P: Provider> Action<P> {
    /// Creates an action on one entity from a closure, which boxes its future.
    pub fn on_entity(verb: Verb, name: &'static str, need: Need, run: EntityFn<P>) -> Self {
        Self::new(verb, name, need, Handler::Entity(Arc::new(run)))
    }

    /// Creates an action on the collection from a closure, which boxes its future.
    pub fn on_collection(verb: Verb, name: &'static str, need: Need, run: CollectionFn<P>) -> Self {
        Self::new(verb, name, need, Handler::Collection(Arc::new(run)))
    }

    /// Creates an action on one entity: `/prefix/id/name`.
    pub fn entity<F: for<'a> RunOnEntity<'a, P>>(
        verb: Verb,
        name: &'static str,
        need: Need,
        run: F,
    ) -> Self {
        let handler: EntityHandler<P> =
            Arc::new(move |cx, entity, arguments| run.run(cx, entity, arguments));
        Self::new(verb, name, need, Handler::Entity(handler))
    }

    /// Creates an action on the collection: `/prefix/name`.
    pub fn collection<F: for<'a> RunOnCollection<'a, P>>(
        verb: Verb,
        name: &'static str,
        need: Need,
        run: F,
    ) -> Self {
        let handler: CollectionHandler<P> = Arc::new(move |cx, arguments| run.run(cx, arguments));
        Self::new(verb, name, need, Handler::Collection(handler))
    }

    /// Creates a `GET` action on the collection that lists entities: one that narrows [`Arguments::search`] and returns
    /// [`Outcome::List`].
    pub fn list<F: for<'a> RunOnCollection<'a, P>>(name: &'static str, need: Need, run: F) -> Self
    where
        P: List,
    {
        Self::collection(Verb::Get, name, need, run)
            .searched()
            .answers(Answers::Collection)
    }

    fn new(verb: Verb, name: &'static str, need: Need, handler: Handler<P>) -> Self {
        Self {
            name,
            verb,
            need: Some(need),
            doc: "",
            parameters: &[],
            arguments: Vec::new(),
            answers: Answers::Unsaid,
            is_prepared: false,
            is_existence: false,
            grammar: None,
            run_search: None,
            handler,
        }
    }

    /// Sets the description of the action.
    #[must_use]
    pub fn doc(mut self, doc: &'static str) -> Self {
        self.doc = doc;
        self
    }

    /// Declares the query parameters that the action takes, each with its description.
    #[must_use]
    pub fn parameters(mut self, parameters: &'static [(&'static str, &'static str)]) -> Self {
        self.parameters = parameters;
        self
    }

    /// Declares the next path segment: the name by which [`Arguments::argument`] finds it, and its description.
    #[must_use]
    pub fn argument(self, name: &'static str, doc: &'static str) -> Self {
        self.add_argument(name, doc, true)
    }

    /// Declares a path segment that may be left out, together with all segments after it.
    #[must_use]
    pub fn optional_argument(self, name: &'static str, doc: &'static str) -> Self {
        self.add_argument(name, doc, false)
    }

    fn add_argument(mut self, name: &'static str, doc: &'static str, is_required: bool) -> Self {
        self.arguments.push(Argument {
            name,
            doc,
            is_required,
        });
        self
    }

    /// Declares the kind of a successful answer.
    #[must_use]
    pub fn answers(mut self, answers: Answers) -> Self {
        self.answers = answers;
        self
    }

    /// Lets the body be prepared before the unit of work opens, as the type [declares](crate::Prepare).
    #[must_use]
    pub fn prepared(mut self) -> Self {
        self.is_prepared = true;
        self
    }

    /// Lets the action only tell that its entity exists: a caller who may know of the entity without reading it gets the
    /// same answer as one who reads it, and the handler is not called.
    #[must_use]
    pub fn telling_existence(mut self) -> Self {
        self.is_existence = true;
        self
    }

    /// Lets the action accept the list queries of the type, besides its own parameters: the handler gets the parsed
    /// query as [`Arguments::search`], and any other parameter is refused.
    #[must_use]
    pub fn searched(mut self) -> Self
    where
        P: List,
    {
        self.grammar = Some(Grammar::of::<P>);
        self.run_search = Some(crate::route::run_search::<P>);
        self
    }

    /// Returns whether this is an action on one entity.
    pub fn is_on_entity(&self) -> bool {
        matches!(self.handler, Handler::Entity(_))
    }
}

impl<P: Provider> fmt::Debug for Action<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Action({} {})", self.verb.name(), self.name)
    }
}

impl<P: Provider> fmt::Debug for Handler<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handler")
    }
}

impl<P: Provider> Clone for Handler<P> {
    fn clone(&self) -> Self {
        match self {
            Self::Entity(it) => Self::Entity(Arc::clone(it)),
            Self::Collection(it) => Self::Collection(Arc::clone(it)),
        }
    }
}

/// The data with which an action is called.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    /// The path segments after the name of the action, decoded, each with the name that the action declares for it.
    pub path: Vec<(&'static str, String)>,
    /// The name-value pairs of the query, decoded.
    pub query: Arc<[(String, String)]>,
    /// The body of the request.
    pub input: Input,
    /// The parsed list query, if the action accepts list queries of the type.
    pub search: Option<Search>,
}

impl Arguments {
    /// Returns the path segment that the action declares as `name`.
    ///
    /// # Errors
    /// Returns an error if the path has no such segment.
    pub fn argument(&self, name: &str) -> Result<&str> {
        self.optional(name)
            .ok_or_else(|| Error::bad_request(format!("the path must name a `{name}`")))
    }

    /// Returns the path segment that the action declares as `name`, if the path has it.
    pub fn optional(&self, name: &str) -> Option<&str> {
        self.path
            .iter()
            .find(|(own, _)| *own == name)
            .map(|(_, value)| value.as_str())
    }

    /// Returns the parsed list query.
    ///
    /// # Errors
    /// Returns an error if the action does not declare that it accepts list queries: a defect, not the caller's fault.
    pub fn search(&self) -> Result<&Search> {
        self.search
            .as_ref()
            .ok_or_else(|| Error::internal("an action that is not declared `searched` searches"))
    }

    /// Returns the value of the query parameter `name`, if the query has it.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }
}

/// The result of an action.
pub enum Outcome<P: Provider> {
    /// Success, without content.
    Done,
    /// An entity of the type, which the caller must be allowed to read. If the need of the action is [`Need::Public`],
    /// [`Provider::permits`] alone decides.
    Entity(P::Entity),
    /// An entity of the type that the action created; checked like [`Outcome::Entity`].
    Created(P::Entity),
    /// Entities of the type. Those that the caller may not read are left out of the answer.
    Collection {
        /// The entities, and whether the list continues after them.
        page: Page<P::Entity>,
        /// The part of the list that the page is, from which the links to the other parts are made. An action that does
        /// not divide its list uses [`Window::FIRST`] and a page after which nothing follows.
        window: Window,
    },
    /// The list that this search asks for, which is run as the type's own list is: with its permissions, its page and
    /// its count. The search is that of [`Arguments::search`], perhaps narrowed.
    List(Search),
    /// The part of a list that `search` asks for. Entities that the caller may not read are left out of the answer.
    Part {
        /// The entities, and whether the list continues after them.
        page: Page<P::Entity>,
        /// The query: that of [`Arguments::search`], perhaps narrowed.
        search: Search,
        /// The number of all entities that match and that the caller may read, if the query asks for it.
        total: Option<u64>,
    },
    /// All entities of a list. The answer has those that the caller may read and `search` asks for.
    Whole {
        /// The entities.
        entities: Vec<P::Entity>,
        /// The query: that of [`Arguments::search`].
        search: Search,
    },
    /// Data that is no entity.
    Value(Box<dyn ErasedSerialize + Send + Sync>),
    /// Bytes with their own media type, which are sent as they are and not in a format: an image, a document.
    Bytes(Bytes),
    /// The answer of another address below `/direct`, read on behalf of the same caller.
    Forward(DirectPath),
    /// One of the other outcomes, with remarks; made by [`Outcome::remark`].
    Remarked(Box<Self>, Vec<Remark>),
}

impl<P: Provider> Outcome<P> {
    /// Creates an outcome from data that is no entity.
    pub fn value(data: impl serde::Serialize + Send + Sync + 'static) -> Self {
        Self::Value(Box::new(data))
    }

    /// Adds a remark to the outcome: a fact that is sent beside the body. An outcome that forwards carries no remarks.
    #[must_use]
    pub fn remark(self, name: &'static str, value: impl Into<String>) -> Self {
        let remark = Remark {
            name,
            value: value.into(),
        };
        match self {
            Self::Remarked(outcome, mut remarks) => {
                remarks.push(remark);
                Self::Remarked(outcome, remarks)
            }
            outcome => Self::Remarked(Box::new(outcome), vec![remark]),
        }
    }
}

impl<P: Provider> fmt::Debug for Outcome<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Done => "Done",
            Self::Entity(_) => "Entity",
            Self::Created(_) => "Created",
            Self::Collection { .. } => "Collection",
            Self::List(_) => "List",
            Self::Part { .. } => "Part",
            Self::Whole { .. } => "Whole",
            Self::Value(_) => "Value",
            Self::Bytes(_) => "Bytes",
            Self::Forward(_) => "Forward",
            Self::Remarked(..) => "Remarked",
        })
    }
}

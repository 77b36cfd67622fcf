//! Actions: named operations of a type, on one entity or on the collection.

mod answers;
pub(crate) mod any_result;
mod arguments;
mod paging;
mod result;
mod words;

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;

use crate::contract::access::Need;
use crate::contract::blob::Receive;
use crate::contract::context::Context;
use crate::contract::input::Fields;
use crate::contract::kind::{self, Lists};
use crate::contract::provider::{List, Provider};
use crate::contract::search::Grammar;
use crate::model::schema::Field;
use crate::primitives::error::Result;
use crate::primitives::verb::Verb;

pub use answers::{Answers, Argument};
pub use arguments::Arguments;
pub use paging::Paging;
pub use result::{ActionResult, Answer, Created, Data, Done};
pub use words::Submit;
pub(crate) use words::Words;

/// The reason why pages don't offer an action on an entity, if there is one.
pub(crate) type Withheld<E> = dyn Fn(&E) -> Option<&'static str> + Send + Sync;

/// A function that makes texts of the body of an action.
pub type MakeTexts = fn(&Fields) -> Vec<String>;

/// A named operation of a type. Built by [`Action::entity`], [`Action::collection`] or [`Action::list`], each from an
/// `async fn`.
///
/// ```
/// use entity_core::{Action, Arguments, Context, Data, Need, Provider, Result, Verb};
///
/// async fn shout<E>(_cx: &Context, _entity: E, _arguments: Arguments) -> Result<Data<String>> {
///     Ok(Data("HELLO".to_owned()))
/// }
///
/// fn actions<P: Provider>() -> Vec<Action<P>> {
///     vec![
///         Action::entity(Verb::Get, "shout", Need::Session, shout::<P::Entity>)
///             .argument("name", "Whom to say hello to.")
///             .doc("Says hello, loudly."),
///     ]
/// }
/// ```
#[derive(derive_more::Debug)]
#[debug("Action({} {})", self.verb.name(), self.name)]
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
    /// Makes texts of the body that become HTML of entities.
    pub(crate) texts: Option<MakeTexts>,
    /// True if the action takes [files](crate::blob::Receive).
    pub is_receiving: bool,
    /// True if the action takes files and a body that is no form is a file as a whole.
    pub(crate) is_whole: bool,
    /// The words that people read of the action.
    pub(crate) words: Words,
    /// The fields for which the form of a page asks.
    pub asks: &'static [Field],
    /// The reason why pages don't offer the action on an entity, if there is one: empty if it is not told.
    pub(crate) withheld: Option<Arc<Withheld<P::Entity>>>,
    /// The function whose holders pages don't offer the action in a site.
    pub(crate) withheld_from: Option<&'static str>,
    /// The function that pages demand before they offer the action in a site.
    pub(crate) offered_to: Option<&'static str>,
    /// True if no page links to the action.
    pub(crate) is_unlinked: bool,
    /// True if the action on an entity only tells that it exists.
    pub(crate) is_existence: bool,
    /// The grammar of the type's list queries, if the action accepts such queries too.
    pub grammar: Option<fn() -> Result<Grammar>>,
    /// The type's own lists, if the action accepts their queries.
    pub(crate) lists: Option<&'static dyn Lists>,
    /// The function that carries out the action.
    pub handler: Handler<P>,
}

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
        ) -> BoxFuture<'a, Result<ActionResult<P>>>
        + Send
        + Sync,
>;

/// A function that carries out an action on the collection.
pub type CollectionHandler<P> = Arc<
    dyn for<'a> Fn(&'a Context, Arguments) -> BoxFuture<'a, Result<ActionResult<P>>> + Send + Sync,
>;

/// An `async fn` that carries out an action on one entity.
pub trait RunOnEntity<'a, P: Provider>: Copy + Send + Sync + 'static {
    /// The kind of a successful answer.
    const ANSWERS: Answers;

    /// Calls the function.
    fn run(
        self,
        cx: &'a Context,
        entity: P::Entity,
        arguments: Arguments,
    ) -> BoxFuture<'a, Result<ActionResult<P>>>;
}

impl<'a, P: Provider, F, R, A> RunOnEntity<'a, P> for F
where
    F: Fn(&'a Context, P::Entity, Arguments) -> R + Copy + Send + Sync + 'static,
    R: Future<Output = Result<A>> + Send + 'a,
    A: Answer<P>,
{
    const ANSWERS: Answers = A::ANSWERS;

    fn run(
        self,
        cx: &'a Context,
        entity: P::Entity,
        arguments: Arguments,
    ) -> BoxFuture<'a, Result<ActionResult<P>>> {
        let answer = self(cx, entity, arguments);
        Box::pin(async move { Ok(answer.await?.into_outcome()) })
    }
}

/// An `async fn` that carries out an action on the collection.
pub trait RunOnCollection<'a, P: Provider>: Copy + Send + Sync + 'static {
    /// The kind of a successful answer.
    const ANSWERS: Answers;

    /// Calls the function.
    fn run(self, cx: &'a Context, arguments: Arguments) -> BoxFuture<'a, Result<ActionResult<P>>>;
}

impl<'a, P: Provider, F, R, A> RunOnCollection<'a, P> for F
where
    F: Fn(&'a Context, Arguments) -> R + Copy + Send + Sync + 'static,
    R: Future<Output = Result<A>> + Send + 'a,
    A: Answer<P>,
{
    const ANSWERS: Answers = A::ANSWERS;

    fn run(self, cx: &'a Context, arguments: Arguments) -> BoxFuture<'a, Result<ActionResult<P>>> {
        let answer = self(cx, arguments);
        Box::pin(async move { Ok(answer.await?.into_outcome()) })
    }
}

/// A closure without captures that carries out an action on one entity.
pub type EntityFn<P> = for<'a> fn(
    &'a Context,
    <P as Provider>::Entity,
    Arguments,
) -> BoxFuture<'a, Result<ActionResult<P>>>;

/// A closure without captures that carries out an action on the collection.
pub type CollectionFn<P> =
    for<'a> fn(&'a Context, Arguments) -> BoxFuture<'a, Result<ActionResult<P>>>;

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
            .answers(<F as RunOnEntity<'static, P>>::ANSWERS)
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
            .answers(<F as RunOnCollection<'static, P>>::ANSWERS)
    }

    /// Creates a `GET` action on the collection that lists entities: one that narrows [`Arguments::search`] and returns
    /// [`ActionResult::List`].
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
            texts: None,
            is_receiving: false,
            is_whole: true,
            words: Words::default(),
            asks: &[],
            withheld: None,
            withheld_from: None,
            offered_to: None,
            is_unlinked: false,
            is_existence: false,
            grammar: None,
            lists: None,
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
        self.add_argument(name, doc, true, false)
    }

    /// Declares the rest of the path: one segment or more, which [`Arguments::argument`] returns joined by slashes. No
    /// other argument follows.
    #[must_use]
    pub fn rest(self, name: &'static str, doc: &'static str) -> Self {
        self.add_argument(name, doc, true, true)
    }

    /// Declares a path segment that may be left out, together with all segments after it.
    #[must_use]
    pub fn optional_argument(self, name: &'static str, doc: &'static str) -> Self {
        self.add_argument(name, doc, false, false)
    }

    fn add_argument(
        mut self,
        name: &'static str,
        doc: &'static str,
        is_required: bool,
        is_rest: bool,
    ) -> Self {
        self.arguments.push(Argument {
            name,
            doc,
            is_required,
            is_rest,
        });
        self
    }

    /// Declares the kind of a successful answer, where the function returns an [`ActionResult`], which does not tell
    /// it.
    #[must_use]
    pub fn answers(mut self, answers: Answers) -> Self {
        self.answers = answers;
        self
    }

    /// Declares the texts that the action makes of its body and that become HTML of entities, so that long ones are sanitised
    /// before the unit of work opens. Texts that are in the body as they are need no declaration.
    #[must_use]
    pub fn making_texts(mut self, texts: MakeTexts) -> Self {
        self.texts = Some(texts);
        self
    }

    /// Lets the action take files, as the type [declares](crate::blob::Receive): the files of a form, `multipart/form-data`,
    /// or the body as a whole if it is of any other type.
    #[must_use]
    pub fn receiving(mut self) -> Self
    where
        P: Receive,
    {
        self.is_receiving = true;
        self
    }

    /// Lets the action take the files of a form, `multipart/form-data`. A body of any other kind has fields only.
    #[must_use]
    pub fn receiving_in_forms(mut self) -> Self
    where
        P: Receive,
    {
        self.is_receiving = true;
        self.is_whole = false;
        self
    }

    /// Declares what pages ask for before they run the action: the fields of a form, which the action finds in its
    /// [input](Arguments::input). Where the action answers data, the page shows it. An action on the collection that has
    /// arguments is offered where an action with the same arguments is shown.
    #[must_use]
    pub fn asks(mut self, fields: &'static [Field]) -> Self {
        self.asks = fields;
        self
    }

    /// Lets pages offer the action only to those who hold `function` in the site besides the action's need, such as one of
    /// several functions that the action decides about by itself. It grants and refuses nothing.
    #[must_use]
    pub fn offered_to(mut self, function: &'static str) -> Self {
        self.offered_to = Some(function);
        self
    }

    /// Lets pages offer the action only on the entities for which `is_offered` is true. It grants and refuses nothing.
    #[must_use]
    pub fn offered_if(mut self, is_offered: fn(&P::Entity) -> bool) -> Self {
        self.withheld = Some(Arc::new(move |it| (!is_offered(it)).then_some("")));
        self
    }

    /// Lets pages offer the action only on the entities for which `reason` returns nothing, and else say why not.
    #[must_use]
    pub fn offered_unless(mut self, reason: fn(&P::Entity) -> Option<&'static str>) -> Self {
        self.withheld = Some(Arc::new(reason));
        self
    }

    /// Lets no page offer the action to those who hold `function` in the site, for whom it is not meant.
    #[must_use]
    pub fn withheld_from(mut self, function: &'static str) -> Self {
        self.withheld_from = Some(function);
        self
    }

    /// Lets no page link to the action: who may run it is known only when it runs.
    #[must_use]
    pub fn unlinked(mut self) -> Self {
        self.is_unlinked = true;
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
        self.lists = Some(kind::lists::<P>());
        self
    }

    /// Returns whether this is an action on one entity.
    pub fn is_on_entity(&self) -> bool {
        matches!(self.handler, Handler::Entity(_))
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

//! Actions: named verbs of a type, on one entity or on the collection.

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

/// A named verb. Built by [`Action::on_entity`] or [`Action::on_collection`].
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
///         Action::on_entity(Verb::Get, "shout", Need::Session, |cx, entity, arguments| {
///             Box::pin(shout(cx, entity, arguments))
///         })
///         .argument("name", "Whom to say hello to.")
///         .doc("Says hello, loudly."),
///     ]
/// }
/// ```
pub struct Action<P: Provider> {
    /// Its name in the URL.
    pub name: &'static str,
    /// The verb it takes.
    pub verb: Verb,
    /// What the caller must hold, besides being allowed to read the entity.
    /// On a collection, a need in a site is looked up in the site that the first argument names.
    pub need: Option<Need>,
    /// What it does, for the description.
    pub doc: &'static str,
    /// Query parameters it takes, each with what it does.
    pub parameters: &'static [(&'static str, &'static str)],
    /// The further path segments it takes, in order.
    pub arguments: Vec<Argument>,
    /// What it answers when all goes well.
    pub answers: Answers,
    /// Whether its body is [prepared](crate::Prepare) before the unit of work opens.
    pub is_prepared: bool,
    /// What lists of the type can be asked, if it can be asked that too.
    pub grammar: Option<fn() -> Result<Grammar>>,
    /// What runs.
    pub handler: Handler<P>,
}

/// A path segment behind the name of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// What it is called, such as `siteId`.
    pub name: &'static str,
    /// What it means.
    pub doc: &'static str,
    /// Whether it must be there. What may be left out stands behind what must be there.
    pub is_required: bool,
}

impl Argument {
    /// How many segments a path may have that takes `arguments`.
    pub(crate) fn count(arguments: &[Self]) -> RangeInclusive<usize> {
        let required = arguments.iter().filter(|it| it.is_required).count();
        required..=arguments.len()
    }
}

/// What an action answers when all goes well, for the description.
#[derive(Clone, Copy, Debug)]
pub enum Answers {
    /// Nobody said.
    Unsaid,
    /// Nothing.
    Nothing,
    /// One entity of the type.
    Entity,
    /// An entity of the type, which the action created.
    Created,
    /// Entities of the type. Under a need of the [public's view](Need::PublicView), it is empty for strangers where
    /// the site shows them nothing, and not refused.
    Collection,
    /// Entities of the type with another prefix, to whose list or searched action it forwards.
    CollectionOf(&'static str),
    /// Data that is no entity.
    Value(Shape),
    /// Bytes of one of these media types; `*/*` where that is known only when they are there.
    Bytes(&'static [&'static str]),
}

impl Answers {
    /// Whether it is a list of entities of the type: of those only that the caller may read, however many those are.
    pub(crate) fn are_a_list(self) -> bool {
        matches!(self, Self::Collection)
    }
}

/// What an action runs.
pub enum Handler<P: Provider> {
    /// On one entity, which the gate has loaded and checked.
    Entity(EntityHandler<P>),
    /// On the collection.
    Collection(CollectionHandler<P>),
}

/// Runs on one entity.
pub type EntityHandler<P> = for<'a> fn(
    &'a Context,
    <P as Provider>::Entity,
    Arguments,
) -> BoxFuture<'a, Result<Outcome<P>>>;

/// Runs on the collection.
pub type CollectionHandler<P> =
    for<'a> fn(&'a Context, Arguments) -> BoxFuture<'a, Result<Outcome<P>>>;

impl<P: Provider> Action<P> {
    /// An action on one entity: `/prefix/id/name`.
    pub fn on_entity(
        verb: Verb,
        name: &'static str,
        need: Need,
        handler: EntityHandler<P>,
    ) -> Self {
        Self::new(verb, name, need, Handler::Entity(handler))
    }

    /// An action on the collection: `/prefix/name`.
    pub fn on_collection(
        verb: Verb,
        name: &'static str,
        need: Need,
        handler: CollectionHandler<P>,
    ) -> Self {
        Self::new(verb, name, need, Handler::Collection(handler))
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
            grammar: None,
            handler,
        }
    }

    /// Says what it does.
    #[must_use]
    pub fn doc(mut self, doc: &'static str) -> Self {
        self.doc = doc;
        self
    }

    /// Declares the query parameters it takes, each with what it does.
    #[must_use]
    pub fn parameters(mut self, parameters: &'static [(&'static str, &'static str)]) -> Self {
        self.parameters = parameters;
        self
    }

    /// Declares the next path segment that it takes: how [`Arguments::argument`] calls it, and what it means.
    #[must_use]
    pub fn argument(self, name: &'static str, doc: &'static str) -> Self {
        self.add_argument(name, doc, true)
    }

    /// Declares a path segment that may be left out, with all behind it.
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

    /// Says what it answers.
    #[must_use]
    pub fn answers(mut self, answers: Answers) -> Self {
        self.answers = answers;
        self
    }

    /// Lets its body be prepared before the unit of work opens, as the type [says](crate::Prepare).
    #[must_use]
    pub fn prepared(mut self) -> Self {
        self.is_prepared = true;
        self
    }

    /// It can be asked what lists of the type can be asked, besides its own parameters: the handler gets that as
    /// [`Arguments::search`], and whatever else a query says is refused.
    #[must_use]
    pub fn searched(mut self) -> Self
    where
        P: List,
    {
        self.grammar = Some(Grammar::of::<P>);
        self
    }

    /// Whether it is an action on one entity.
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

/// What an action is called with.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    /// The path segments behind the action's name, decoded, each with the name that the action gave it.
    pub path: Vec<(&'static str, String)>,
    /// The query's pairs, decoded.
    pub query: Arc<[(String, String)]>,
    /// The body.
    pub input: Input,
    /// What the query asks, if the action can be asked what lists of the type can be asked.
    pub search: Option<Search>,
}

impl Arguments {
    /// The path segment that the action called `name`.
    ///
    /// # Errors
    /// It is not there.
    pub fn argument(&self, name: &str) -> Result<&str> {
        self.optional(name)
            .ok_or_else(|| Error::bad_request(format!("the path must name a `{name}`")))
    }

    /// The path segment that the action called `name`, if it is there.
    pub fn optional(&self, name: &str) -> Option<&str> {
        self.path
            .iter()
            .find(|(own, _)| *own == name)
            .map(|(_, value)| value.as_str())
    }

    /// What the query asks of the list.
    ///
    /// # Errors
    /// The action was not declared to take it: a defect, not the caller's fault.
    pub fn search(&self) -> Result<&Search> {
        self.search
            .as_ref()
            .ok_or_else(|| Error::internal("an action that is not declared `searched` searches"))
    }

    /// The query parameter `name`.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }
}

/// What an action answers.
pub enum Outcome<P: Provider> {
    /// Nothing.
    Done,
    /// An entity of the type, which the caller must be allowed to read. If the action itself needs nothing
    /// ([`Need::Public`]), [`Provider::permits`] alone decides.
    Entity(P::Entity),
    /// An entity of the type that the action created; checked like [`Outcome::Entity`].
    Created(P::Entity),
    /// Entities of the type; those that the caller may not read are left out.
    Collection {
        /// The entities, and whether there are more behind them.
        page: Page<P::Entity>,
        /// Which part of the list they are: what the links to the other parts are made of. An action that
        /// does not cut its list answers [`Window::FIRST`] and a page without more.
        window: Window,
    },
    /// The part of a list that `search` asks for; what the caller may not read is left out.
    Part {
        /// The entities, and whether there are more behind them.
        page: Page<P::Entity>,
        /// What was asked: that of [`Arguments::search`], perhaps narrowed.
        search: Search,
        /// How many there are in all that the caller may read, if that was asked.
        total: Option<u64>,
    },
    /// All entities of a list, of which those are answered that the caller may read and `search` asks for.
    Whole {
        /// The entities.
        entities: Vec<P::Entity>,
        /// What was asked: that of [`Arguments::search`].
        search: Search,
    },
    /// Data that is no entity.
    Value(Box<dyn ErasedSerialize + Send + Sync>),
    /// Bytes with a media type of their own, which no format writes: an image, a document.
    Bytes(Bytes),
    /// The answer of another address below `/direct`, read on behalf of the same caller.
    Forward(DirectPath),
    /// One of the other answers, with facts beside it; made by [`Outcome::remark`].
    Remarked(Box<Self>, Vec<Remark>),
}

impl<P: Provider> Outcome<P> {
    /// Data that is no entity.
    pub fn value(data: impl serde::Serialize + Send + Sync + 'static) -> Self {
        Self::Value(Box::new(data))
    }

    /// The same answer with a fact beside it. One that forwards has none.
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
            Self::Part { .. } => "Part",
            Self::Whole { .. } => "Whole",
            Self::Value(_) => "Value",
            Self::Bytes(_) => "Bytes",
            Self::Forward(_) => "Forward",
            Self::Remarked(..) => "Remarked",
        })
    }
}

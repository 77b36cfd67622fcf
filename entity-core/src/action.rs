//! Actions: named verbs of a type, on one entity or on the collection.

use std::fmt;
use std::sync::Arc;

use erased_serde::Serialize as ErasedSerialize;
use futures::future::BoxFuture;

use crate::access::Need;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::path::DirectPath;
use crate::provider::Provider;
use crate::reply::Remark;
use crate::request::Verb;
use crate::search::{Page, Window};
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
    /// How many further path segments it takes.
    pub arguments: std::ops::RangeInclusive<usize>,
    /// What it answers when all goes well.
    pub answers: Answers,
    /// What runs.
    pub handler: Handler<P>,
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
    /// Entities of the type.
    Collection,
    /// Entities of the type with another prefix, to whose address it forwards.
    CollectionOf(&'static str),
    /// Data that is no entity.
    Value(Shape),
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
            arguments: 0..=0,
            answers: Answers::Unsaid,
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

    /// Declares how many further path segments it takes.
    #[must_use]
    pub fn arguments(mut self, count: std::ops::RangeInclusive<usize>) -> Self {
        self.arguments = count;
        self
    }

    /// Says what it answers.
    #[must_use]
    pub fn answers(mut self, answers: Answers) -> Self {
        self.answers = answers;
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
    /// The path segments behind the action's name, decoded.
    pub path: Vec<String>,
    /// The query's pairs, decoded.
    pub query: Arc<[(String, String)]>,
    /// The body.
    pub input: Input,
}

impl Arguments {
    /// The path segment at `index`.
    ///
    /// # Errors
    /// There is none; `what` says what is missing.
    pub fn segment(&self, index: usize, what: &str) -> Result<&str> {
        self.path
            .get(index)
            .map(String::as_str)
            .filter(|it| !it.trim().is_empty())
            .ok_or_else(|| Error::bad_request(format!("the path must name {what}")))
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
    /// Data that is no entity.
    Value(Box<dyn ErasedSerialize + Send + Sync>),
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
            Self::Value(_) => "Value",
            Self::Forward(_) => "Forward",
            Self::Remarked(..) => "Remarked",
        })
    }
}

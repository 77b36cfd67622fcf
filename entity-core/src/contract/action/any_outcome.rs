//! The outcome of an action on entities of any type, for what is compiled once for all types.

use super::outcome::Outcome;
use super::rest::Rest;
use crate::contract::provider::Provider;
use crate::contract::reply::{Body, Item, Remark, Value};
use crate::contract::search::{Page, Search, Window};
use crate::words::reference::Reference;

/// An [`Outcome`] with its parts side by side.
pub(crate) struct AnyOutcome {
    pub(crate) shown: Shown,
    /// The entity that a write was about, if the outcome says so.
    pub(crate) about: Option<Reference>,
    pub(crate) remarks: Vec<Remark>,
    /// The length of the whole of which a part is shown.
    pub(crate) rest: Option<Rest>,
}

/// The answer of an action.
pub(crate) enum Shown {
    /// No entity.
    Bare(Body),
    Entity(Item),
    Created(Item),
    List(Search),
    Collection(Page<Item>, Window),
    Part(Page<Item>, Search, Option<u64>),
    Whole(Vec<Item>, Search),
}

impl From<Shown> for AnyOutcome {
    fn from(shown: Shown) -> Self {
        Self {
            shown,
            about: None,
            remarks: Vec::new(),
            rest: None,
        }
    }
}

impl AnyOutcome {
    /// Converts the outcome of the action with this name.
    pub(crate) fn of<P: Provider>(outcome: Outcome<P>, name: &'static str) -> Self {
        let item = |it| Item::new(P::PREFIX, it);
        let shown = match outcome {
            Outcome::About(outcome, reference) => {
                let inner = Self::of(*outcome, name);
                let about = inner.about.or(Some(reference));
                return Self { about, ..inner };
            }
            Outcome::Remarked(outcome, remarks) => {
                let mut inner = Self::of(*outcome, name);
                inner.remarks.extend(remarks);
                return inner;
            }
            Outcome::Windowed(outcome, rest) => {
                let inner = Self::of(*outcome, name);
                let rest = inner.rest.or(Some(rest));
                return Self { rest, ..inner };
            }
            Outcome::Entity(it) => Shown::Entity(item(it)),
            Outcome::Created(it) => Shown::Created(item(it)),
            Outcome::List(search) => Shown::List(search),
            Outcome::Collection { page, window } => Shown::Collection(page.map(item), window),
            Outcome::Part {
                page,
                search,
                total,
            } => Shown::Part(page.map(item), search, total),
            Outcome::Whole { entities, search } => {
                Shown::Whole(entities.into_iter().map(item).collect(), search)
            }
            Outcome::Done => Shown::Bare(Body::Empty),
            Outcome::Value(data) => Shown::Bare(Body::Value(Value::new(P::PREFIX, name, data))),
            Outcome::Questionnaire(it) => {
                let value = Value::of_questionnaire(P::PREFIX, name, it);
                Shown::Bare(Body::Value(value))
            }
            Outcome::Bytes(bytes) => Shown::Bare(Body::Bytes(bytes)),
            Outcome::File(file) => Shown::Bare(Body::File(file)),
            Outcome::Bundle(bundle) => Shown::Bare(Body::Bundle(bundle)),
            Outcome::Stream(streaming) => Shown::Bare(Body::Stream(streaming)),
            Outcome::Archive(site) => Shown::Bare(Body::Archive(site)),
            Outcome::Incomplete(error) => Shown::Bare(Body::Incomplete(error)),
            Outcome::Forward(path) => Shown::Bare(Body::Forward(path)),
        };
        shown.into()
    }
}

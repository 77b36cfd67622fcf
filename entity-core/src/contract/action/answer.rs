//! What the functions of actions return.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Answers, Outcome};
use crate::contract::provider::{List, Provider};
use crate::contract::search::Search;
use crate::model::shape;

/// What the function of an action returns: the entity itself, [`Created`] or [`Data`], a [`Search`], which is run as the
/// type's own list is, [`Done`], or `()` for an answer without content (204). The descriptions of the service tell by this type what the action answers. A function that
/// returns an [`Outcome`] answers whatever it wants, and the action [declares](crate::Action::answers) what that is.
#[diagnostic::on_unimplemented(
    message = "an action of `{P}` can't return `{Self}`",
    note = "return the entity, `Created(entity)`, `Data(value)`, a `Search`, `Done`, `()` or an `Outcome`"
)]
pub trait Answer<P: Provider> {
    /// The kind of the answer.
    const ANSWERS: Answers;

    /// Converts what the function has returned.
    fn into_outcome(self) -> Outcome<P>;
}

/// An entity that the action has created.
#[derive(Clone, Debug)]
pub struct Created<E>(pub E);

/// Data that is no entity.
#[derive(Clone, Debug)]
pub struct Data<T>(pub T);

/// An answer without content that has the status 200, where existing clients expect that; `()` is answered with 204.
#[derive(Clone, Copy, Debug)]
pub struct Done;

impl<P: Provider> Answer<P> for Outcome<P> {
    const ANSWERS: Answers = Answers::Unsaid;

    fn into_outcome(self) -> Outcome<P> {
        self
    }
}

impl<P: Provider<Entity = P>> Answer<P> for P {
    const ANSWERS: Answers = Answers::Entity;

    fn into_outcome(self) -> Outcome<P> {
        Outcome::Entity(self)
    }
}

impl<P: Provider> Answer<P> for Created<P::Entity> {
    const ANSWERS: Answers = Answers::Created;

    fn into_outcome(self) -> Outcome<P> {
        Outcome::Created(self.0)
    }
}

impl<P: Provider, T: Serialize + JsonSchema + Send + Sync + 'static> Answer<P> for Data<T> {
    const ANSWERS: Answers = Answers::Value(shape::of::<T>);

    fn into_outcome(self) -> Outcome<P> {
        Outcome::value(self.0)
    }
}

impl<P: List> Answer<P> for Search {
    const ANSWERS: Answers = Answers::Collection;

    fn into_outcome(self) -> Outcome<P> {
        Outcome::List(self)
    }
}

impl<P: Provider> Answer<P> for Done {
    const ANSWERS: Answers = Answers::Done;

    fn into_outcome(self) -> Outcome<P> {
        Outcome::Done
    }
}

impl<P: Provider> Answer<P> for () {
    const ANSWERS: Answers = Answers::Nothing;

    fn into_outcome(self) -> Outcome<P> {
        Outcome::Done
    }
}

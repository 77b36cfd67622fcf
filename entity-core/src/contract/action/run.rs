//! The functions that carry out actions.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::{Answer, Answers, Arguments, Outcome};
use crate::contract::context::Context;
use crate::contract::provider::Provider;
use crate::words::error::Result;

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
    /// The kind of a successful answer.
    const ANSWERS: Answers;

    /// Calls the function.
    fn run(
        self,
        cx: &'a Context,
        entity: P::Entity,
        arguments: Arguments,
    ) -> BoxFuture<'a, Result<Outcome<P>>>;
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
    ) -> BoxFuture<'a, Result<Outcome<P>>> {
        let answer = self(cx, entity, arguments);
        Box::pin(async move { Ok(answer.await?.into_outcome()) })
    }
}

/// An `async fn` that carries out an action on the collection.
pub trait RunOnCollection<'a, P: Provider>: Copy + Send + Sync + 'static {
    /// The kind of a successful answer.
    const ANSWERS: Answers;

    /// Calls the function.
    fn run(self, cx: &'a Context, arguments: Arguments) -> BoxFuture<'a, Result<Outcome<P>>>;
}

impl<'a, P: Provider, F, R, A> RunOnCollection<'a, P> for F
where
    F: Fn(&'a Context, Arguments) -> R + Copy + Send + Sync + 'static,
    R: Future<Output = Result<A>> + Send + 'a,
    A: Answer<P>,
{
    const ANSWERS: Answers = A::ANSWERS;

    fn run(self, cx: &'a Context, arguments: Arguments) -> BoxFuture<'a, Result<Outcome<P>>> {
        let answer = self(cx, arguments);
        Box::pin(async move { Ok(answer.await?.into_outcome()) })
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

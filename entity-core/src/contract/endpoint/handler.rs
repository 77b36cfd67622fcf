//! Handlers: `async fn`s of any answer, called through one type.

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Answer, Call, Created, OptionalBody, Paged, Success};
use crate::contract::context::Context;
use crate::model::shape;
use crate::primitives::error::Result;

/// The output of a handler: data, data that [may](OptionalBody) be missing, a [`Paged`] of a list, or something
/// [`Created`].
pub trait Answering: Send + 'static {
    /// The declaration of the answer.
    const SUCCESS: Success;

    /// Converts the output to the answer.
    fn into_answer(self) -> Answer;
}

impl<T: Serialize + JsonSchema + Send + 'static> Answering for T {
    const SUCCESS: Success = Success::Data(shape::of::<T>);

    fn into_answer(self) -> Answer {
        Answer::new(self, None)
    }
}

impl<T: Serialize + JsonSchema + Send + 'static> Answering for Paged<T> {
    const SUCCESS: Success = Success::Paged(shape::of::<T>);

    fn into_answer(self) -> Answer {
        Answer::new(self.data, self.next)
    }
}

impl<T: Serialize + JsonSchema + Send + 'static> Answering for Created<T> {
    const SUCCESS: Success = Success::Created(shape::of::<T>);

    fn into_answer(self) -> Answer {
        Answer {
            created: Some(self.path),
            ..Answer::new(self.data, None)
        }
    }
}

impl<T: Serialize + JsonSchema + Send + 'static> Answering for OptionalBody<T> {
    const SUCCESS: Success = Success::OptionalBody(shape::of::<T>);

    fn into_answer(self) -> Answer {
        Answer {
            is_empty: self.0.is_none(),
            ..Answer::new(self.0, None)
        }
    }
}

/// An `async fn` that answers calls. Every `async fn(&Context, Call) -> Result<T>` is one if `T` is [`Answering`].
pub trait Handle<'a>: Send + Sync + 'static {
    /// The output of the function.
    type Answer: Answering;

    /// Calls the function.
    fn call(&self, cx: &'a Context, call: Call) -> BoxFuture<'a, Result<Answer>>;
}

impl<'a, F, R, T> Handle<'a> for F
where
    F: Fn(&'a Context, Call) -> R + Send + Sync + 'static,
    R: Future<Output = Result<T>> + Send + 'a,
    T: Answering,
{
    type Answer = T;

    fn call(&self, cx: &'a Context, call: Call) -> BoxFuture<'a, Result<Answer>> {
        let work = self(cx, call);
        Box::pin(async move { work.await.map(Answering::into_answer) })
    }
}

/// A handler whose output is not known to its caller. Every [`Handle`] is one.
pub trait Handler: Send + Sync + 'static {
    /// Calls the handler.
    fn run<'a>(&self, cx: &'a Context, call: Call) -> BoxFuture<'a, Result<Answer>>;
}

impl<H: for<'a> Handle<'a>> Handler for H {
    fn run<'a>(&self, cx: &'a Context, call: Call) -> BoxFuture<'a, Result<Answer>> {
        self.call(cx, call)
    }
}

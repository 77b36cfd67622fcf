//! The edge: slow work is done once, before the unit of work opens, so that nobody waits for it.

use std::sync::Arc;

use futures::future::BoxFuture;

use crate::contract::context::Context;
use crate::contract::input::Fields;
use crate::contract::preparation::Made;
use crate::primitives::error::Result;

/// Work at the edge: it sees no data, which may have changed when the unit of work opens.
pub type Work = BoxFuture<'static, Result<Made>>;

/// A function that finds the work for a request that sends these fields to the entity with this id, which is empty for a
/// creation. It only reads; the caller is not known to be permitted to write yet.
pub type Edge = for<'a> fn(&'a Context, &'a str, &'a Fields) -> BoxFuture<'a, Result<Option<Work>>>;

impl Context {
    /// Returns what the type [made](Edge) at the edge for this request, if it did.
    pub fn made<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let made = self.preparation.made.clone();
        made.and_then(|it| it.downcast().ok())
    }
}

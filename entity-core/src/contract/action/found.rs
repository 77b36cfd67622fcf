//! The result of the search of a type.

use futures::future::BoxFuture;

use crate::contract::context::Context;
use crate::contract::gate;
use crate::contract::provider::{List, Provider};
use crate::contract::search::{Page, Search};
use crate::words::error::Result;

/// A function that runs a search of a type.
pub(crate) type RunSearch<P> = for<'a> fn(&'a Context, Search) -> BoxFuture<'a, Result<Found<P>>>;

/// The page that a search asks for and, if it asks for that, the total number of entities.
pub(crate) type Found<P> = (Page<<P as Provider>::Entity>, Option<u64>);

/// Runs `search`, and counts all that it matches if it asks for that.
pub(crate) fn run_search<P: List>(cx: &Context, search: Search) -> BoxFuture<'_, Result<Found<P>>> {
    Box::pin(async move {
        let counted = search.is_counted.then(|| search.clone());
        let page = gate::list::<P>(cx, search).await?;
        let total = match counted {
            Some(search) => gate::count::<P>(cx, search).await?,
            None => None,
        };
        Ok((page, total))
    })
}

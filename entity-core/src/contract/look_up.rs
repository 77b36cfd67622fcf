//! Running an operation in a unit of work that is open already.

use super::context::Context;
use super::operation::Operation;
use super::registry::{Registry, Route};
use super::reply::{Body, Reply};
use super::request::Request;
use crate::primitives::error::{Error, Result};
use crate::primitives::path::DirectPath;

/// Reads `path` with `query` in the unit of work of `cx`, on behalf of its caller. For providers whose entities refer
/// to addresses that the caller must be able to read.
///
/// # Errors
/// Fails as a `GET` request for that path does.
pub async fn look_up(
    registry: &Registry,
    cx: &Context,
    path: DirectPath,
    query: Vec<(String, String)>,
) -> Result<Reply> {
    let request = Request::reading(path, query, cx.origin().clone());
    perform(registry, cx, &request).await
}

/// Runs `request` in the unit of work of `cx`. An action may answer with the address of another one, which is run then.
pub(crate) async fn perform(registry: &Registry, cx: &Context, request: &Request) -> Result<Reply> {
    let reply = run_once(registry, cx, request).await?;
    let Body::Forward(path) = reply.body else {
        return Ok(reply);
    };
    let forwarded = Request {
        path,
        ..request.clone()
    };
    match run_once(registry, cx, &forwarded).await? {
        Reply {
            body: Body::Forward(_),
            ..
        } => Err(Error::internal("an action forwards to one that forwards")),
        reply => Ok(reply),
    }
}

async fn run_once(registry: &Registry, cx: &Context, request: &Request) -> Result<Reply> {
    let (route, operation) = find(registry, request)?;
    let reply = operation.run(cx, registry, route, request).await;
    reply.map_err(|error| operation.told(cx.caller(), error))
}

pub(crate) fn find<'a>(
    registry: &'a Registry,
    request: &'a Request,
) -> Result<(&'a Route, Operation<'a>)> {
    let route = registry
        .route(&request.path.prefix)
        .ok_or_else(Error::not_found)?;
    Ok((route, Operation::find(route, &request.path, request.verb)?))
}

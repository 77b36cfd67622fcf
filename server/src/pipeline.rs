//! The way of every request: from the socket inwards, to `/direct` or `/api`, and out again.
//!
//! Each function is one step and calls the next one inwards, so that what a step does on the way in and on the
//! way out stands together, and the order of the steps is what it looks like.

use std::panic::AssertUnwindSafe;

use axum::body::{Body, HttpBody as _};
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, LOCATION};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use entity_core::{Error, Origin, Registry, Verb};
use entity_formats::STYLESHEET_PATH;
use futures::FutureExt as _;
use tokio::time::timeout;

use crate::app::App;
use crate::audit::AuditRow;
use crate::error::{self, ErrorContext};
use crate::exchange::Exchange;
use crate::middleware::address::{self, Arrived};
use crate::middleware::request_id::{REQUEST_ID, RequestId};
use crate::middleware::{audit, csrf, guard, headers, identify, panic, session};
use crate::{api, direct, feed, health};

/// Gives the request an id, finds out where it comes from, and adds to the answer what every answer carries.
pub(crate) async fn serve(app: &App, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let is_head = parts.method == Method::HEAD;
    let id = RequestId::new();
    let arrived = address::find(&parts, &app.config);
    let context = ErrorContext::of(app, &parts.headers, id.clone());
    let mut response = match outside(app, &parts, &context) {
        Some(response) => response,
        None => in_session(app, (parts, body), arrived, context).await,
    };
    headers::add(&mut response, arrived.is_secure);
    response.headers_mut().insert(REQUEST_ID, id.to_header());
    match is_head {
        true => without_body(response),
        false => response,
    }
}

/// The head of `response`, which still tells how long the body would be.
fn without_body(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    if let Some(length) = body.size_hint().exact() {
        parts.headers.insert(CONTENT_LENGTH, length.into());
    }
    Response::from_parts(parts, Body::empty())
}

/// What is neither audited nor tied to a session: the questions of load balancers, and the stylesheet.
fn outside(app: &App, parts: &Parts, context: &ErrorContext) -> Option<Response> {
    let path = parts.uri.path();
    if !matches!(path, health::LIVE | health::READY | STYLESHEET_PATH) {
        return None;
    }
    if !matches!(parts.method, Method::GET | Method::HEAD) {
        let error = Error::method_not_allowed(vec![Verb::Get]);
        return Some(error::respond(&error, context));
    }
    Some(match path {
        health::LIVE => app.health.live().into_response(),
        health::READY => app.health.readiness(),
        _ => stylesheet(),
    })
}

/// Finds out on whose behalf the request runs, and tells the name of the session.
async fn in_session(
    app: &App,
    request: (Parts, Body),
    arrived: Arrived,
    context: ErrorContext,
) -> Response {
    let session = match session::find(app, &request.0).await {
        Ok(session) => session,
        Err(error) => return error::respond(&error, &context),
    };
    let exchange = Exchange::new(request, session.clone(), arrived, context);
    let mut response = audited(app, exchange).await;
    if let Some(session) = session {
        session::name(&mut response, &session);
    }
    response
}

/// Writes an audit row for every request whose answer has not written one in its own transaction.
async fn audited(app: &App, mut exchange: Exchange) -> Response {
    let (time, context) = (app.now(), exchange.context.clone());
    let believed = identify::believe(app, &mut exchange).await;
    let origin = exchange.origin.clone();
    let response = match believed {
        Ok(()) => bounded(app, exchange).await,
        Err(error) => exchange.fail(&error),
    };
    let origin = match response.extensions().get::<feed::ReadAs>() {
        Some(read) => Origin {
            caller: read.0.clone(),
            ..origin
        },
        None => origin,
    };
    if response.extensions().get::<audit::Audited>().is_some() {
        return response;
    }
    match app
        .audit
        .record(AuditRow::of(origin, time, response.status()))
        .await
    {
        Ok(()) => response,
        Err(error) => error::respond(&error, &context),
    }
}

/// Ends the work on a request that takes too long, or that panics: one request fails, the service goes on.
async fn bounded(app: &App, exchange: Exchange) -> Response {
    let context = exchange.context.clone();
    let deadline = guard::deadline(&exchange.parts.method, &app.config);
    let work = Box::pin(AssertUnwindSafe(checked(app, exchange)).catch_unwind());
    let error = match timeout(deadline, work).await {
        Ok(Ok(response)) => return response,
        Ok(Err(panic)) => panic::to_error(&*panic),
        Err(_elapsed) => Error::unavailable("the request took too long: try again", 1),
    };
    error::respond(&error, &context)
}

/// Refuses what no endpoint should have to think about.
async fn checked(app: &App, mut exchange: Exchange) -> Response {
    if let Err(error) = guard::check_host(&exchange.parts, &app.config) {
        // A proxy before us may have seen another request, so nothing that follows can be trusted either.
        let mut response = exchange.fail(&error);
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(CONNECTION, close);
        return response;
    }
    let checked = match guard::check(&exchange.parts, &app.config) {
        Ok(()) => csrf::check(app, &mut exchange).await,
        Err(error) => Err(error),
    };
    match checked {
        Ok(()) => uninterrupted(app, exchange).await,
        Err(error) => exchange.fail(&error),
    }
}

/// What may write goes on to its end even if the client goes away.
async fn uninterrupted(app: &App, exchange: Exchange) -> Response {
    if exchange.parts.method.is_safe() {
        return route(app, exchange).await;
    }
    let context = exchange.context.clone();
    let task = app.tasks.spawn({
        let app = app.clone();
        async move { route(&app, exchange).await }
    });
    match task.await {
        Ok(response) => response,
        Err(error) => error::respond(&Error::internal(error), &context),
    }
}

/// Where the addresses that [`route`] knows begin.
pub(crate) fn places(registry: &Registry) -> Vec<String> {
    let types = registry.routes().map(|it| format!("/direct/{}", it.prefix));
    let others = ["/direct", "/api", "/api/login", "/api/logout", feed::MOUNT];
    types.chain(others.map(ToOwned::to_owned)).collect()
}

async fn route(app: &App, exchange: Exchange) -> Response {
    let path = exchange.parts.uri.path();
    let is_below = |mount: &str| {
        path.strip_prefix(mount)
            .is_some_and(|it| it.is_empty() || it.starts_with('/'))
    };
    if is_below("/direct") {
        direct::handle(app, exchange).await
    } else if is_below("/api") {
        api::handle(app, exchange).await
    } else if is_below(feed::MOUNT) {
        feed::handle(app, exchange).await
    } else if path == "/" {
        to_start(&exchange)
    } else {
        exchange.fail(&Error::not_found())
    }
}

/// Leads people from the root to where the pages begin.
fn to_start(exchange: &Exchange) -> Response {
    match exchange.parts.method {
        Method::GET | Method::HEAD => {
            let start = HeaderValue::from_static("/direct");
            (StatusCode::FOUND, [(LOCATION, start)]).into_response()
        }
        Method::OPTIONS => error::options(&[Verb::Get]),
        _ => exchange.fail(&Error::method_not_allowed(vec![Verb::Get])),
    }
}

fn stylesheet() -> Response {
    let headers = [
        (
            CONTENT_TYPE,
            HeaderValue::from_static("text/css; charset=utf-8"),
        ),
        (
            CACHE_CONTROL,
            HeaderValue::from_static("public, max-age=3600"),
        ),
    ];
    (headers, entity_formats::STYLESHEET).into_response()
}

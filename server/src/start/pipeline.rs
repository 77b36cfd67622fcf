//! The way of every request: from the socket inwards, to `/direct` or `/api`, and out again.
//!
//! Each function is one step and calls the next one inwards, so that what a step does on the way in and on the
//! way out stands together, and the order of the steps is what it looks like:
//!
//! | step | does | stands there because |
//! |---|---|---|
//! | [`serve`] | request id, client address, CORS, security headers | every answer carries them |
//! | [`outside`] | probes and assets | they are answered without a place, a session or an audit row |
//! | [`counted`] | rate limits, counts of answers | nothing is looked up for a client that sends too much |
//! | [`admitted_in`] | a place of the class of the request | nothing waits in the database for want of one |
//! | [`in_session`] | the session of the cookie | the rows of the next step name its user |
//! | [`audited`] | the caller, an audit row | also of requests that panic or take too long |
//! | [`with_timeout`] | deadline, panics | what is within is dropped |
//! | [`checked`] | host, headers, CSRF | no endpoint sees what they refuse |
//! | [`detached`] | writes go on without their client | the deadline must not drop them |
//! | [`route_and_hold`] | compression, memory of large answers | an answer holds its place until there is room for it |
//! | [`route`] | the part of the addresses: `/direct`, `/api`, feeds, pages | |
//!
//! The layers of tower-http do less than these steps: an id is taken from trusted proxies only, whether another site may
//! read an answer depends on who got it, a deadline moves as a body comes, and compressed answers have tags of their own.

use std::convert::Infallible;
use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::{Arc, LazyLock};
use std::task::{self, Poll};

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, DATE, LOCATION};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use entity_core::engine::Origin;
use entity_core::{Error, Registry, Result, Verb};
use entity_formats::ASSETS;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::time::{Instant, sleep_until};

use crate::base::accept::{Accept, PROBLEM_JSON};
use crate::base::address;
use crate::base::class::Class;
use crate::base::deadline::{BodyKind, Deadline};
use crate::base::error::{self, ErrorContext};
use crate::base::listen::ReadLater;
use crate::base::metrics::RejectReason;
use crate::base::mount::{self, Mount};
use crate::base::request_id::{REQUEST_ID, RequestId};
use crate::guard::admission::{AdmittedRequest, Sender, later};
use crate::guard::audit::AuditRow;
use crate::web::app::App;
use crate::web::coding::{self, PrecompressedBody, data};
use crate::web::middleware::cors::{CorsPolicy, ToStranger};
use crate::web::middleware::session::Known;
use crate::web::request_body::RequestBody;
use crate::web::request_context::{Incoming, RequestContext};
use crate::web::unread::Unread;
use crate::{
    base::health,
    pages::{feed, portal},
    web::{api, direct},
};
use crate::{
    base::panic,
    web::middleware::{audit, csrf, guard, headers, identify, session},
};

/// The service is what answers its requests. It is always ready, and never fails: what goes wrong is an answer.
impl tower::Service<Request> for App {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, std::result::Result<Response, Infallible>>;

    fn poll_ready(
        &mut self,
        _: &mut task::Context<'_>,
    ) -> Poll<std::result::Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let app = self.clone();
        Box::pin(async move { Ok(serve(&app, request).await) })
    }
}

/// Gives the request an id, finds out where it comes from, and adds to the answer what every answer carries.
pub(crate) async fn serve(app: &App, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let (body, unread) = Unread::of(&parts.headers, body);
    let is_head = parts.method == Method::HEAD;
    let arrived = address::find(&parts, &app.config);
    let is_proxy = arrived.peer.is_some_and(|it| app.config.proxy.trusts(it));
    let id = match is_proxy {
        true => RequestId::of_proxy(&parts.headers),
        false => RequestId::new(),
    };
    let accept = Accept::of(&parts.headers);
    let errors = ErrorContext {
        request_id: id.clone(),
        now: app.now(),
        wants_problem: accept.names(PROBLEM_JSON),
        offers_basic: app.config.auth.basic,
    };
    let readers = CorsPolicy::of(&parts, &app.config);
    let base_url = address::base_url(&parts, &app.config, &app.dispatcher.shared().base_url);
    let mut response = if let Some(response) = outside(app, &parts, &errors) {
        response
    } else {
        let incoming = Incoming {
            parts,
            accept,
            arrived,
            base_url: Arc::clone(&base_url),
            errors,
        };
        counted(app, Box::new((incoming, body))).await
    };
    if !response.status().is_success() {
        unread.read_on(&app.tasks);
    }
    if is_proxy {
        // The next request on its connection may be anybody's.
        response.extensions_mut().remove::<ReadLater>();
    }
    headers::add(&mut response, &base_url, arrived.is_secure);
    readers.tell(&mut response);
    response.headers_mut().insert(REQUEST_ID, id.to_header());
    headers::bound(&mut response);
    // The connection would add a time that it keeps, and goes on telling when the clock was set back.
    let now = direct::validators::to_http_date(app.now());
    if let Some(Ok(now)) = now.map(HeaderValue::try_from) {
        response.headers_mut().insert(DATE, now);
    }
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

/// Answers the questions of load balancers, and for what pages refer to: neither is audited or tied to a session.
fn outside(app: &App, parts: &Parts, errors: &ErrorContext) -> Option<Response> {
    let path = parts.uri.path();
    let asset = ASSETS.iter().position(|it| it.0 == path);
    if asset.is_none() && !matches!(path, health::LIVE | health::READY) {
        return None;
    }
    if parts.method == Method::OPTIONS {
        return Some(error::options(&[Verb::Get]));
    }
    if !matches!(parts.method, Method::GET | Method::HEAD) {
        let error = Error::method_not_allowed(vec![Verb::Get]);
        return Some(error::respond(&error, errors));
    }
    match (path, asset) {
        (_, Some(index)) => asset_at(index, &parts.headers),
        (health::LIVE, None) => Some(app.health.live().into_response()),
        (_, None) => Some(app.health.readiness()),
    }
}

/// Refuses what is too much, before anything is looked up for it, and counts all answers. From here on the request
/// is under its deadline.
async fn counted(app: &App, request: Box<(Incoming, Body)>) -> Response {
    let Incoming {
        parts,
        arrived,
        errors,
        ..
    } = &request.0;
    let class = Class::of(parts);
    let known = session::look(app, parts);
    let sender = match &known {
        Known::Session(Some(session)) => Sender::Account(&session.user().id),
        Known::Unknown(_) => Sender::Undecided,
        _ if identify::has_evidence(app, parts, arrived) => Sender::Undecided,
        _ => Sender::Stranger,
    };
    let asked = Some(&parts.uri).filter(|_| parts.method.is_safe());
    let arriving = app
        .admission
        .arrive(class, sender, arrived, asked, app.steady());
    let response = match arriving {
        Ok((admitted, quota)) => {
            let mut response = admitted_in(app, request, known, admitted).await;
            if let Some(quota) = quota {
                quota.tell(response.headers_mut());
            }
            response
        }
        Err(too_many) => too_many.respond(errors),
    };
    app.metrics.answered(class, response.status());
    response
}

/// Waits for a place, as long as the request may take at all.
async fn admitted_in(
    app: &App,
    request: Box<(Incoming, Body)>,
    known: Known,
    mut admitted: AdmittedRequest,
) -> Response {
    let has_body = !request.1.is_end_stream();
    let brings = match direct::upload::is_asked(app, &request.0.parts) {
        true => BodyKind::Files,
        false if has_body => BodyKind::Body,
        false => BodyKind::Nothing,
    };
    let until = &Deadline::new(Instant::now() + app.config.timeouts.request, brings);
    let entered = admitted.enter(&app.admission, has_body);
    match in_time(app, until, entered).await {
        // What is refused needs no room for all that follows.
        Ok(()) => {
            let session = in_session(app, request, known, until, admitted);
            Box::pin(session).await
        }
        Err(error) => error::refuse(&error, &request.0.errors),
    }
}

/// The result of `work`, if that is known before the deadline of its request.
fn in_time<T>(
    app: &App,
    until: &Deadline,
    work: impl Future<Output = Result<T>>,
) -> impl Future<Output = Result<T>> {
    let too_long = || Error::unavailable("the request took too long: try again", later());
    in_time_or(app, until, work, too_long)
}

/// The same; after the deadline the client is told this. Most work is done at once, and no clock is set for that.
async fn in_time_or<T>(
    app: &App,
    until: &Deadline,
    work: impl Future<Output = Result<T>>,
    told: impl FnOnce() -> Error,
) -> Result<T> {
    let mut work = pin!(work);
    let mut over = pin!(None);
    let done = poll_fn(|cx| match work.as_mut().poll(cx) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending => loop {
            if over.is_none() {
                over.set(Some(sleep_until(until.first())));
            }
            let Some(mut timer) = over.as_mut().as_pin_mut() else {
                return Poll::Pending;
            };
            if timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            match until.again() {
                Some(later) => timer.reset(later),
                None => return Poll::Ready(None),
            }
        },
    });
    done.await.unwrap_or_else(|| {
        app.metrics.refused(RejectReason::Deadline);
        Err(told())
    })
}

/// Finds out on whose behalf the request runs, and tells the name of the session.
async fn in_session(
    app: &App,
    request: Box<(Incoming, Body)>,
    known: Known,
    until: &Deadline,
    admitted: AdmittedRequest,
) -> Response {
    let (incoming, body) = *request;
    let found = session::find(app, &incoming.parts, known);
    let session = match in_time(app, until, found).await {
        Ok(session) => session,
        Err(error) => return error::respond(&error, &incoming.errors),
    };
    let (found, until_then) = (session.clone(), until.clone());
    let context = RequestContext::new(incoming, found, until_then, &admitted);
    // They go far, and are moved from step to step.
    let (context, body) = (
        Box::new(context),
        Box::new(RequestBody::unread(body, admitted)),
    );
    let mut response = audited(app, context, body, until).await;
    if let Some(session) = session {
        session::name(&mut response, &session);
    }
    response
}

/// Writes an audit row for every request whose answer has not written one in its own transaction.
async fn audited(
    app: &App,
    mut context: Box<RequestContext>,
    mut body: Box<RequestBody>,
    until: &Deadline,
) -> Response {
    let (time, errors) = (app.now(), context.errors.clone());
    let believed = in_time(app, until, identify::authenticate(app, &mut context)).await;
    let origin = context.origin.clone();
    let settled = body.admitted.as_mut().map_or(Ok(()), |it| {
        it.settle(&app.admission, &origin.caller, app.steady())
    });
    let mut response = match (settled, believed) {
        (Ok(()), Ok(())) => with_timeout(app, context, body, until).await,
        (Ok(()), Err(error)) => portal::fail(app, &context, &error),
        (Err(too_many), _) => too_many.respond(&errors),
    };
    let origin = match response.extensions().get::<feed::ReadAs>() {
        Some(read) => Origin {
            caller: read.0.clone(),
            ..origin
        },
        None => origin,
    };
    if origin.caller.is_anonymous() {
        response.extensions_mut().insert(ToStranger);
    }
    if response.extensions().get::<audit::Audited>().is_some() {
        return response;
    }
    let told = response.extensions().get::<audit::AuditedAs>();
    let status = told.map_or(response.status(), |it| it.0);
    let row = AuditRow::of(origin, time, status);
    match in_time(app, until, app.audit.record(row)).await {
        Ok(()) => response,
        Err(error) => error::respond(&error, &errors),
    }
}

/// Ends the work on a request that takes too long, or that panics: one request fails, the service goes on.
async fn with_timeout(
    app: &App,
    context: Box<RequestContext>,
    body: Box<RequestBody>,
    until: &Deadline,
) -> Response {
    let errors = context.errors.clone();
    let work = Box::pin(AssertUnwindSafe(checked(app, context, body, until)).catch_unwind());
    let work = work.map(|it| it.map_err(|panic| panic::to_error(&*panic)));
    match in_time(app, until, work).await {
        Ok(response) => response,
        Err(error) => error::respond(&error, &errors),
    }
}

/// Refuses what no endpoint should have to think about.
async fn checked(
    app: &App,
    context: Box<RequestContext>,
    mut body: Box<RequestBody>,
    until: &Deadline,
) -> Response {
    if let Err(error) = guard::check_host(&context.parts, &app.config) {
        // A proxy before us may have seen another request, so nothing that follows can be trusted either.
        let mut response = context.fail(&error);
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(CONNECTION, close);
        return response;
    }
    let checked = guard::check(&context.parts, &app.config, context.brings_files())
        .and_then(|()| session::check(app, &context.parts.headers));
    let checked = match checked {
        Ok(()) => csrf::check(app, &context, &mut body).await,
        Err(error) => Err(error),
    };
    match checked {
        Ok(()) => detached(app, context, body, until).await,
        Err(error) => context.fail(&error),
    }
}

/// A request that may write goes on to its end even if the client goes away or the deadline passes: whether it is done is then
/// not known here.
async fn detached(
    app: &App,
    context: Box<RequestContext>,
    body: Box<RequestBody>,
    until: &Deadline,
) -> Response {
    if context.parts.method.is_safe() {
        return route_and_hold(app, context, body).await;
    }
    let errors = context.errors.clone();
    let _awaited = context.abandoned.clone().drop_guard();
    let task = app.tasks.spawn({
        let app = app.clone();
        async move { route_and_hold(&app, context, body).await }
    });
    let done = async { task.await.map_err(Error::internal) };
    let done = in_time_or(app, until, done, Error::outcome_unknown).await;
    done.unwrap_or_else(|error| error::respond(&error, &errors))
}

/// Where the addresses that [`route`] knows begin.
pub(crate) fn places(registry: &Registry) -> Vec<String> {
    let types = registry.routes().map(|it| format!("/direct/{}", it.prefix));
    let others = Mount::begins().chain(["/api/login", "/api/logout"]);
    types.chain(others.map(ToOwned::to_owned)).collect()
}

/// Answers when there is room for the answer, if that is a large one.
async fn route_and_hold(
    app: &App,
    context: Box<RequestContext>,
    body: Box<RequestBody>,
) -> Response {
    let (errors, method) = (context.errors.clone(), context.parts.method.clone());
    let mount = Mount::of(context.parts.uri.path());
    let asked = data::Asked::of(app, mount, &context.parts);
    // An answer that waits for room was made, and no other one is until it has that.
    let _permit = body.admitted.as_ref().map(AdmittedRequest::permit);
    let mut response = route(app, mount, context, body).await;
    if let Some(asked) = asked {
        response = match asked.compress(app, response).await {
            Ok(response) => response,
            Err(error) => return error::respond(&error, &errors),
        };
    }
    if method == Method::HEAD {
        return response;
    }
    let held = app.answers.hold(response, !method.is_safe()).await;
    held.unwrap_or_else(|error| error::respond(&error, &errors))
}

async fn route(
    app: &App,
    mount: Mount,
    context: Box<RequestContext>,
    body: Box<RequestBody>,
) -> Response {
    // What comes most is to have no more room than it needs.
    match mount {
        Mount::Direct => direct::handle(app, context, body).await,
        Mount::Api => Box::pin(api::handle(app, context, body)).await,
        Mount::Feeds => Box::pin(feed::handle(app, &context)).await,
        Mount::Portal => Box::pin(portal::handle(app, context, body)).await,
        Mount::Start => to_start(&context),
        Mount::Nowhere => context.fail(&Error::not_found()),
    }
}

/// Leads people from the root to where the pages begin.
fn to_start(context: &RequestContext) -> Response {
    match context.parts.method {
        Method::GET | Method::HEAD => {
            let start = HeaderValue::from_static(mount::PORTAL);
            (StatusCode::FOUND, [(LOCATION, start)]).into_response()
        }
        Method::OPTIONS => error::options(&[Verb::Get]),
        _ => context.fail(&Error::method_not_allowed(vec![Verb::Get])),
    }
}

/// Answers the one of the [`ASSETS`] at this index.
fn asset_at(index: usize, headers: &HeaderMap) -> Option<Response> {
    static TEXTS: LazyLock<Vec<PrecompressedBody>> = LazyLock::new(|| {
        let coded =
            |it: &(_, _, &'static str)| PrecompressedBody::new(Bytes::from_static(it.2.as_bytes()));
        ASSETS.iter().map(coded).collect()
    });
    let (media_type, text) = (ASSETS.get(index)?.1, TEXTS.get(index)?);
    let kept = [
        (CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (
            CACHE_CONTROL,
            HeaderValue::from_static("public, max-age=3600"),
        ),
    ];
    let gzip = text.gzip(headers);
    let response = (kept, gzip.unwrap_or(text.plain()).clone()).into_response();
    Some(coding::told(response, gzip.is_some()))
}

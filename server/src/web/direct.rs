//! `/direct`: HTTP → request → reply → HTTP, for every registered type.

pub(crate) mod batch;
pub(crate) mod body;
pub(crate) mod bundle;
mod bytes;
pub(crate) mod describe;
mod ended;
mod etag;
pub(crate) mod file;
pub(crate) mod first;
pub(crate) mod idempotency;
mod login_form;
mod methods;
pub(crate) mod norefresh;
mod perform;
mod range;
mod refused;
pub(crate) mod request;
pub(crate) mod respond;
mod said;
mod stream;
pub(crate) mod upload;
pub(crate) mod validators;

use axum::http::Method;
use axum::response::Response;
use entity_core::engine::{Atomic, Preparation};
use entity_core::{Error, Result};

use crate::web::app::App;
use crate::web::events;
use crate::web::request_body::RequestBody;
use crate::web::request_context::RequestContext;
use crate::web::session_post::session_post;

use request::DirectRequest;

/// The unit of work in which a request runs: one of its own, or that of others.
#[derive(Debug)]
pub(crate) enum Runner<'a, 'd> {
    /// Each request in its own.
    Apart,
    /// All in this one, each with what was done for it at the edge.
    Together(&'a mut Atomic<'d>, Preparation),
}

/// Answers a request below `/direct`.
pub(crate) async fn handle(
    app: &App,
    mut context: Box<RequestContext>,
    mut body: Box<RequestBody>,
) -> Response {
    said::freshen(&mut context.parts.headers);
    let context = &*context;
    let path = &match request::parse_path(app, &context.parts.uri) {
        Ok(path) => path,
        Err(error) => return request::fail(app, context, None, &error),
    };
    let direct = DirectRequest { app, context, path };
    let mut response = match answer(direct, &mut body, Runner::Apart).await {
        Ok(response) => response,
        Err(error) => {
            ended::keep(direct, &mut body, &error).await;
            match Box::pin(refused::form(direct, &body, &error)).await {
                Some(response) => response,
                None => direct.fail(&error),
            }
        }
    };
    let is_secure = context.arrived.is_secure;
    said::forget(&mut response, &context.parts.headers, is_secure);
    response
}

/// Answers a request below `/direct`, in the unit of work of `runner`.
pub(crate) async fn answer(
    direct: DirectRequest<'_>,
    body: &mut RequestBody,
    runner: Runner<'_, '_>,
) -> Result<Response> {
    let DirectRequest { app, context, path } = direct;
    if context.origin.caller.is_anonymous() && context.demands_session() {
        return Err(Error::unauthenticated());
    }
    if describe::is_asked(path) {
        return describe::answer(direct);
    }
    if batch::is_asked(path) {
        return Box::pin(batch::answer(direct, body)).await;
    }
    if context.parts.method == Method::OPTIONS {
        return methods::answer(direct);
    }
    let Some(sent) = context.verb else {
        return Err(Error::method_not_allowed(methods::offered(direct)?));
    };
    if login_form::is_asked(path, sent) {
        return login_form::answer(direct);
    }
    if norefresh::is_asked(path, sent) {
        return norefresh::answer(direct);
    }
    if events::is_asked(path, sent) {
        return Box::pin(events::answer_direct(app, context)).await;
    }
    let logs_in = methods::is_login(path, sent);
    if !logs_in {
        app.dispatcher.admit(path, sent, &context.origin.caller)?;
        methods::check(direct, sent)?;
    }
    body::read(direct, body, sent, logs_in).await?;
    match (logs_in, runner) {
        (false, runner) => perform::perform(direct, body, sent, runner).await,
        (true, Runner::Apart) => Box::pin(session_post(app, context, &body.bytes)).await,
        (true, Runner::Together(..)) => Err(Error::bad_request(
            "a login can't be part of a batch: send it alone",
        )),
    }
}

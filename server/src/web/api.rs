//! `/api`: curated views over the same providers, for the portal.
//!
//! Invariant: [`Endpoints`] is all there is. An endpoint is closed to callers without a session unless its
//! declaration says `.open()`; the router, the access tests and the description read this one list.

mod call;
mod docs;
mod list;
mod login;

use std::future::ready;

use axum::http::{Method, Uri};
use axum::response::Response;
use entity_core::endpoint::{Call, Endpoint, EndpointRegistration};
use entity_core::engine::{Audit, DirectPath, RegistryError};
use entity_core::{Error, Result, Verb, db};
use futures::future::BoxFuture;

pub(crate) use call::{ENVELOPE, OwnAnswer, OwnCall, envelope_schema};
pub use list::{Endpoints, Listed};

use crate::web::app::App;
use crate::web::events;
use crate::web::middleware::audit::Audited;
use crate::web::request_body::RequestBody;
use crate::web::request_context::RequestContext;
use call::AnswerWriter;
use list::Handler;

/// A handler that needs the service itself.
type OwnHandler = for<'a> fn(OwnCall<'a>) -> BoxFuture<'a, Result<OwnAnswer>>;

/// The endpoints of the service itself, which need more of it than a unit of work.
const OWN: &[(Endpoint, OwnHandler)] = &[
    (login::LOGIN, |call| Box::pin(login::login(call))),
    (login::LOGOUT, |call| Box::pin(login::logout(call))),
    (events::FOLLOW, |call| Box::pin(events::answer(call))),
    (docs::DOCUMENT, |call| {
        Box::pin(ready(docs::document(&call)))
    }),
    (docs::PAGE, |call| Box::pin(ready(docs::page(&call)))),
    (docs::TRY, |call| Box::pin(ready(docs::lead(&call)))),
];

impl Endpoints {
    /// Creates the list of the service's own endpoints and of those that the linked crates registered.
    ///
    /// # Errors
    /// Returns an error if a declaration is wrong or two contradict each other. The error names the crates.
    pub fn from_inventory() -> std::result::Result<Self, RegistryError> {
        Self::of(EndpointRegistration::all())
    }

    /// Creates the list of the service's own endpoints and of `registered`.
    ///
    /// # Errors
    /// Returns an error if a declaration is wrong or two contradict each other. The error names the crates.
    pub fn of(
        registered: impl IntoIterator<Item = EndpointRegistration>,
    ) -> std::result::Result<Self, RegistryError> {
        Self::of_both(OWN.iter().map(|it| &it.0), registered)
    }
}

/// Answers a request below `/api`.
pub(crate) async fn handle(
    app: &App,
    context: Box<RequestContext>,
    mut body: Box<RequestBody>,
) -> Response {
    match answer(app, &context, &mut body).await {
        Ok(response) => response,
        Err(error) => context.fail(&error),
    }
}

async fn answer(app: &App, context: &RequestContext, body: &mut RequestBody) -> Result<Response> {
    let segments = segments(&context.parts.uri)?;
    let found = app.endpoints.at(&segments);
    let verb = context.verb;
    let chosen = found.iter().find(|it| Some(it.endpoint.verb) == verb);
    let is_stranger = context.origin.caller.is_anonymous();
    let Some(listed) = chosen else {
        let allowed: Vec<Verb> = found.iter().map(|it| it.endpoint.verb).collect();
        // Where strangers may do something, they are told what; a method that nothing takes is no secret anywhere.
        let is_open = verb.is_none() || found.iter().any(|it| it.endpoint.is_open);
        return match (allowed.is_empty(), context.parts.method == Method::OPTIONS) {
            (false, true) => Ok(crate::base::error::options(&allowed)),
            (false, false) if is_open || !is_stranger => Err(Error::method_not_allowed(allowed)),
            _ if is_stranger => Err(Error::unauthenticated()),
            _ => Err(Error::not_found()),
        };
    };
    if !listed.endpoint.is_open && is_stranger {
        return Err(Error::unauthenticated());
    }
    let endpoint = listed.endpoint;
    let limit = if endpoint.is_open {
        app.config.limits.login_body.0
    } else {
        app.config.limits.other_body.0
    };
    body.read(context, limit, app.config.timeouts.body).await?;
    let call = Call {
        variables: variables(endpoint, segments),
        query: context.query()?,
        body: None,
    };
    match listed.handler {
        Handler::Own(index) => answer_itself(index, (app, context, &body.bytes), call).await,
        Handler::Registered => answer_registered(app, context, endpoint, (call, &body.bytes)).await,
    }
}

async fn answer_itself(
    index: usize,
    (app, context, body): (&App, &RequestContext, &[u8]),
    call: Call,
) -> Result<Response> {
    let (_, run) = OWN
        .get(index)
        .ok_or_else(|| Error::internal("an endpoint has no handler"))?;
    let call = OwnCall {
        app,
        context,
        body,
        call,
    };
    match run(call).await? {
        OwnAnswer::Audited(mut response) => {
            response.extensions_mut().insert(Audited);
            Ok(response)
        }
        OwnAnswer::Read(response) => Ok(response),
    }
}

/// Runs the handler of `endpoint` in a unit of work. If that writes, the answer is made before the commit: without an
/// answer the transaction is rolled back.
async fn answer_registered(
    app: &App,
    context: &RequestContext,
    endpoint: &'static Endpoint,
    (mut call, body): (Call, &[u8]),
) -> Result<Response> {
    call.body = call::body(context, body, endpoint)?;
    let told = AnswerWriter::to(context, &call);
    let origin = &context.origin;
    if endpoint.verb.is_safe() {
        let work = app.dispatcher.read(origin, |cx| {
            Box::pin(async move { endpoint.run(cx, call).await })
        });
        return told.write(app, &work.await?);
    }
    let body = call.body.as_ref().unwrap_or_default();
    let preparation = app.dispatcher.prepare_texts(origin, body).await?;
    let work = app.dispatcher.write_prepared(origin, &preparation, |cx| {
        let (app, told, call) = (app.clone(), told.clone(), call.clone());
        Box::pin(async move {
            let answer = endpoint.run(cx, call).await?;
            db::check_quotas(cx).await?;
            let response = told.write(&app, &answer)?;
            let audit = Audit::Answered(response.status().as_u16());
            Ok((response, audit))
        })
    });
    let mut response = work.await?;
    response.extensions_mut().insert(Audited);
    Ok(response)
}

/// The path behind `/api`, decoded by the same grammar as that of `/direct`.
fn segments(uri: &Uri) -> Result<Vec<String>> {
    let path = DirectPath::parse(uri.path(), |_| false)?;
    Ok(path.segments)
}

/// The values of the variables of the path, each with its name.
fn variables(endpoint: &Endpoint, mut segments: Vec<String>) -> Vec<(&'static str, String)> {
    let mut value = |index| segments.get_mut(index).map(std::mem::take);
    let variables = endpoint.variables();
    variables
        .filter_map(|(index, name)| Some((name, value(index)?)))
        .collect()
}

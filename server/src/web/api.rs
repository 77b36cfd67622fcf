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
use entity_core::endpoint::{Call, Endpoint, MOUNT};
use entity_core::engine::{Audit, DirectPath};
use entity_core::{Error, Result, Verb, db};
use futures::future::BoxFuture;

pub(crate) use call::{ENVELOPE, OwnAnswer, OwnCall, envelope_schema};
pub use list::{Endpoints, Listed};

use crate::web::app::App;
use crate::web::events;
use crate::web::exchange::Exchange;
use crate::web::middleware::audit::Audited;
use call::Told;
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

/// Answers a request below `/api`.
pub(crate) async fn handle(app: &App, mut exchange: Box<Exchange>) -> Response {
    match answer(app, &mut exchange).await {
        Ok(response) => response,
        Err(error) => exchange.fail(&error),
    }
}

async fn answer(app: &App, exchange: &mut Exchange) -> Result<Response> {
    let segments = segments(&exchange.parts.uri)?;
    let found = app.endpoints.at(&segments);
    let verb = crate::web::direct::request::verb(&exchange.parts.method);
    let chosen = found.iter().find(|it| Some(it.endpoint.verb) == verb);
    let is_stranger = exchange.origin.caller.is_anonymous();
    let Some(listed) = chosen else {
        let allowed: Vec<Verb> = found.iter().map(|it| it.endpoint.verb).collect();
        // Where strangers may do something, they are told what; a method that nothing takes is no secret anywhere.
        let is_open = verb.is_none() || found.iter().any(|it| it.endpoint.is_open);
        return match (allowed.is_empty(), exchange.parts.method == Method::OPTIONS) {
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
        app.config.login_body.0
    } else {
        app.config.other_body.0
    };
    exchange.read_body(limit, app.config.body_timeout).await?;
    let call = Call {
        variables: variables(endpoint, segments),
        query: exchange.query()?,
        body: None,
    };
    match listed.handler {
        Handler::Own(run) => answer_itself(run, (app, exchange), call).await,
        Handler::Registered => answer_registered(app, exchange, endpoint, call).await,
    }
}

async fn answer_itself(
    run: OwnHandler,
    (app, exchange): (&App, &Exchange),
    call: Call,
) -> Result<Response> {
    let call = OwnCall {
        app,
        exchange,
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

/// Runs the handler of `endpoint` in a unit of work. If that writes, the answer is made before the commit: what can't be
/// answered is not done.
async fn answer_registered(
    app: &App,
    exchange: &Exchange,
    endpoint: &'static Endpoint,
    mut call: Call,
) -> Result<Response> {
    call.body = call::body(exchange, endpoint)?;
    let told = Told::to(exchange, &call);
    let origin = &exchange.origin;
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

/// The path of `segments`, encoded so that each stays one.
fn path_of(segments: &[String]) -> String {
    let encoded = segments.iter().map(|it| entity_core::encode_segment(it));
    encoded.fold(MOUNT.to_owned(), |path, it| path + "/" + &it)
}

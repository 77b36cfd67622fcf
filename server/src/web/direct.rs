//! `/direct`: HTTP → request → reply → HTTP, for every registered type.

pub(crate) mod batch;
pub(crate) mod bundle;
mod bytes;
pub(crate) mod describe;
mod ended;
mod etag;
pub(crate) mod file;
pub(crate) mod first;
pub(crate) mod idempotency;
mod login_form;
pub(crate) mod negotiate;
pub(crate) mod norefresh;
mod perform;
mod prefer;
mod range;
mod refused;
pub(crate) mod request;
pub(crate) mod respond;
mod said;
mod stream;
pub(crate) mod upload;
pub(crate) mod validators;

use std::sync::Arc;

use axum::http::header::ETAG;
use axum::http::{HeaderName, Method, Uri};
use axum::response::Response;
use entity_core::engine::{Atomic, DirectPath, Preparation};
use entity_core::format::{Format, View};
use entity_core::reply::{Abilities, Body, Effect, Reply};
use entity_core::{Error, Result, Verb};

use crate::base::error;
use crate::web::app::App;
use crate::web::events;
use crate::web::exchange::Exchange;
use crate::web::middleware::audit::Audited;
use crate::web::middleware::csrf;
use crate::web::session_post::session_post;

use respond::{Asked, Preference};

/// The header that tells by which kinds of documents an address may be patched.
const ACCEPT_PATCH: HeaderName = HeaderName::from_static("accept-patch");

/// Where requests run: each in a unit of work of its own, or all in the same one.
#[derive(Debug)]
pub(crate) enum Runner<'a, 'd> {
    /// Each in its own.
    Apart,
    /// All in this one, each with what was done for it at the edge.
    Together(&'a mut Atomic<'d>, Preparation),
}

/// Answers a request below `/direct`.
pub(crate) async fn handle(app: &App, mut exchange: Box<Exchange>) -> Response {
    let path = match parse_path(app, &exchange.parts.uri) {
        Ok(path) => path,
        Err(error) => return fail(app, &exchange, &DirectPath::default(), &error),
    };
    said::freshen(&mut exchange.parts.headers);
    let mut response = match answer(app, &mut exchange, &path, Runner::Apart).await {
        Ok(response) => response,
        Err(error) => {
            ended::keep(app, &mut exchange, &path, &error).await;
            match Box::pin(refused::form(app, &exchange, &path, &error)).await {
                Some(response) => response,
                None => fail(app, &exchange, &path, &error),
            }
        }
    };
    let is_secure = exchange.arrival(&app.config).is_secure;
    said::forget(&mut response, &exchange.parts.headers, is_secure);
    response
}

pub(crate) fn parse_path(app: &App, uri: &Uri) -> Result<DirectPath> {
    DirectPath::parse(behind_mount(uri), |it| app.formats.is_format(it))
}

pub(crate) async fn answer(
    app: &App,
    exchange: &mut Exchange,
    path: &DirectPath,
    runner: Runner<'_, '_>,
) -> Result<Response> {
    if exchange.origin.caller.is_anonymous() && request::demands_session(&exchange.parts.uri) {
        return Err(Error::unauthenticated());
    }
    if describe::is_asked(path) {
        return describe::answer(app, exchange, path);
    }
    if batch::is_asked(path) {
        return Box::pin(batch::answer(app, exchange, path)).await;
    }
    if exchange.parts.method == Method::OPTIONS {
        return options(app, exchange, path);
    }
    let Some(sent) = request::verb(&exchange.parts.method) else {
        return Err(Error::method_not_allowed(offered(app, exchange, path)?));
    };
    if login_form::is_asked(path, sent) {
        return login_form::answer(app, exchange, path);
    }
    if norefresh::is_asked(path, sent) {
        return norefresh::answer(app, exchange, path);
    }
    if events::is_asked(path, sent) {
        return Box::pin(events::answer_direct(app, exchange)).await;
    }
    let logs_in = is_login(path, sent);
    if !logs_in {
        let caller = &exchange.origin.caller;
        app.dispatcher.admit(path, sent, caller)?;
        refuse_method(app, exchange, path, sent)?;
    }
    let config = &app.config;
    let limit = match (logs_in, exchange.has_form()) {
        (true, _) => config.login_body.0,
        (false, true) => config.form_body.0,
        (false, false) => config.other_body.0,
    };
    match upload::reception(app, &exchange.parts, path, sent) {
        Some(reception) if !exchange.is_part => {
            Box::pin(upload::receive(app, exchange, path, sent, reception)).await?;
        }
        _ => exchange.read_body(limit, config.body_timeout).await?,
    }
    if exchange.owed_token.is_some() {
        return Err(csrf::without_token());
    }
    match (logs_in, runner) {
        (false, runner) => perform::perform(app, exchange, path, sent, runner).await,
        (true, Runner::Apart) => Box::pin(log_in(app, exchange)).await,
        (true, Runner::Together(..)) => Err(Error::bad_request(
            "a login can't be part of a batch: send it alone",
        )),
    }
}

/// Which verbs the address takes: those of its type, and those that the service itself answers there.
fn options(app: &App, exchange: &Exchange, path: &DirectPath) -> Result<Response> {
    let offered = offered(app, exchange, path)?;
    let mut response = error::options(&offered);
    if offered.contains(&Verb::Patch) {
        let kinds = format!("{}, {}", request::MERGE_PATCH, request::JSON_PATCH);
        respond::set(response.headers_mut(), ACCEPT_PATCH, Some(&kinds));
    }
    Ok(response)
}

/// Refuses a method that the address does not take before the body is looked at: no body makes that good, but a
/// form, which may name another one.
fn refuse_method(app: &App, exchange: &Exchange, path: &DirectPath, sent: Verb) -> Result<()> {
    let may_change = sent == Verb::Post && exchange.has_form();
    if sent.is_safe() || may_change {
        return Ok(());
    }
    // What leads nowhere is told later, and in other words.
    match offered(app, exchange, path) {
        Ok(offered) if !offered.contains(&sent) => Err(Error::method_not_allowed(offered)),
        _ => Ok(()),
    }
}

/// The verbs that the address takes.
///
/// # Errors
/// There is nothing, or nothing that the caller may know of.
fn offered(app: &App, exchange: &Exchange, path: &DirectPath) -> Result<Vec<Verb>> {
    let is_own = |verb: &Verb| {
        login_form::is_asked(path, *verb)
            || norefresh::is_asked(path, *verb)
            || events::is_asked(path, *verb)
            || is_login(path, *verb)
    };
    let own: Vec<Verb> = Verb::ALL.into_iter().filter(is_own).collect();
    match entity_core::engine::allowed(app.dispatcher.registry(), path) {
        Err(_) if own.is_empty() && exchange.origin.caller.is_anonymous() => {
            Err(Error::unauthenticated())
        }
        Err(error) if own.is_empty() => Err(error),
        offered => Ok([offered.unwrap_or_default(), own].concat()),
    }
}

/// Logs in.
async fn log_in(app: &App, exchange: &Exchange) -> Result<Response> {
    let base_url = &exchange.base_url;
    let arrival = exchange.arrival(&app.config);
    let mut response =
        session_post(arrival, &exchange.body, &app.login, &app.cookie, base_url).await?;
    response.extensions_mut().insert(Audited);
    Ok(response)
}

/// Returns whether the request makes a session: that is a login, which no type can answer, for it sets a cookie.
fn is_login(path: &DirectPath, verb: Verb) -> bool {
    let is_collection = path.segments.is_empty() || path.segments == ["new"];
    path.prefix == "session" && is_collection && verb == Verb::Post
}

fn asked<'a>(
    app: &'a App,
    exchange: &'a Exchange,
    path: &'a DirectPath,
    format: Format,
    preference: Preference,
    abilities: Abilities,
) -> Asked<'a> {
    Asked {
        headers: &exchange.parts.headers,
        now: exchange.context.now,
        format,
        is_named: path.format.is_some(),
        preference,
        view: view(app, exchange, path, abilities),
    }
}

/// Answers `body`, which the service itself made, in the format that was asked for.
fn show(app: &App, exchange: &Exchange, path: &DirectPath, body: Body) -> Result<Response> {
    let format = negotiate::format_among(
        &app.formats.offered(&body),
        path.format.as_deref(),
        &exchange.parts.headers,
        &app.formats,
    )?;
    let nothing = Abilities::default();
    let asked = asked(app, exchange, path, format, Preference::Usual, nothing);
    let reply = Reply {
        body,
        effect: Effect::Read,
        abilities: Abilities::default(),
        remarks: Vec::new(),
    };
    respond::respond(&reply, &asked, &app.formats)
}

/// What renderers may know of the request.
pub(crate) fn view<'a>(
    app: &'a App,
    exchange: &'a Exchange,
    path: &DirectPath,
    abilities: Abilities,
) -> View<'a> {
    let mounted = behind_mount(&exchange.parts.uri);
    let suffix = path.format.as_ref().map_or(0, |it| it.len() + 1);
    let without_format = mounted
        .len()
        .checked_sub(suffix)
        .and_then(|end| mounted.get(..end))
        .unwrap_or(mounted);
    let session: Option<&Arc<_>> = exchange.session.as_ref();
    let registry = app.dispatcher.registry();
    let said = said::sentence(&exchange.parts.headers, registry);
    let abilities = Abilities { said, ..abilities };
    View {
        base_url: &exchange.base_url,
        path: without_format,
        query: exchange.parts.uri.query().unwrap_or_default(),
        now: exchange.context.now,
        own_address: None,
        abilities,
        formats: &app.formats,
        registry,
        absolute: entity_providers::base::html::absolute,
        user: session.map(|it| it.display_name()).or(exchange
            .origin
            .caller
            .user
            .as_ref()
            .map(|it| it.eid.as_str())),
        csrf_token: session.map(|it| it.csrf_token()),
        most_bytes: exchange.answer_bytes.unwrap_or(app.config.answer_bytes.0),
    }
}

/// An error in the format that was asked for; in JSON where that format does not tell errors.
fn fail(app: &App, exchange: &Exchange, path: &DirectPath, error: &Error) -> Response {
    let context = &exchange.context;
    let format = negotiate::format(
        path.format.as_deref(),
        &exchange.parts.headers,
        &app.formats,
    )
    .ok();
    let renderer = format
        .filter(|_| !context.wants_problem)
        .and_then(|it| app.formats.renderer(it.name));
    let Some(renderer) = renderer else {
        return error::respond(error, context);
    };
    let problem = error::problem(error, context);
    let view = view(app, exchange, path, Abilities::default());
    let mut response = match renderer.render_problem(&problem, &view) {
        Some(bytes) => error::respond_with(error, context, bytes, renderer.format().media_type),
        None => error::respond(error, context),
    };
    tell_version(&mut response, error, renderer.format());
    response
}

/// Names the version that there is, where a write was refused because it is another one.
fn tell_version(response: &mut Response, error: &Error, format: Format) {
    let tag = error.version().map(|it| etag::tag(it, format.name));
    respond::set(response.headers_mut(), ETAG, tag.as_deref());
}

fn behind_mount(uri: &Uri) -> &str {
    let path = uri.path();
    match path.strip_prefix("/direct").unwrap_or(path) {
        "/" => "",
        behind => behind,
    }
}

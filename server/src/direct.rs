//! `/direct`: HTTP → request → reply → HTTP, for every registered type.

pub(crate) mod describe;
mod etag;
mod login_form;
pub(crate) mod negotiate;
pub(crate) mod request;
pub(crate) mod respond;

use std::sync::Arc;

use axum::http::{HeaderMap, Method, Uri};
use axum::response::Response;
use entity_core::format::{Format, View};
use entity_core::{Abilities, Body, DirectPath, Effect, Error, Reply, Request, Result, Verb};

use crate::app::App;
use crate::auth::http;
use crate::auth::session_post::session_post;
use crate::error;
use crate::exchange::Exchange;
use crate::middleware::audit::Audited;
use respond::{Asked, Preference};

/// The header by which a client says how it wants writes to be answered.
const PREFER: &str = "prefer";

/// Answers a request below `/direct`.
pub(crate) async fn handle(app: &App, mut exchange: Exchange) -> Response {
    let path = match DirectPath::parse(behind_mount(&exchange.parts.uri), |it| {
        app.formats.is_format(it)
    }) {
        Ok(path) => path,
        Err(error) => return fail(app, &exchange, &DirectPath::default(), &error),
    };
    match answer(app, &mut exchange, &path).await {
        Ok(response) => response,
        Err(error) => fail(app, &exchange, &path, &error),
    }
}

async fn answer(app: &App, exchange: &mut Exchange, path: &DirectPath) -> Result<Response> {
    if describe::is_asked(path) {
        return describe::answer(app, exchange, path);
    }
    if exchange.parts.method == Method::OPTIONS {
        return options(app, exchange, path);
    }
    let sent = request::verb(&exchange.parts.method)
        .ok_or_else(|| Error::method_not_allowed(Verb::ALL.to_vec()))?;
    if login_form::is_asked(path, sent) {
        return login_form::answer(app, exchange, path);
    }
    let logs_in = is_login(path, sent);
    if !logs_in {
        let caller = &exchange.origin.caller;
        app.dispatcher.admit(path, sent, caller)?;
    }
    let config = &app.config;
    let limit = match (logs_in, exchange.has_form()) {
        (true, _) => config.login_body.0,
        (false, true) => config.form_body.0,
        (false, false) => config.other_body.0,
    };
    exchange.read_body(limit, config.body_timeout).await?;
    if logs_in {
        return log_in(app, exchange).await;
    }
    let format = negotiate::format(
        path.format.as_deref(),
        &exchange.parts.headers,
        &app.formats,
    )?;
    let parsed = request::body(
        &exchange.parts.headers,
        path.format.as_deref(),
        &path.prefix,
        &exchange.body,
        &app.formats,
    )?;
    let verb = match (sent, parsed.method) {
        (Verb::Post, Some(other)) => other,
        _ => sent,
    };
    if verb != sent {
        verb.name().clone_into(&mut exchange.origin.method);
    }
    let preference = preference(&exchange.parts.headers, &parsed.input);
    let request = Request {
        path: path.clone(),
        verb,
        query: exchange.query()?,
        input: parsed.input,
        if_match: etag::if_match(&exchange.parts.headers)?,
        wants_abilities: format.name == "html",
        origin: exchange.origin.clone(),
    };
    let reply = app.dispatcher.dispatch(&request).await?;
    let asked = asked(app, exchange, path, format, preference, reply.abilities);
    let mut response = respond::respond(&reply, &asked, &app.formats)?;
    if !verb.is_safe() {
        response.extensions_mut().insert(Audited);
        if ends_session(exchange, verb, &reply.effect) {
            response = http::without_session(
                response,
                &app.cookie,
                exchange.arrival(&app.config).is_secure,
            );
        }
    }
    Ok(response)
}

/// Which verbs the address takes: those of its type, and those that the service itself answers there.
fn options(app: &App, exchange: &Exchange, path: &DirectPath) -> Result<Response> {
    let is_own = |verb: &Verb| login_form::is_asked(path, *verb) || is_login(path, *verb);
    let own: Vec<Verb> = Verb::ALL.into_iter().filter(is_own).collect();
    if own.is_empty() {
        let caller = &exchange.origin.caller;
        app.dispatcher.admit(path, Verb::Get, caller)?;
    }
    match entity_core::allowed(app.dispatcher.registry(), path) {
        Ok(offered) => Ok(error::options(&[offered, own].concat())),
        Err(_) if !own.is_empty() => Ok(error::options(&own)),
        Err(error) => Err(error),
    }
}

/// Logs in; a browser is sent on to the start page, now that it has the cookie.
async fn log_in(app: &App, exchange: &Exchange) -> Result<Response> {
    let base_url = &app.dispatcher.shared().base_url;
    let arrival = exchange.arrival(&app.config);
    let mut response =
        session_post(arrival, &exchange.body, &app.login, &app.cookie, base_url).await?;
    if exchange.has_form() && negotiate::names(&exchange.parts.headers, "text/html") {
        respond::see_start(&mut response, base_url);
    }
    response.extensions_mut().insert(Audited);
    Ok(response)
}

/// Whether the request ended the session that it came with.
fn ends_session(exchange: &Exchange, verb: Verb, effect: &Effect) -> bool {
    match (effect, &exchange.session) {
        (Effect::Deleted(ended), Some(own)) => {
            ended.prefix == "session" && ended.id.as_deref() == Some(own.handle())
        }
        (Effect::Acted(on), Some(_)) => on.prefix == "session" && verb == Verb::Delete,
        _ => false,
    }
}

/// Whether the request makes a session: that is a login, which no type can answer, for it sets a cookie.
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
        format,
        preference,
        view: view(app, exchange, path, abilities),
    }
}

/// Answers `body`, which the service itself made, in the format that was asked for.
fn show(app: &App, exchange: &Exchange, path: &DirectPath, body: Body) -> Result<Response> {
    let format = negotiate::format(
        path.format.as_deref(),
        &exchange.parts.headers,
        &app.formats,
    )?;
    let abilities = Abilities::default();
    let asked = asked(app, exchange, path, format, Preference::Usual, abilities);
    let reply = Reply {
        body,
        effect: Effect::Read,
        abilities,
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
    View {
        base_url: &app.dispatcher.shared().base_url,
        path: without_format,
        query: exchange.parts.uri.query().unwrap_or_default(),
        abilities,
        user: session.map(|it| it.display_name()),
        csrf_token: session.map(|it| it.csrf_token()),
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
    match renderer.render_problem(&problem, &view(app, exchange, path, Abilities::default())) {
        Some(bytes) => error::respond_with(error, context, bytes, renderer.format().media_type),
        None => error::respond(error, context),
    }
}

fn preference(headers: &HeaderMap, input: &entity_core::Input) -> Preference {
    let prefers = |what: &str| {
        headers
            .get_all(PREFER)
            .iter()
            .filter_map(|it| it.to_str().ok())
            .flat_map(|it| it.split([',', ';']))
            .any(|it| it.trim().eq_ignore_ascii_case(what))
    };
    if prefers("return=minimal") {
        Preference::Minimal
    } else if prefers("return=representation") {
        Preference::Representation
    } else if input.is_form && negotiate::names(headers, "text/html") {
        Preference::Page
    } else if input.is_form {
        Preference::Id
    } else {
        Preference::Usual
    }
}

fn behind_mount(uri: &Uri) -> &str {
    let path = uri.path();
    path.strip_prefix("/direct").unwrap_or(path)
}

//! `/portal/xlogin`, `/portal/relogin` and `/portal/logout`: the forms by which people and old clients log in and out.

use axum::http::StatusCode;
use axum::response::Response;
use entity_core::{Error, ErrorKind, Result};
use entity_formats::html::portal::{LogIn, log_in_page, log_out_page};
use entity_formats::parse_pairs;
use entity_providers::face::demo;

use super::{PAGE, Visit, fresh_page, lead, view};
use crate::base::error;
use crate::base::mount::PORTAL;
use crate::guard::auth::credentials::{Names, Shape, from_body};
use crate::guard::auth::http::{refuse_credentials_in_query, with_session, without_session};
use crate::guard::auth::login::LoggedIn;
use crate::web::middleware::audit::{Audited, AuditedAs};
use crate::web::request_context::RequestContext;

/// The fields of a login.
const NAMES: Names = Names {
    username: "eid",
    password: "pw",
};

/// The field with the path of the page to which one is led.
const TO: &str = "to";

/// Shows the form to log in.
pub(super) async fn form(visit: Visit<'_>) -> Result<Response> {
    page(&visit).await.map(fresh_page)
}

/// The form to log in, empty.
pub(super) async fn page(visit: &Visit<'_>) -> Result<Vec<u8>> {
    let (dispatcher, origin) = (&visit.app.dispatcher, &visit.context.origin);
    let is_first = dispatcher.read(origin, |cx| Box::pin(demo::is_empty(cx)));
    let query = visit.context.parts.uri.query().unwrap_or_default();
    let to = field(query.as_bytes(), TO);
    let sent = LogIn {
        to: to.as_deref().filter(|it| is_own(it)),
        is_first: is_first.await?,
        ..LogIn::default()
    };
    log_in_page(sent, &visit.view())
}

/// Returns whether `path` is one of our pages, and none to log in or out: a browser takes what begins with two slashes, of
/// either kind, for another host.
fn is_own(path: &str) -> bool {
    let begins = |roots: &[&str]| roots.iter().any(|it| path.starts_with(it));
    begins(&["/direct/", "/portal/site/", "/access/"])
        && !begins(&["/direct/session/new"])
        && path.chars().all(|it| it.is_ascii_graphic() && it != '\\')
}

/// Logs in and leads to where one came from, else to the start page. Wrong credentials show the form again: with the
/// status 200 where the two do not belong together, as clients of this address expect it.
///
/// # Errors
/// Fails as [`Login::attempt`](crate::guard::auth::Login::attempt) does, and if the body is no form.
pub(super) async fn log_in(visit: Visit<'_>) -> Result<Response> {
    let Visit {
        app, context, body, ..
    } = visit;
    let config = &app.config;
    let limit = config.limits.login_body.0;
    body.read(context, limit, config.timeouts.body).await?;
    let body = &*body.bytes;
    if !context.has_form() && !body.is_empty() {
        return Err(Error::new(
            ErrorKind::UnsupportedMediaType,
            "send `application/x-www-form-urlencoded`",
        ));
    }
    match attempt(app, context, body).await {
        Ok(logged_in) => {
            let to = field(body, TO).filter(|it| is_own(it));
            let response = lead(to.as_deref().unwrap_or(PORTAL))?;
            let is_secure = context.arrived.is_secure;
            let mut response = with_session(response, &logged_in, &app.cookie, is_secure);
            response.extensions_mut().insert(Audited);
            Ok(response)
        }
        Err(error) if is_about_form(&error) => {
            let (eid, to) = (field(body, NAMES.username), field(body, TO));
            let sent = LogIn {
                eid: eid.as_deref().unwrap_or_default(),
                to: to.as_deref().filter(|it| is_own(it)),
                refusal: Some(error.message()),
                is_first: false,
            };
            let page = log_in_page(sent, &view(app, context))?;
            Ok(refused(&error, context, page))
        }
        Err(error) => Err(error),
    }
}

async fn attempt(
    app: &crate::web::app::App,
    context: &RequestContext,
    body: &[u8],
) -> Result<LoggedIn> {
    let arrival = context.arrival(&app.config);
    refuse_credentials_in_query(arrival.query, NAMES)?;
    let evidence = from_body(Shape::Form, body, NAMES)?;
    let login = app
        .login
        .attempt(evidence, arrival.origin, arrival.session, StatusCode::FOUND);
    Box::pin(login).await
}

/// Returns whether the sender of the form can correct the error.
fn is_about_form(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Unauthenticated | ErrorKind::BadRequest | ErrorKind::TooManyRequests
    )
}

/// The value of a field in a form or a query, if it has the field.
fn field(pairs: &[u8], name: &str) -> Option<String> {
    let mut pairs = parse_pairs(pairs).unwrap_or_default().into_iter();
    pairs.find(|it| it.0 == name).map(|it| it.1)
}

/// The form again. Clients know wrong credentials by the form and the status 200; the audit log is told the truth.
fn refused(error: &Error, context: &RequestContext, page: Vec<u8>) -> Response {
    if error.kind() != ErrorKind::Unauthenticated {
        return error::respond_with(error, &context.errors, page, PAGE);
    }
    let mut response = fresh_page(page);
    let status = error::status(error.kind());
    response.extensions_mut().insert(AuditedAs(status));
    response
}

/// Asks whether to log out.
pub(super) fn ask(visit: &Visit<'_>) -> Result<Response> {
    match visit.context.session {
        Some(_) => log_out_page(&visit.view()).map(fresh_page),
        None => lead(PORTAL),
    }
}

/// Logs out, if there is a session, and leads to where one logs in.
pub(super) async fn log_out(visit: Visit<'_>) -> Result<Response> {
    let Visit { app, context, .. } = visit;
    let Some(session) = &context.session else {
        return lead(PORTAL);
    };
    let response = lead(PORTAL)?;
    app.login
        .logout(session, &context.origin, response.status())
        .await?;
    let mut response = without_session(response, &app.cookie, context.arrived.is_secure);
    response.extensions_mut().insert(Audited);
    Ok(response)
}

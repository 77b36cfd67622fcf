//! `POST /direct/session`: logs in as clients of the entity interface do it.

use axum::response::{IntoResponse as _, Response};
use entity_core::{Error, ErrorKind, Result};
use http::{HeaderName, HeaderValue, StatusCode, header};

use crate::guard::auth::credentials::{Names, Shape, from_body, from_pairs};
use crate::guard::auth::evidence::Evidence;
use crate::guard::auth::http::{Arrival, with_session};
use crate::web::app::App;
use crate::web::direct::respond;
use crate::web::middleware::audit::Audited;
use crate::web::request_context::RequestContext;

/// The fields of a login.
pub(crate) const NAMES: Names = Names {
    username: "_username",
    password: "_password",
};
const ENTITY_ID: HeaderName = HeaderName::from_static("entityid");
const ENTITY_REFERENCE: HeaderName = HeaderName::from_static("entityreference");

/// Logs in: 201 with the id of the session as text, 400 without a name or a password, 403 with wrong ones. A
/// browser that sent a form is sent on to the start page, now that it has the cookie.
///
/// Some clients send both in the query, with an empty body. Logs leave queries out.
///
/// # Errors
/// As [`Login::attempt`](crate::guard::auth::Login::attempt), but forbidden in place of unauthenticated; the request is malformed.
pub(crate) async fn session_post(
    app: &App,
    context: &RequestContext,
    body: &[u8],
) -> Result<Response> {
    let (arrival, base_url) = (context.arrival(&app.config), &context.base_url);
    let is_page = context.has_form() && context.accept.names("text/html");
    let answered = match is_page {
        true => StatusCode::SEE_OTHER,
        false => StatusCode::CREATED,
    };
    let evidence = evidence(&arrival, body)?;
    let logged_in = app
        .login
        .attempt(evidence, arrival.origin, arrival.session, answered)
        .await
        .map_err(forbidden_if_wrong)?;
    let handle = logged_in.session.handle();
    let id = match arrival.tells_session_id {
        true => logged_in.id.expose().to_owned(),
        false => handle.to_owned(),
    };
    let mut response = (answered, id.clone()).into_response();
    for (name, value) in [
        (
            header::LOCATION,
            format!("{base_url}/direct/session/{handle}"),
        ),
        (ENTITY_ID, id),
        (ENTITY_REFERENCE, format!("/session/{handle}")),
    ] {
        if let Ok(value) = HeaderValue::try_from(value) {
            response.headers_mut().insert(name, value);
        }
    }
    if is_page {
        respond::see_start(&mut response, base_url);
    }
    let mut response = with_session(response, &logged_in, &app.cookie, arrival.is_secure);
    response.extensions_mut().insert(Audited);
    Ok(response)
}

fn evidence(arrival: &Arrival<'_>, body: &[u8]) -> Result<Evidence> {
    if body.is_empty() {
        let query = arrival.query.unwrap_or_default();
        return from_pairs(entity_formats::parse_pairs(query.as_bytes())?, NAMES);
    }
    from_body(Shape::of(arrival.headers)?, body, NAMES)
}

/// This address has always said 403 where others say 401.
fn forbidden_if_wrong(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Unauthenticated => Error::new(ErrorKind::Forbidden, error.message().to_owned()),
        _ => error,
    }
}

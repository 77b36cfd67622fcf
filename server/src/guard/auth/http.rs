//! Answers to logins and logouts: the objects and texts, the cookie, the headers.

use axum::response::{IntoResponse as _, Response};
use entity_core::engine::Origin;
use entity_core::{Error, ErrorKind, Result};
use http::header::{CONTENT_TYPE, RETRY_AFTER, SET_COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use schemars::JsonSchema;
use serde::Serialize;

use super::credentials::{Names, Shape, from_body};
use super::login::{LoggedIn, Login, NO_SESSION, NOT_ESTABLISHED};
use crate::base::no_store;
use crate::guard::session::SESSION_HEADER;
use crate::guard::session::{Session, SessionCookie};

/// The time to wait where nothing else is known, in seconds.
const WAIT: u32 = 1;
/// The fields of a login.
pub(crate) const NAMES: Names = Names {
    username: "username",
    password: "password",
};
/// The header that makes a browser clear its data of the service.
pub(crate) const CLEAR_SITE_DATA: HeaderName = HeaderName::from_static("clear-site-data");

/// The parts of a request that a login or logout needs besides the body.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// The headers.
    pub headers: &'a HeaderMap,
    /// The query, not decoded.
    pub query: Option<&'a str>,
    /// The sender, and the address that it came from.
    pub origin: &'a Origin,
    /// The session that it came with.
    pub session: Option<&'a Session>,
    /// True if it came over a secure connection.
    pub is_secure: bool,
    /// True if the answer to a login tells the id of the session beside the cookie. Where it has to tell something, it
    /// tells the public name otherwise.
    pub tells_session_id: bool,
}

/// The answer to a form that logs in.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoginResult<'a> {
    /// Always `success`.
    status: &'static str,
    /// The internal id of the user.
    user_id: &'a str,
    /// The id of the session, which is also the first part of the cookie.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    /// The name of the user.
    display_name: &'a str,
    /// The token that unsafe requests may have to send.
    csrf_token: &'a str,
}

/// The answer to a logout.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LogoutResult {
    /// Always `success`.
    status: &'static str,
    /// The same for people.
    message: &'static str,
}

/// Logs in. A form is answered with an object, a JSON body with the session id as a JSON text; so is one
/// that is malformed.
///
/// # Errors
/// As [`Login::attempt`]; the content type is another one; a form is malformed.
pub async fn login(
    arrival: Arrival<'_>,
    body: &[u8],
    login: &Login,
    cookie: &SessionCookie,
) -> Result<Response> {
    let shape = Shape::of_body(arrival.headers, body)?;
    match attempt(shape, &arrival, body, login).await {
        Ok(logged_in) => begin(
            &logged_in,
            shape,
            cookie,
            (arrival.is_secure, arrival.tells_session_id),
        ),
        Err(error) if shape == Shape::Json && error.kind() == ErrorKind::BadRequest => {
            json(StatusCode::BAD_REQUEST, &error.message()).map(no_store)
        }
        Err(error) if error.code() == Some(NO_SESSION) => not_established(error, shape),
        Err(error) => Err(error),
    }
}

/// The answer of this address where others say 503: its specification has 500 for a session that can't be begun.
fn not_established(error: Error, shape: Shape) -> Result<Response> {
    let seconds = error.retry_after().unwrap_or(WAIT);
    let failed = Error::new(ErrorKind::Internal, NOT_ESTABLISHED)
        .with_retry_after(seconds)
        .with_source(error);
    if shape == Shape::Form {
        return Err(failed);
    }
    tracing::error!(error = ?failed, "{NOT_ESTABLISHED}");
    let mut response = json(StatusCode::INTERNAL_SERVER_ERROR, &NOT_ESTABLISHED)?;
    let headers = response.headers_mut();
    headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    Ok(no_store(response))
}

async fn attempt(
    shape: Shape,
    arrival: &Arrival<'_>,
    body: &[u8],
    login: &Login,
) -> Result<LoggedIn> {
    refuse_credentials_in_query(arrival.query, NAMES)?;
    let evidence = from_body(shape, body, NAMES)?;
    login
        .attempt(evidence, arrival.origin, arrival.session, StatusCode::OK)
        .await
}

fn begin(
    logged_in: &LoggedIn,
    shape: Shape,
    cookie: &SessionCookie,
    (is_secure, tells_session_id): (bool, bool),
) -> Result<Response> {
    let session = &logged_in.session;
    let session_id = tells_session_id.then(|| logged_in.id.expose());
    let response = match shape {
        Shape::Json => json(StatusCode::OK, &session_id.unwrap_or(session.handle())),
        Shape::Form => json(
            StatusCode::OK,
            &LoginResult {
                status: "success",
                user_id: &session.user().id,
                session_id,
                display_name: session.display_name(),
                csrf_token: session.csrf_token(),
            },
        ),
    }?;
    Ok(with_session(response, logged_in, cookie, is_secure))
}

/// Adds the cookie and the name of the session that has just begun.
pub(crate) fn with_session(
    mut response: Response,
    logged_in: &LoggedIn,
    cookie: &SessionCookie,
    is_secure: bool,
) -> Response {
    let headers = response.headers_mut();
    headers.insert(SET_COOKIE, cookie.issue(&logged_in.id, is_secure));
    if let Ok(handle) = HeaderValue::from_str(logged_in.session.handle()) {
        headers.insert(SESSION_HEADER, handle);
    }
    no_store(response)
}

/// Logs out.
///
/// # Errors
/// There is no session, or the database can't be reached.
pub async fn logout(
    arrival: Arrival<'_>,
    login: &Login,
    cookie: &SessionCookie,
) -> Result<Response> {
    let session = arrival.session.ok_or_else(Error::unauthenticated)?;
    let answered = StatusCode::OK;
    login.logout(session, arrival.origin, answered).await?;
    let result = LogoutResult {
        status: "success",
        message: "Logged out successfully",
    };
    let response = json(answered, &result)?;
    Ok(without_session(response, cookie, arrival.is_secure))
}

/// Takes the cookie away: for every answer to a request that ended its own session.
pub fn without_session(
    mut response: Response,
    cookie: &SessionCookie,
    is_secure: bool,
) -> Response {
    let headers = response.headers_mut();
    headers.insert(SET_COOKIE, cookie.clear(is_secure));
    if is_secure {
        headers.insert(CLEAR_SITE_DATA, HeaderValue::from_static("\"cache\""));
    }
    no_store(response)
}

/// Refuses a request whose query has one of the fields `names`: addresses are written to logs.
pub(crate) fn refuse_credentials_in_query(query: Option<&str>, names: Names) -> Result<()> {
    let pairs = entity_formats::parse_pairs(query.unwrap_or_default().as_bytes())?;
    let is_one = |name: &str| name == names.username || name == names.password;
    match pairs.iter().any(|(name, _)| is_one(name)) {
        true => Err(Error::bad_request(
            "send the username and the password in the body, never in the address",
        )),
        false => Ok(()),
    }
}

fn json(status: StatusCode, data: &impl Serialize) -> Result<Response> {
    let body = serde_json::to_vec(data).map_err(Error::internal)?;
    Ok((status, [(CONTENT_TYPE, "application/json")], body).into_response())
}

fn no_store(mut response: Response) -> Response {
    no_store::demand(response.headers_mut());
    response
}

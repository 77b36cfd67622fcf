//! `/api/login` and `/api/logout`.

use entity_core::endpoint::{Endpoint, RequestBody, Success};
use entity_core::{Error, ErrorKind, Result, shape};

use super::{OwnAnswer, OwnCall};
use crate::base::media;
use crate::guard::auth::http::{self, LoginResult, LogoutResult};
use crate::guard::auth::schema::login_body;
use crate::guard::auth::schema::login_example;

/// `POST /api/login`
pub(super) const LOGIN: Endpoint = Endpoint::post("/api/login", "logIn")
    .doc("Logs in and sets the session cookie.")
    .tag("login")
    .body(RequestBody {
        media_types: &[media::FORM, media::JSON],
        shape: login_body,
        example: Some(login_example),
    })
    .malformed(shape::of::<String>)
    .refuses(&[ErrorKind::Unauthenticated, ErrorKind::TooManyRequests])
    .answers_as(Success::Data(shape::either::<LoginResult<'static>, String>))
    .open();

/// `POST /api/logout`
pub(super) const LOGOUT: Endpoint = Endpoint::post("/api/logout", "logOut")
    .doc("Ends the session.")
    .tag("login")
    .answers_as(Success::Data(shape::of::<LogoutResult>));

/// The answer to [`LOGIN`].
pub(super) async fn login(call: OwnCall<'_>) -> Result<OwnAnswer> {
    let app = call.app;
    let response = http::login(
        call.context.arrival(&app.config),
        call.body,
        &app.login,
        &app.cookie,
    )
    .await?;
    Ok(OwnAnswer::Audited(call.told(response).await?))
}

/// The answer to [`LOGOUT`].
pub(super) async fn logout(call: OwnCall<'_>) -> Result<OwnAnswer> {
    let app = call.app;
    if call.context.session.is_none() {
        return Err(Error::unauthenticated());
    }
    let response = http::logout(call.context.arrival(&app.config), &app.login, &app.cookie).await?;
    Ok(OwnAnswer::Audited(call.told(response).await?))
}

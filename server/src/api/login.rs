//! `/api/login` and `/api/logout`.

use entity_core::{Error, ErrorKind, Result, shape};

use super::{Answer, Call};
use crate::auth::http::{self, LoginResult, LogoutResult};
use crate::media;
use crate::openapi::{Contract, Success, login_body, login_example};

/// What [`login`] takes and answers.
pub(super) const LOGIN: Contract = Contract {
    body: Some((&[media::FORM, media::JSON], login_body)),
    example: Some(login_example),
    malformed: Some(shape::of::<String>),
    refusals: &[ErrorKind::Unauthenticated, ErrorKind::TooManyRequests],
    ..Contract::new(
        "login",
        "logIn",
        Success::Json(shape::either::<LoginResult<'static>, String>),
    )
};

/// What [`logout`] takes and answers.
pub(super) const LOGOUT: Contract =
    Contract::new("login", "logOut", Success::Json(shape::of::<LogoutResult>));

/// `POST /api/login`
pub(super) async fn login(call: Call<'_>) -> Result<Answer> {
    let app = call.app;
    let response = http::login(
        call.exchange.arrival(&app.config),
        &call.exchange.body,
        &app.login,
        &app.cookie,
    )
    .await?;
    Ok(Answer::Response(response))
}

/// `POST /api/logout`
pub(super) async fn logout(call: Call<'_>) -> Result<Answer> {
    let app = call.app;
    if call.exchange.session.is_none() {
        return Err(Error::unauthenticated());
    }
    let response =
        http::logout(call.exchange.arrival(&app.config), &app.login, &app.cookie).await?;
    Ok(Answer::Response(response))
}

//! `/api/login` and `/api/logout`.

use entity_core::{Error, Result};

use super::{Answer, Call};
use crate::auth::http;

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

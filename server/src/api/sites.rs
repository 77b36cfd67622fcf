//! `/api/users/{userId}/sites`: the sites of a user.

use entity_core::Result;
use entity_providers::site::portal;

use super::{Answer, Call};

/// `GET /api/users/{userId}/sites`
pub(super) async fn of_user(call: Call<'_>) -> Result<Answer> {
    let only_pinned = call.flag("pinned")?;
    let who = call.variable("userId").to_owned();
    let sites = call
        .read(|cx| Box::pin(async move { portal::of_user(cx, &who, only_pinned).await }))
        .await?;
    Ok(Answer::json(sites))
}

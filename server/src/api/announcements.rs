//! `/api/users/me/announcements`: what is new in the sites that the caller keeps at hand.

use entity_core::{Result, shape};
use entity_providers::announcement::{self, News};

use super::{Answer, Call};
use crate::openapi::{Contract, Success};

/// What [`mine`] takes and answers.
pub(super) const MINE: Contract =
    Contract::new("portal", "listMyNews", Success::Part(shape::of::<News>));

/// `GET /api/users/me/announcements`
pub(super) async fn mine(call: Call<'_>) -> Result<Answer> {
    let window = call.window()?;
    let (news, next) = call
        .read(|cx| Box::pin(announcement::of_pinned_sites(cx, window)))
        .await?;
    Ok(Answer::part(news, window, next))
}

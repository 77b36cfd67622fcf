//! `/api/users/me/announcements`: what is new in the sites that the caller keeps at hand.

use entity_core::Result;
use entity_providers::announcement;

use super::{Answer, Call};

/// `GET /api/users/me/announcements`
pub(super) async fn mine(call: Call<'_>) -> Result<Answer> {
    let news = call
        .read(|cx| Box::pin(announcement::of_pinned_sites(cx)))
        .await?;
    Ok(Answer::json(news))
}

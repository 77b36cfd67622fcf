//! `/api/users/{userId}/sites`: the sites of a user.

use entity_core::{ErrorKind, Result, shape};
use entity_providers::site::portal::{self, SitesOfUser};

use super::{Answer, Call};
use crate::openapi::{Contract, Success};

/// What [`of_user`] takes and answers.
pub(super) const OF_USER: Contract = Contract {
    variables: &[("userId", "The user: `me`, an id, or an external id.")],
    flags: &[(
        PINNED,
        "whether to answer only those that the user keeps at hand",
    )],
    refusals: &[ErrorKind::Forbidden, ErrorKind::NotFound],
    ..Contract::new(
        "portal",
        "listSitesOfUser",
        Success::Part(shape::of::<SitesOfUser>),
    )
};

/// The parameter that leaves out the others.
const PINNED: &str = "pinned";

/// `GET /api/users/{userId}/sites`
pub(super) async fn of_user(call: Call<'_>) -> Result<Answer> {
    let only_pinned = call.flag(PINNED)?;
    let who = call.variable("userId").to_owned();
    let window = call.window()?;
    let (sites, next) = call
        .read(|cx| Box::pin(async move { portal::of_user(cx, &who, only_pinned, window).await }))
        .await?;
    Ok(Answer::part(sites, window, next))
}

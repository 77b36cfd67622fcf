//! `/api/user`: facts of the caller.

use entity_core::{Result, shape};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Answer, Call};
use crate::openapi::{Contract, Success};

/// What [`roles`] takes and answers.
pub(super) const ROLES: Contract =
    Contract::new("portal", "readMyRoles", Success::Data(shape::of::<Roles>));

/// What the caller may do everywhere.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Roles {
    /// Whether the caller is a super user.
    is_super_user: bool,
}

/// `GET /api/user/roles`
pub(super) async fn roles(call: Call<'_>) -> Result<Answer> {
    let is_super_user = call.read(|cx| cx.authorizer().is_superuser(cx)).await?;
    Ok(Answer::json(Roles { is_super_user }))
}

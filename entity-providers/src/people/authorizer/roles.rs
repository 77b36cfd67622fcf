//! `/api/user/roles`: the rights of the caller that hold everywhere.

use entity_core::endpoint::{Call, Endpoint};
use entity_core::{Context, Result};
use schemars::JsonSchema;
use serde::Serialize;

const MINE: Endpoint = Endpoint::get("/api/user/roles", "readMyRoles")
    .doc("Whether the caller is a super user.")
    .answers::<Roles>(&mine);
entity_core::register_endpoint!(MINE);

/// The rights of the caller that hold everywhere.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Roles {
    /// True if the caller is a super user.
    is_super_user: bool,
}

async fn mine(cx: &Context, _call: Call) -> Result<Roles> {
    let is_super_user = cx.authorizer().is_superuser(cx).await?;
    Ok(Roles { is_super_user })
}

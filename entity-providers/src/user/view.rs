//! `/api/users/me`: the account of the caller.

use entity_core::endpoint::{Call, Endpoint};
use entity_core::{Context, Result, View, gate};
use schemars::JsonSchema;
use serde::Serialize;

use super::User;

const ME: Endpoint = Endpoint::get("/api/users/me", "readMe")
    .doc("The account of the caller.")
    .tag("user")
    .answers::<Me>(&me);
entity_core::register_endpoint!(ME);

/// The account of the caller.
#[derive(Debug, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "OwnAccount")]
#[view(of = User)]
struct Me {
    /// The internal id.
    id: String,
    /// The external id, which the caller types to log in.
    eid: String,
    /// The name.
    display_name: String,
    /// The name as lists are sorted by it.
    sort_name: String,
    /// The first name.
    first_name: String,
    /// The last name.
    last_name: String,
    /// The e-mail address, perhaps empty.
    email: String,
    /// The kind of account, such as `registered`.
    r#type: String,
}

async fn me(cx: &Context, _call: Call) -> Result<Me> {
    let account = gate::read::<User>(cx, cx.user_id()?).await?;
    Ok(Me::of(account))
}

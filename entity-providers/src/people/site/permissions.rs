//! `/api/sites/{siteId}/permissions`: the permissions of the caller in a site.

use std::collections::BTreeSet;

use entity_core::endpoint::{Call, Endpoint};
use entity_core::{Context, ErrorKind, Need, Result, gate};
use schemars::JsonSchema;
use serde::Serialize;

use crate::people::authorizer;

const OF_CALLER: Endpoint =
    Endpoint::get("/api/sites/{siteId}/permissions", "listMyPermissionsInSite")
        .doc("The permissions that the caller holds in a site.")
        .variable("siteId", "The site.")
        .refuses(&[ErrorKind::Forbidden, ErrorKind::NotFound])
        .answers::<Rights>(&of_caller);
entity_core::register_endpoint!(OF_CALLER);

/// The permissions of a user in a site.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Rights {
    /// The site.
    site_id: String,
    /// The internal id of the user.
    user_id: String,
    /// The role of the user in the site; null for those who are not its members.
    role: Option<String>,
    /// The names of the permissions, sorted.
    permissions: BTreeSet<String>,
}

/// The permissions of the caller, who may visit the site.
async fn of_caller(cx: &Context, call: Call) -> Result<Rights> {
    let site = call.variable("siteId")?;
    gate::demand_in_site(cx, Need::Site("site.visit"), Some(site)).await?;
    let authorizer = authorizer::of(cx)?;
    let user = cx.user_id()?;
    let subject = authorizer.subject(cx, user).await?;
    Ok(Rights {
        site_id: site.to_owned(),
        user_id: user.to_owned(),
        role: subject.role_in(site).map(ToOwned::to_owned),
        permissions: authorizer.functions_of_caller(cx, site).await?,
    })
}

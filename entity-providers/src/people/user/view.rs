//! `/api/users/me` and `/api/users/{userId}`: the account of the caller, and the part of another one that the caller
//! may know.

use entity_core::endpoint::{Call, Endpoint};
use entity_core::{Context, ErrorKind, Result, View, gate};
use schemars::JsonSchema;
use serde::Serialize;

use super::User;
use crate::people::profile::Profile;

const ME: Endpoint = Endpoint::get("/api/users/me", "readMe")
    .doc("The account of the caller.")
    .tag("user")
    .answers::<Me>(&me);

const USER: Endpoint = Endpoint::get("/api/users/{userId}", "readUserInformation")
    .doc("A user, as far as the caller may know them: the name of everybody, the e-mail address as the profile tells it, and the account of the caller and, for those who may see others, of everybody.")
    .tag("user")
    .variable("userId", "The user: an id, or the external id of somebody in a common site.")
    .refuses(&[ErrorKind::NotFound])
    .answers::<Person>(&user);
entity_core::register_endpoint!(ME, USER);

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

/// A user. Null stands for what the caller may not know.
#[derive(Debug, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "UserInformation")]
#[view(of = Profile, beside(account: Option<User>), with(
    account = account.as_ref(),
    id = it.user_uuid.clone(),
    eid = account.map(|it| it.eid.clone()),
    display_name = account.map_or(&it.display_name, |it| &it.display_name).clone(),
    sort_name = account.map(|it| it.sort_name.clone()),
    first_name = account.map(|it| it.first_name.clone()),
    last_name = account.map(|it| it.last_name.clone()),
    shown = Some(&it.email).filter(|it| !it.is_empty()),
    email = account.map(|it| &it.email).or(shown).cloned(),
    r#type = account.map(|it| it.r#type.clone()),
))]
struct Person {
    /// The internal id.
    id: String,
    /// The external id, which the user types to log in.
    eid: Option<String>,
    /// The name.
    display_name: String,
    /// The name as lists are sorted by it.
    sort_name: Option<String>,
    /// The first name.
    first_name: Option<String>,
    /// The last name.
    last_name: Option<String>,
    /// The e-mail address, perhaps empty.
    email: Option<String>,
    /// The kind of account, such as `registered`.
    r#type: Option<String>,
}

/// The profile is asked for first: its rule says who is there for the caller at all.
async fn user(cx: &Context, call: Call) -> Result<Person> {
    let profile = gate::read::<Profile>(cx, call.variable("userId")?).await?;
    // By its internal id: another account may have that as its external one.
    let id = format!("id={}", profile.user_uuid);
    let account = match gate::read::<User>(cx, &id).await {
        Ok(account) => Some(account),
        Err(error) if error.kind() == ErrorKind::Forbidden => None,
        Err(error) => return Err(error),
    };
    Ok(Person::of(profile, account))
}

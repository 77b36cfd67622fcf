//! What the operator of the machine does with accounts. Nobody is asked for a permission: whoever can run
//! these can read the database as well.

use entity_core::{Context, Create as _, Error, Fields, Result, Update as _};
use sea_orm::ActiveValue::Set;
use sea_orm::EntityTrait as _;
use serde_json::{Map, Value};

use super::{CREDENTIALS, User, Users, query};
use crate::authorizer::ADMIN_SITE;
use crate::db::membership;

/// The role in the administration site that makes a super user.
const ADMIN_ROLE: &str = "admin";

/// Makes an account that can log in, a super user's if asked for.
///
/// # Errors
/// The external id is taken or illegal, or the password too short.
pub async fn add(cx: &Context, eid: &str, password: &str, is_superuser: bool) -> Result<User> {
    let user = Users::create(cx, fields(&[("eid", eid), ("password", password)])).await?;
    if is_superuser {
        let row = membership::ActiveModel {
            user_id: Set(user.id.clone()),
            site_id: Set(ADMIN_SITE.to_owned()),
            role: Set(ADMIN_ROLE.to_owned()),
            is_active: Set(true),
            is_provided: Set(false),
            is_pinned: Set(false),
            created: Set(cx.now().timestamp_millis()),
            ..Default::default()
        };
        membership::Entity::insert(row)
            .exec_without_returning(cx.db()?)
            .await?;
    }
    cx.emit("user.add", &user.reference, None);
    Ok(user)
}

/// Gives the account of `eid` another password; whoever is logged in with it no longer is.
///
/// # Errors
/// There is no such account, or the password is too short.
pub async fn set_password(cx: &Context, eid: &str, password: &str) -> Result<User> {
    change(cx, eid, fields(&[("password", password)])).await
}

/// Shuts the account of `eid`; whoever is logged in with it no longer is.
///
/// # Errors
/// There is no such account.
pub async fn disable(cx: &Context, eid: &str) -> Result<User> {
    change(
        cx,
        eid,
        Fields(Map::from_iter([("disabled".to_owned(), Value::Bool(true))])),
    )
    .await
}

async fn change(cx: &Context, eid: &str, changes: Fields) -> Result<User> {
    let row = query::by_eid(cx, eid)
        .await?
        .ok_or_else(|| Error::field("eid", "names no account"))?;
    let user = Users::update(cx, User::new(row, cx.base_url()), changes).await?;
    cx.emit(CREDENTIALS, &user.reference, None);
    Ok(user)
}

fn fields(pairs: &[(&str, &str)]) -> Fields {
    Fields(
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), Value::from(*value)))
            .collect(),
    )
}

//! The work of the operator of the machine on accounts. Nobody is asked for a permission: whoever can run
//! these can read the database as well.

use entity_core::db::{self, Record as _};
use entity_core::wire::Millis;
use entity_core::{Context, Error, ErrorKind, Fields, Result};
use sea_orm::ActiveValue::Set;
use sea_orm::EntityTrait as _;
use serde_json::Map;

use super::{PasswordHash, User, find};
use crate::people::authorizer::keep_maintained;
use crate::people::site::id::ADMIN_SITE;
use crate::storage::db::membership;

/// The role in the administration site that makes a super user.
const ADMIN_ROLE: &str = "admin";

/// Makes an account that can log in, a super user's if asked for.
///
/// # Errors
/// The external id is taken or illegal.
pub async fn add(
    cx: &Context,
    eid: &str,
    password: PasswordHash,
    is_superuser: bool,
) -> Result<User> {
    let draft = Fields(Map::from_iter([("eid".to_owned(), eid.into())]));
    let mut user = User::make(cx, draft)?;
    user.password_hash = password.hash.clone();
    let user = db::add(cx, user).await?;
    if is_superuser {
        let row = membership::ActiveModel {
            user_id: Set(user.id.clone()),
            site_id: Set(ADMIN_SITE.to_owned()),
            role: Set(ADMIN_ROLE.to_owned()),
            is_active: Set(true),
            is_provided: Set(false),
            origin: Set(membership::Origin::Mandate),
            is_pinned: Set(false),
            created: Set(cx.now().timestamp_millis()),
            ..Default::default()
        };
        membership::Entity::insert(row)
            .exec_without_returning(cx.db()?)
            .await?;
    }
    password.note(cx, &user).await?;
    cx.emit("user.add", &user.reference, None);
    Ok(user)
}

/// Gives the account of `eid` another password; whoever is logged in with it no longer is.
///
/// # Errors
/// There is no such account.
pub async fn set_password(cx: &Context, eid: &str, password: PasswordHash) -> Result<User> {
    let (mut changed, current) = existing(cx, eid).await?;
    changed.password_hash = password.hash.clone();
    changed.end_sessions(cx, true, true);
    let user = db::store(cx, current, changed).await?;
    password.note(cx, &user).await?;
    Ok(user)
}

/// Shuts the account of `eid`; whoever is logged in with it no longer is.
///
/// # Errors
/// There is no such account, or it is the last one of a super user who can log in.
pub async fn disable(cx: &Context, eid: &str) -> Result<User> {
    let (mut changed, current) = existing(cx, eid).await?;
    changed.disabled = Some(true);
    changed.end_sessions(cx, false, false);
    let shut = keep_maintained(cx, ADMIN_SITE, db::store(cx, current, changed));
    Box::pin(shut).await.map_err(|error| match error.kind() {
        ErrorKind::Conflict => Error::conflict(format!(
            "`{eid}` is the last administrator: `lectern user add NAME --superuser` makes another one first"
        )),
        _ => error,
    })
}

/// Opens the account of `eid` again. Whoever was logged in with it has to log in anew.
///
/// # Errors
/// There is no such account.
pub async fn enable(cx: &Context, eid: &str) -> Result<User> {
    let (mut changed, current) = existing(cx, eid).await?;
    changed.disabled = Some(false);
    db::store(cx, current, changed).await
}

/// The account of `eid`, to be changed now, and as it is.
async fn existing(cx: &Context, eid: &str) -> Result<(User, User)> {
    let found = find::by_eid(cx, eid).await?;
    let current = found.ok_or_else(|| {
        Error::bad_request(format!(
            "there is no account `{eid}`: `lectern user list` names the accounts, and `lectern user add` makes one"
        ))
    })?;
    let mut changed = current.clone();
    changed.last_modified = Some(Millis(cx.now()));
    Ok((changed, current))
}

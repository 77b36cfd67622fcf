//! Accounts by name, id or address. Words are compared without regard to case.

use std::collections::HashMap;

use entity_core::{Context, Result, db};
use sea_orm::sea_query::{Expr, ExprTrait as _, Func};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};

use super::{User, known, user};

/// The account with the internal id `id`, whole and whoever asks.
pub async fn find(cx: &Context, id: &str) -> Result<Option<User>> {
    let found = db::load(cx, user::Entity::find_by_id(id)).await?;
    Ok(found.into_iter().next())
}

/// By external id or else by internal id, as the caller sees it.
pub(super) async fn by_any_id(cx: &Context, id: &str) -> Result<Option<User>> {
    let named = is(user::Column::Eid, id).or(user::Column::Id.eq(id));
    let mut found: Vec<User> = db::find(cx, user::Entity::find().filter(named)).await?;
    // The external one comes last.
    found.sort_by_key(|it| it.eid.eq_ignore_ascii_case(id));
    Ok(found.pop())
}

/// By the external id, whole and whoever asks.
pub(crate) async fn by_eid(cx: &Context, eid: &str) -> Result<Option<User>> {
    let named = is(user::Column::Eid, eid);
    Ok(db::load(cx, user::Entity::find().filter(named))
        .await?
        .pop())
}

/// All that have this e-mail address, whole and whoever asks; nobody has an empty one.
pub(super) async fn by_email(cx: &Context, email: &str) -> Result<Vec<User>> {
    let addressed = is(user::Column::Email, email).and(user::Column::Email.ne(""));
    db::load(cx, user::Entity::find().filter(addressed)).await
}

/// Returns the condition that `column` is `word`, whatever the case; an index serves it.
pub(super) fn is(column: user::Column, word: &str) -> Expr {
    lower(column).eq(word.to_ascii_lowercase())
}

/// Returns a column in small letters, as its index has it.
pub(crate) fn lower(column: user::Column) -> Expr {
    Func::lower(column.into_expr()).into()
}

/// The account that `username` names for a login: an external id, or a verified e-mail address that only one account has.
pub async fn credentials(cx: &Context, username: &str) -> Result<Option<User>> {
    // No account has such a name, and PostgreSQL does not even take the question.
    if username.contains('\0') {
        return Ok(None);
    }
    if let Some(user) = by_eid(cx, username).await? {
        return Ok(Some(user));
    }
    let mut found = by_email(cx, username).await?;
    found.retain(has_verified_email);
    let user = found.pop();
    Ok(user.filter(|_| found.is_empty()))
}

/// Returns whether the e-mail address of `user` proves who they are.
fn has_verified_email(user: &User) -> bool {
    user.email_verified == Some(true)
}

/// The internal ids of those accounts that `names` name: by external id or else by internal id or else by a verified
/// e-mail address that no other account has. Names of nobody are left out.
pub(crate) async fn by_names(cx: &Context, names: &[String]) -> Result<HashMap<String, String>> {
    let small: Vec<String> = names.iter().map(|it| it.to_ascii_lowercase()).collect();
    let is_named = db::among(cx, user::Column::Id.into_expr(), names)?
        .or(db::among(cx, lower(user::Column::Eid), &small)?)
        .or(db::among(cx, lower(user::Column::Email), &small)?);
    let accounts: Vec<User> = db::load(cx, user::Entity::find().filter(is_named)).await?;
    let chosen = names
        .iter()
        .filter_map(|it| Some((it.clone(), choose(&accounts, it)?)));
    Ok(chosen.collect())
}

fn choose(accounts: &[User], name: &str) -> Option<String> {
    let external = accounts.iter().find(|it| it.eid.eq_ignore_ascii_case(name));
    let internal = || accounts.iter().find(|it| it.id == name);
    let addressed = || {
        let has_address = |it: &&User| {
            !name.is_empty() && has_verified_email(it) && it.email.eq_ignore_ascii_case(name)
        };
        let mut found = accounts.iter().filter(has_address);
        found.next().filter(|_| found.next().is_none())
    };
    let chosen = external.or_else(internal).or_else(addressed);
    chosen.map(|it| it.id.clone())
}

/// Notes that the user `id`, if there is one, has just logged in. That is no change to the user.
pub async fn note_login(cx: &Context, id: &str) -> Result<()> {
    db::note::<User>(cx, id, "last_login", cx.now().timestamp_millis()).await
}

/// Keeps a stronger hash of the password that the user `id`, if there is one, has already. That is no change to the
/// user.
pub async fn keep_hash(cx: &Context, id: &str, hash: &str) -> Result<()> {
    if let Some(old) = find(cx, id)
        .await?
        .as_ref()
        .and_then(|it| it.password_hash.expose())
    {
        known::follow(cx, old, hash).await?;
    }
    db::note::<User>(cx, id, "password_hash", hash).await
}

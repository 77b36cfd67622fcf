//! Accounts by what people know of them. Words are compared without regard to case.

use std::collections::HashMap;

use entity_core::db::{self, Sql, THIS};
use entity_core::{Context, Result};

use super::{User, known};

/// The account with the internal id `id`, whole and whoever asks.
///
/// # Errors
/// The database can't be read.
pub async fn find(cx: &Context, id: &str) -> Result<Option<User>> {
    let mut found = db::load(cx, |sql| Ok(sql.push("this.id = ").bind(id))).await?;
    Ok(found.pop())
}

/// By external id or else by internal id, as the caller sees it.
pub(super) async fn by_any_id(cx: &Context, id: &str) -> Result<Option<User>> {
    let mut found: Vec<User> = db::find(cx, |sql| {
        is_of(sql, "eid", id);
        Ok(sql.push(" OR this.id = ").bind(id))
    })
    .await?;
    // The external one comes last.
    found.sort_by_key(|it| it.eid.eq_ignore_ascii_case(id));
    Ok(found.pop())
}

/// By the external id, whole and whoever asks.
pub(crate) async fn by_eid(cx: &Context, eid: &str) -> Result<Option<User>> {
    let mut found = db::load(cx, |sql| Ok(is_of(sql, "eid", eid))).await?;
    Ok(found.pop())
}

/// All that have this e-mail address, whole and whoever asks; nobody has an empty one.
pub(super) async fn by_email(cx: &Context, email: &str) -> Result<Vec<User>> {
    db::load(cx, |sql| {
        Ok(is_of(sql, "email", email).push(" AND this.email <> ''"))
    })
    .await
}

/// Appends the condition that `column` is `word`, whatever the case; an index serves it.
fn is_of<'s>(sql: &'s mut Sql, column: &str, word: &str) -> &'s mut Sql {
    sql.push("lower(").column(THIS, column).push(") = ");
    sql.bind(word.to_ascii_lowercase())
}

/// The account that `username` names for a login: an external id, or a verified e-mail address that only one account has.
///
/// # Errors
/// The database can't be read.
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
    let lower: Vec<String> = names.iter().map(|it| it.to_ascii_lowercase()).collect();
    let accounts: Vec<User> = db::load(cx, |sql| {
        sql.push("this.id").bind_list(names)?;
        sql.push(" OR lower(this.eid)").bind_list(&lower)?;
        sql.push(" OR lower(this.email)").bind_list(&lower)
    })
    .await?;
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
///
/// # Errors
/// Returns an error if the database can't be written.
pub async fn note_login(cx: &Context, id: &str) -> Result<()> {
    db::note::<User>(cx, id, "last_login", cx.now().timestamp_millis()).await
}

/// Keeps a stronger hash of the password that the user `id`, if there is one, has already. That is no change to the
/// user.
///
/// # Errors
/// Returns an error if the database can't be written.
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

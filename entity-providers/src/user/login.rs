//! What logging in needs to know of a user.

use std::fmt;

use entity_core::{Context, Result};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use super::{display_name, known, query};
use crate::db::user_account::{Column, Entity as Account};

/// What logging in needs to know of a user.
#[derive(Clone)]
pub struct Credentials {
    /// The internal id.
    pub id: String,
    /// The external id.
    pub eid: String,
    /// The name.
    pub display_name: String,
    /// The hash of the password; none if another directory checks it.
    pub password_hash: Option<String>,
    /// Whether the account is shut.
    pub is_disabled: bool,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("id", &self.id)
            .field("is_disabled", &self.is_disabled)
            .finish_non_exhaustive()
    }
}

/// The credentials of whom `username` names: an external id, or an e-mail address that only one account has.
///
/// # Errors
/// The database can't be read.
pub async fn credentials(cx: &Context, username: &str) -> Result<Option<Credentials>> {
    // No account has such a name, and PostgreSQL does not even take the question.
    if username.contains('\0') {
        return Ok(None);
    }
    let row = match query::by_eid(cx, username).await? {
        Some(row) => Some(row),
        None => query::by_email(cx, username).await?,
    };
    Ok(row.map(|row| Credentials {
        display_name: display_name(&row.first_name, &row.last_name, &row.eid),
        id: row.id,
        eid: row.eid,
        password_hash: row.password_hash,
        is_disabled: row.is_disabled,
    }))
}

/// Notes that the user `id` has just logged in. That is no change to the user.
///
/// # Errors
/// The database can't be written.
pub async fn note_login(cx: &Context, id: &str) -> Result<()> {
    Account::update_many()
        .col_expr(Column::LastLogin, Expr::val(cx.now().timestamp_millis()))
        .filter(Column::Id.eq(id))
        .exec(cx.db()?)
        .await?;
    Ok(())
}

/// Keeps a stronger hash of the password that the user `id` has already. That is no change to the user.
///
/// # Errors
/// The database can't be written.
pub async fn keep_hash(cx: &Context, id: &str, hash: &str) -> Result<()> {
    let row = Account::find_by_id(id).one(cx.db()?).await?;
    if let Some(old) = row.and_then(|it| it.password_hash) {
        known::follow(cx, &old, hash).await?;
    }
    Account::update_many()
        .col_expr(Column::PasswordHash, Expr::val(hash))
        .filter(Column::Id.eq(id))
        .exec(cx.db()?)
        .await?;
    Ok(())
}

//! Passwords that everybody knows: which those are, and which accounts have one.
//!
//! Hashes are salted, so that no query finds such a password. The hash of one is therefore noted where the password
//! itself is at hand: when the operator gives it to an account, and when somebody logs in with it, for accounts that
//! something else made. Nobody else can choose one. Who knows the names of an account may try these as well.

use entity_core::{Context, Result};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder,
    QuerySelect, QueryTrait,
};

use crate::authorizer::ADMIN_SITE;
use crate::db::{demo_password, membership, user_account};
use crate::demo;

/// The passwords.
pub const KNOWN_PASSWORDS: [&str; 12] = [
    demo::PASSWORD,
    "admin",
    "administrator",
    "changeme",
    "password",
    "password1",
    "passw0rd",
    "12345678",
    "123456789",
    "1234567890",
    "qwertyuiop",
    "letmein1",
];

/// Most accounts that are named.
const MOST_NAMED: u64 = 3;

/// Whether everybody knows `password`, or guesses it from one of the `names` of its account.
pub fn is_known(password: &str, names: &[&str]) -> bool {
    let is_it = |it: &&str| !it.is_empty() && it.eq_ignore_ascii_case(password);
    KNOWN_PASSWORDS.iter().chain(names).any(is_it)
}

/// Notes that everybody knows the password of which `hash`, which an account has, was made. What no account has any more
/// is forgotten then.
pub(crate) async fn note(cx: &Context, hash: &str) -> Result<()> {
    use demo_password::{ActiveModel, Column, Entity};
    let row = ActiveModel {
        hash: Set(hash.to_owned()),
    };
    let conflict = OnConflict::column(Column::Hash).do_nothing().to_owned();
    let insert = Entity::insert(row).on_conflict(conflict).into_query();
    if cx.db()?.execute(&insert).await?.rows_affected() > 0 {
        let hashes = user_account::Entity::find()
            .select_only()
            .column(user_account::Column::PasswordHash)
            .filter(user_account::Column::PasswordHash.is_not_null());
        Entity::delete_many()
            .filter(Column::Hash.not_in_subquery(hashes.into_query()))
            .filter(Column::Hash.ne(hash))
            .exec(cx.db()?)
            .await?;
    }
    Ok(())
}

/// Notes that everybody knows the password of the account `id`.
///
/// # Errors
/// The database can't be written.
pub async fn note_account(cx: &Context, id: &str) -> Result<()> {
    let row = user_account::Entity::find_by_id(id).one(cx.db()?).await?;
    match row.and_then(|it| it.password_hash) {
        Some(hash) => note(cx, &hash).await,
        None => Ok(()),
    }
}

/// Notes that `hash` is another one of the password that `old` was made of, if everybody knows that.
pub(super) async fn follow(cx: &Context, old: &str, hash: &str) -> Result<()> {
    let known = demo_password::Entity::find_by_id(old).one(cx.db()?).await?;
    match known {
        Some(_) => note(cx, hash).await,
        None => Ok(()),
    }
}

/// The accounts to which everybody knows the password.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownAccounts {
    /// Some of their external ids.
    pub eids: Vec<String>,
    /// How many there are.
    pub count: u64,
}

/// The accounts in the database of `connection` that can be used and of which it was noted that everybody knows the
/// password. Nothing is hashed for it.
///
/// # Errors
/// The database can't be read.
pub async fn known_accounts(connection: &impl ConnectionTrait) -> Result<KnownAccounts> {
    use user_account::Column::{Eid, IsDisabled, PasswordHash};
    let hashes = demo_password::Entity::find()
        .select_only()
        .column(demo_password::Column::Hash);
    let accounts = user_account::Entity::find()
        .filter(PasswordHash.in_subquery(hashes.into_query()))
        .filter(IsDisabled.eq(false));
    let count = accounts.clone().count(connection).await?;
    let some = accounts.select_only().column(Eid).order_by_asc(Eid);
    let eids = some.limit(MOST_NAMED).into_tuple().all(connection).await?;
    Ok(KnownAccounts { eids, count })
}

/// An account of a super user, to be tried with passwords that everybody knows.
#[derive(Clone)]
pub struct Suspect {
    /// The external id.
    pub eid: String,
    /// The e-mail address.
    pub email: String,
    /// What is stored of the password.
    pub hash: String,
}

/// The accounts of super users in the database of `connection` that changed last, no more than `most`.
///
/// # Errors
/// The database can't be read.
pub async fn superusers(connection: &impl ConnectionTrait, most: u64) -> Result<Vec<Suspect>> {
    use user_account::Column::{Eid, Email, Id, IsDisabled, Modified, PasswordHash};
    let members = membership::Entity::find()
        .select_only()
        .column(membership::Column::UserId)
        .filter(membership::Column::SiteId.eq(ADMIN_SITE))
        .filter(membership::Column::IsActive.eq(true));
    let rows: Vec<(String, String, String)> = user_account::Entity::find()
        .select_only()
        .columns([Eid, Email, PasswordHash])
        .filter(Id.in_subquery(members.into_query()))
        .filter(PasswordHash.is_not_null())
        .filter(IsDisabled.eq(false))
        .order_by_desc(Modified)
        .order_by_asc(Id)
        .limit(most)
        .into_tuple()
        .all(connection)
        .await?;
    let suspects = rows.into_iter();
    Ok(suspects
        .map(|(eid, email, hash)| Suspect { eid, email, hash })
        .collect())
}

impl std::fmt::Debug for Suspect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Suspect({})", self.eid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_everybody_knows_or_guesses_is_known() {
        let names = ["ada", "ada@example.edu", ""];
        for (password, expected) in [
            ("lectern-demo", true),
            ("Password", true),
            ("ADA@example.edu", true),
            ("ada", true),
            ("", false),
            ("ada1", false),
            ("lectern-demos", false),
        ] {
            assert_eq!(is_known(password, &names), expected, "{password}");
        }
    }
}

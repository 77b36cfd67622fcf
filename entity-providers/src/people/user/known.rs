//! Passwords that everybody knows: which those are, and which accounts have one.
//!
//! Hashes are salted, so that no query finds such a password. The hash of one is therefore noted where the password
//! itself is at hand: when the operator gives it to an account, and when somebody logs in with it, for accounts that
//! something else made. Nobody else can choose one. Who knows the names of an account may try these as well.

use entity_core::db::{Row, Secret, Sql};
use entity_core::{Context, Result};
use sea_orm::ConnectionTrait;

use super::find;
use crate::base::university;
use crate::people::site::id::ADMIN_SITE;

/// The passwords.
pub const KNOWN_PASSWORDS: [&str; 12] = [
    university::PASSWORD,
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

/// The maximum number of accounts that are named.
const MOST_NAMED: i64 = 3;

/// Returns whether everybody knows `password`, or guesses it from one of the `names` of its account.
pub fn is_known(password: &str, names: &[&str]) -> bool {
    let is_it = |it: &&str| !it.is_empty() && it.eq_ignore_ascii_case(password);
    KNOWN_PASSWORDS.iter().chain(names).any(is_it)
}

/// Notes that everybody knows the password of which `hash`, which an account has, was made. What no account has any more
/// is forgotten then.
pub(crate) async fn note(cx: &Context, hash: &str) -> Result<()> {
    let db = cx.db()?;
    let mut insert = db.sql("INSERT INTO demo_password (hash) VALUES (");
    insert.bind(hash).push(") ON CONFLICT (hash) DO NOTHING");
    if db
        .execute_raw(insert.into_statement())
        .await?
        .rows_affected()
        > 0
    {
        let mut delete = db.sql("DELETE FROM demo_password WHERE hash <> ");
        delete.bind(hash);
        delete.push(
            " AND hash NOT IN (SELECT password_hash FROM user_account WHERE password_hash IS NOT NULL)",
        );
        db.execute_raw(delete.into_statement()).await?;
    }
    Ok(())
}

/// Notes that everybody knows the password of the account `id`.
pub async fn note_account(cx: &Context, id: &str) -> Result<()> {
    let account = find(cx, id).await?;
    match account.as_ref().and_then(|it| it.password_hash.expose()) {
        Some(hash) => note(cx, hash).await,
        None => Ok(()),
    }
}

/// Notes that `hash` is another one of the password that `old` was made of, if everybody knows that.
pub(super) async fn follow(cx: &Context, old: &str, hash: &str) -> Result<()> {
    let db = cx.db()?;
    let mut known = db.sql("SELECT 1 FROM demo_password WHERE hash = ");
    known.bind(old);
    match db.query_one_raw(known.into_statement()).await? {
        Some(_) => note(cx, hash).await,
        None => Ok(()),
    }
}

/// The accounts to which everybody knows the password.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownAccounts {
    /// Some of their external ids.
    pub eids: Vec<String>,
    /// The number of such accounts.
    pub count: u64,
}

/// The accounts in the database of `connection` that can be used and of which it was noted that everybody knows the
/// password. Nothing is hashed for it.
pub async fn known_accounts(connection: &impl ConnectionTrait) -> Result<KnownAccounts> {
    let mut sql = Sql::new(
        connection.get_database_backend(),
        "SELECT eid, count(*) OVER () FROM user_account WHERE NOT is_disabled \
         AND password_hash IN (SELECT hash FROM demo_password) ORDER BY eid LIMIT ",
    );
    sql.bind(MOST_NAMED);
    let mut known = KnownAccounts::default();
    for row in connection.query_all_raw(sql.into_statement()).await? {
        let mut row = Row::of(&row);
        known.eids.push(row.take()?);
        known.count = row.take::<i64>()?.unsigned_abs();
    }
    Ok(known)
}

/// An account of a super user, to be tried with passwords that everybody knows.
#[derive(Clone, Debug)]
pub struct Suspect {
    /// The external id.
    pub eid: String,
    /// The e-mail address.
    pub email: String,
    /// The stored hash of the password.
    pub hash: Secret,
}

/// The accounts of super users in the database of `connection` that changed last, no more than `most`.
pub async fn superusers(connection: &impl ConnectionTrait, most: u64) -> Result<Vec<Suspect>> {
    let mut sql = Sql::new(
        connection.get_database_backend(),
        "SELECT eid, email, password_hash FROM user_account WHERE NOT is_disabled \
         AND password_hash IS NOT NULL \
         AND id IN (SELECT user_id FROM membership WHERE is_active AND site_id = ",
    );
    sql.bind(ADMIN_SITE)
        .push(") ORDER BY modified DESC, id LIMIT ");
    sql.bind(i64::try_from(most).unwrap_or(i64::MAX));
    let rows = connection.query_all_raw(sql.into_statement()).await?;
    let suspects = rows.iter().map(|row| {
        let mut row = Row::of(row);
        Ok(Suspect {
            eid: row.take()?,
            email: row.take()?,
            hash: Secret::new(row.take::<String>()?),
        })
    });
    suspects.collect()
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

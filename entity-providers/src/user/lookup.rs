//! Accounts by whatever people know of them.

use std::collections::HashMap;

use entity_core::{Context, Result};
use sea_orm::ConnectionTrait as _;

use entity_core::db::Sql;

/// The internal ids of those accounts that `names` name: by external id or else by internal id or else by an
/// e-mail address that no other account has. Names of nobody are left out.
pub(crate) async fn by_names(cx: &Context, names: &[String]) -> Result<HashMap<String, String>> {
    let lower: Vec<String> = names.iter().map(|it| it.to_ascii_lowercase()).collect();
    let connection = cx.db()?;
    let mut sql = Sql::new(
        connection.get_database_backend(),
        "SELECT id, lower(eid), lower(email) FROM user_account WHERE id",
    );
    sql.bind_list(names)?.push(" OR lower(eid)");
    sql.bind_list(&lower)?.push(" OR lower(email)");
    sql.bind_list(&lower)?;
    let accounts: Vec<Account> = connection
        .scan(sql.into_statement(), |row| {
            Ok(Account {
                id: row.take()?,
                eid: row.take()?,
                email: row.take()?,
            })
        })
        .await?;
    let pairs = names.iter().zip(&lower);
    Ok(pairs
        .filter_map(|(name, lower)| Some((name.clone(), choose(&accounts, name, lower)?)))
        .collect())
}

/// Of an account, what may name it.
struct Account {
    id: String,
    eid: String,
    email: String,
}

fn choose(accounts: &[Account], name: &str, lower: &str) -> Option<String> {
    let external = accounts.iter().find(|it| it.eid == lower);
    let internal = || accounts.iter().find(|it| it.id == name);
    let addressed = || {
        let mut found = accounts
            .iter()
            .filter(|it| !it.email.is_empty() && it.email == lower);
        found.next().filter(|_| found.next().is_none())
    };
    let chosen = external.or_else(internal).or_else(addressed);
    chosen.map(|it| it.id.clone())
}

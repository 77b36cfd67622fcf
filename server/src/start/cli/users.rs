//! `lectern user list`: prints the accounts.

use entity_core::db::{Row, Sql};
use entity_providers::people::site::id::ADMIN_SITE;
use sea_orm::{ConnectionTrait as _, DatabaseConnection, QueryResult};
use serde::Serialize;

use super::open::look;
use super::output::{self, Failure, Listener};
use crate::base::config::Config;

/// The number of accounts that are in memory at a time.
const PAGE: usize = 500;

/// An account, as it is printed.
#[derive(Debug, Serialize)]
struct Account {
    /// The key by which accounts are sorted.
    #[serde(skip)]
    key: String,
    id: String,
    eid: String,
    name: String,
    r#type: String,
    disabled: bool,
    superuser: bool,
}

/// Prints all accounts in the order of their external ids: for people or, with `is_json`, an object a line.
pub(super) async fn list(config: &Config, is_json: bool) -> Result<(), Failure> {
    let look = look(config).await?;
    let mut listener = Listener::default();
    let mut last = None;
    loop {
        let page = page(&look.content.reader, last.as_deref()).await?;
        if page.is_empty() || listener.has_gone() {
            break;
        }
        let mut text = String::new();
        if last.is_none() && !is_json {
            text.push_str(&line(["EID", "NAME", "TYPE", "STATE"]));
        }
        for account in &page {
            text.push_str(&match is_json {
                true => output::json(account)?,
                false => account.line(),
            });
        }
        listener.hear(&text)?;
        last = page.into_iter().next_back().map(|it| it.key);
    }
    if last.is_none() {
        output::note(
            "nobody has an account yet: `lectern user add NAME --superuser` makes the first one",
        );
    }
    Ok(())
}

/// The accounts that come behind the one with this key.
async fn page(db: &DatabaseConnection, last: Option<&str>) -> Result<Vec<Account>, Failure> {
    let mut sql = Sql::new(
        db.get_database_backend(),
        "SELECT lower(eid), id, eid, first_name, last_name, type, \
         CAST(CASE WHEN is_disabled THEN 1 ELSE 0 END AS BIGINT), \
         CAST(CASE WHEN id IN (SELECT user_id FROM membership WHERE is_active AND site_id = ",
    );
    sql.bind(ADMIN_SITE)
        .push(") THEN 1 ELSE 0 END AS BIGINT) FROM user_account");
    if let Some(last) = last {
        sql.push(" WHERE lower(eid) > ").bind(last);
    }
    sql.push(&format!(" ORDER BY lower(eid) LIMIT {PAGE}"));
    let rows = db.query_all_raw(sql.into_statement()).await?;
    let accounts: Result<_, _> = rows.iter().map(Account::read).collect();
    Ok(accounts?)
}

impl Account {
    fn read(row: &QueryResult) -> Result<Self, sea_orm::DbErr> {
        let mut row = Row::of(row);
        let (key, id, eid) = (row.take()?, row.take()?, row.take()?);
        let (first, last): (String, String) = (row.take()?, row.take()?);
        Ok(Self {
            key,
            id,
            eid,
            name: [first, last].join(" ").trim().to_owned(),
            r#type: row.take()?,
            disabled: row.take::<i64>()? != 0,
            superuser: row.take::<i64>()? != 0,
        })
    }

    fn line(&self) -> String {
        let state = match (self.disabled, self.superuser) {
            (false, false) => "",
            (false, true) => "superuser",
            (true, false) => "disabled",
            (true, true) => "disabled, superuser",
        };
        line([&self.eid, &self.name, &self.r#type, state])
    }
}

/// A line of the table. A text that is longer than its column moves the rest.
fn line([eid, name, kind, state]: [&str; 4]) -> String {
    let line = format!("{eid:24} {name:32} {kind:16} {state}");
    format!("{}\n", output::plain(line.trim_end()))
}

//! Databases that may lose what they acknowledged, that can do too much, or that strangers can log in to.

use entity_core::db::Db;
use entity_core::{Error, Result};
use entity_providers::people::user::known::{self, KNOWN_PASSWORDS, Suspect};
use futures::future::join_all;
use sea_orm::{ConnectionTrait as _, DatabaseConnection, DbBackend, Statement};
use tokio::task::spawn_blocking;

use super::Findings;
use crate::base::config::Problem;
use crate::guard::auth::password::is_hash_of;

/// The maximum number of super users whose passwords are tried: each takes about half a second of a core.
const MOST_TRIED: u64 = 4;

/// Settings of PostgreSQL without which a commit is no promise.
const DURABLE: [&str; 3] = ["fsync", "synchronous_commit", "full_page_writes"];

const MAY_CHANGE_TABLES: &str = "SELECT CASE WHEN has_schema_privilege(current_schema(), $1) THEN 'yes' ELSE 'no' END AS answer";

/// Inspects `db` for unsafe contents and privileges.
pub(super) async fn inspect(db: &Db) -> Result<Findings> {
    let mut findings = Findings::default();
    if db.writer.get_database_backend() == DbBackend::Postgres {
        inspect_postgres(&db.writer, &mut findings).await?;
    }
    findings.refused.extend(match known_password(db).await? {
        None => guessed_password(db).await?,
        known => known,
    });
    Ok(findings)
}

/// Reports accounts of `db` that a stranger can log in to with a password noted as known to everybody.
pub(super) async fn known_password(db: &Db) -> Result<Option<Problem>> {
    let found = known::known_accounts(&db.reader).await?;
    Ok(refuse(&found.eids, found.count))
}

/// Reports super users of `db` with a password that is easily guessed. Something else than this service may have made such
/// an account, and nobody may have logged in to it yet, so that the passwords are tried.
async fn guessed_password(db: &Db) -> Result<Option<Problem>> {
    let suspects = known::superusers(&db.reader, MOST_TRIED).await?;
    let running = suspects
        .into_iter()
        .map(|it| spawn_blocking(move || tried(it)));
    let done = join_all(running).await.into_iter();
    let eids: Vec<String> = done
        .filter_map(|it| it.map_err(Error::internal).transpose())
        .collect::<Result<_>>()?;
    Ok(refuse(&eids, u64::try_from(eids.len()).unwrap_or(u64::MAX)))
}

/// The external id of `suspect`, if it has a password that everybody knows.
fn tried(suspect: Suspect) -> Option<String> {
    let names = [suspect.eid.as_str(), suspect.email.as_str()];
    let mut passwords = KNOWN_PASSWORDS.iter().chain(&names);
    let hash = suspect.hash.expose().unwrap_or_default();
    let is_known = passwords.any(|it| !it.is_empty() && is_hash_of(it, hash));
    is_known.then_some(suspect.eid)
}

fn refuse(eids: &[String], count: u64) -> Option<Problem> {
    let named: Vec<String> = eids.iter().map(|it| format!("`{it}`")).collect();
    let more = count.saturating_sub(u64::try_from(eids.len()).unwrap_or(u64::MAX));
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    (count > 0).then(|| {
        finding(&format!(
            "holds accounts whose password is known: {}{more} have that of the demo, one that everybody tries, or their \
             own name; give them other passwords (`lectern user passwd`), disable them (`lectern user disable`) or \
             begin with an empty database",
            named.join(", ")
        ))
    })
}

async fn inspect_postgres(writer: &DatabaseConnection, findings: &mut Findings) -> Result<()> {
    for setting in DURABLE {
        if ask(writer, "SELECT current_setting($1) AS answer", setting).await? == "off" {
            findings.refused.push(finding(&format!(
                "runs with {setting} = off: what it acknowledges may be lost when the power fails"
            )));
        }
    }
    if ask(writer, MAY_CHANGE_TABLES, "CREATE").await? == "yes" {
        findings.warned.push(finding(
            "is used by a role that may change its tables: run `lectern migrate` as that role, and serve as one that \
             may only read and write rows",
        ));
    }
    Ok(())
}

async fn ask(connection: &DatabaseConnection, sql: &str, value: &str) -> Result<String> {
    let statement = Statement::from_sql_and_values(DbBackend::Postgres, sql, [value.into()]);
    let row = connection.query_one_raw(statement).await?;
    Ok(row
        .map(|it| it.try_get("", "answer"))
        .transpose()?
        .unwrap_or_default())
}

fn finding(message: &str) -> Problem {
    Problem::new("database", message)
}

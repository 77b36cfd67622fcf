//! Databases that may lose what they acknowledged, that can do too much, or that strangers can log in to.

use entity_core::Result;
use entity_core::db::Db;
use entity_providers::demo;
use sea_orm::{ConnectionTrait as _, DatabaseConnection, DbBackend, Statement};

use super::Findings;
use crate::config::Problem;

/// Settings of PostgreSQL without which a commit is no promise.
const DURABLE: [&str; 3] = ["fsync", "synchronous_commit", "full_page_writes"];

const MAY_CHANGE_TABLES: &str = "SELECT CASE WHEN has_schema_privilege(current_schema(), $1) THEN 'yes' ELSE 'no' END AS answer";

/// What is unsafe about `db`.
pub(super) async fn inspect(db: &Db) -> Result<Findings> {
    let mut findings = Findings::default();
    if db.writer.get_database_backend() == DbBackend::Postgres {
        inspect_postgres(&db.writer, &mut findings).await?;
    }
    findings.refused.extend(known_password(db).await?);
    Ok(findings)
}

/// That strangers can log in to `db`, if they can.
pub(super) async fn known_password(db: &Db) -> Result<Option<Problem>> {
    Ok(demo::is_used(&db.reader).await?.then(|| {
        finding(
            "holds the accounts of the demo, whose password is known: give them other passwords (`lectern user \
             passwd`), disable them (`lectern user disable`) or begin with an empty database",
        )
    }))
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

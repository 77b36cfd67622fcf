//! A deletion leaves nothing: no table has more rows thereafter than before the entity was made.

use std::collections::BTreeMap;

use sea_orm::{ConnectionTrait as _, DbBackend, Statement};

use super::suite::Suite;
use super::{Held, Verdict};
use crate::database::Backend;
use crate::role::SITE;

/// Parts of the names of tables that tell what happened, or that the service cleans up by itself.
const HISTORY: [&str; 22] = [
    "activity",
    "attached_use",
    "audit",
    "backlog",
    "delivery",
    "event",
    "failure",
    "follower",
    "history",
    "idempotency",
    "identity",
    "log",
    "migration",
    "notification",
    "outbox",
    "presence",
    "revision",
    "session",
    "stored_file",
    "usage",
    "version",
    "webhook",
];

/// Checks that an entity that is deleted leaves no rows, whatever field it was made with.
pub async fn a_deletion_leaves_nothing(suite: &Suite) -> Verdict {
    if !(suite.can("create") && suite.can("delete")) {
        return Ok(Held::Skipped(
            "the type has no entities that can be made and deleted",
        ));
    }
    let mut drafts = vec![suite.fresh(SITE).await?];
    for field in suite.fields().filter(|_| !suite.has_make()) {
        if let Some(value) = suite.variants(field).into_iter().next() {
            let mut fields = suite.fresh(SITE).await?;
            fields.insert(field.name.to_owned(), suite.unused(field, &value));
            drafts.push(fields);
        }
    }
    // What they need is there now, and stays.
    let before = counts(suite).await?;
    for fields in &drafts {
        let answer = suite.post(suite.superuser(), fields).await;
        let Some(id) = super::making::id_of(&answer).filter(|_| answer.status.is_success()) else {
            continue;
        };
        let path = suite.path_of(&id);
        let deleted = suite.superuser().delete(&path).await;
        if !deleted.status.is_success() {
            return Err(format!(
                "the superuser can't delete {path}: {} {}",
                deleted.status,
                deleted.text()
            ));
        }
    }
    let after = counts(suite).await?;
    let more = |table: &&String| after.get(*table) > before.get(*table);
    let left: Vec<_> = after
        .keys()
        .filter(more)
        .map(|it| format!("`{it}`"))
        .collect();
    match left.is_empty() {
        true => Ok(Held::Passed),
        false => Err(format!(
            "rows are left in {} when the entities of the type that were made are deleted: let them go with the entity, by a \
             `parent` or by `ON DELETE CASCADE`, or delete them in `Delete`",
            left.join(", ")
        )),
    }
}

/// Returns the number of rows of each table, but for those that keep what happened.
async fn counts(suite: &Suite) -> Result<BTreeMap<String, i64>, String> {
    let tables = match backend(suite) {
        DbBackend::Postgres => {
            "SELECT CAST(tablename AS text) AS it FROM pg_tables WHERE schemaname = current_schema()"
        }
        _ => {
            "SELECT name AS it FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        }
    };
    let mut counts = BTreeMap::new();
    for table in column::<String>(suite, tables).await? {
        if HISTORY.iter().any(|it| table.contains(it)) {
            continue;
        }
        let sql = format!("SELECT COUNT(*) AS it FROM \"{table}\"");
        let count = column::<i64>(suite, &sql).await?;
        counts.insert(table, count.into_iter().sum());
    }
    Ok(counts)
}

/// Returns the kind of the database as statements have it.
pub(super) fn backend(suite: &Suite) -> DbBackend {
    match suite.app.database().backend() {
        Backend::Sqlite => DbBackend::Sqlite,
        Backend::Postgres => DbBackend::Postgres,
    }
}

/// Returns the values in the column `it` of what `sql` selects.
pub(super) async fn column<T: sea_orm::TryGetable>(
    suite: &Suite,
    sql: &str,
) -> Result<Vec<T>, String> {
    let connection = &suite.app.service().storage.content.reader;
    let statement = Statement::from_string(backend(suite), sql);
    let rows = connection.query_all_raw(statement).await;
    let rows = rows.map_err(|error| format!("the database can't be read: {error}"))?;
    let values = rows.iter().map(|it| it.try_get("", "it"));
    let values: Result<_, _> = values.collect();
    values.map_err(|error| format!("the database can't be read: {error}"))
}

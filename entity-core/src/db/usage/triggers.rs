//! The triggers of a counted table, in the SQL of both databases.
//!
//! PostgreSQL counts once for each statement, however many rows it changes: a row of `usage` that one transaction
//! changed a thousand times would be slow to find. The function of the triggers runs with the rights of the role that
//! created it, so that roles that write need no right to the table `usage`. SQLite updates the table in place, once for
//! each row.

use sea_orm::DbBackend;

use super::{Share, add};

use crate::model::counted::Counted;

/// The triggers that make a database count a table.
#[derive(Clone, Debug)]
pub struct Triggers {
    /// The names of the triggers.
    pub names: Vec<String>,
    /// The statements that create the triggers, in order. Triggers of the same names are replaced.
    pub statements: Vec<String>,
}

/// Returns the triggers with which the database counts the rows of `counted`.
pub fn triggers(counted: &Counted, backend: DbBackend) -> Triggers {
    match backend {
        DbBackend::Postgres => postgres(counted),
        _ => sqlite(counted),
    }
}

impl Share {
    /// Returns the statement that adds the row to the usage.
    fn give(&self) -> String {
        let Self {
            kind,
            id,
            condition,
            bytes,
        } = self;
        format!(
            "INSERT INTO usage (kind, id, entities, bytes) SELECT '{kind}', {id}, 1, {bytes} WHERE {condition} \
             ON CONFLICT (kind, id) DO UPDATE SET entities = entities + 1, bytes = bytes + excluded.bytes; "
        )
    }

    /// Returns the statement that subtracts the row from the usage.
    fn take(&self) -> String {
        let Self {
            kind,
            id,
            condition,
            bytes,
        } = self;
        format!(
            "UPDATE usage SET entities = entities - 1, bytes = bytes - ({bytes}) \
             WHERE kind = '{kind}' AND id = {id} AND {condition}; "
        )
    }

    /// Returns the statement that deletes the account or the site from `usage` if it has nothing any more.
    fn forget(&self) -> String {
        let Self { kind, id, .. } = self;
        format!(
            "DELETE FROM usage WHERE kind = '{kind}' AND id = {id} AND entities = 0 AND bytes = 0; "
        )
    }
}

fn sqlite(counted: &Counted) -> Triggers {
    let table = counted.table;
    let after = counted.shares(DbBackend::Sqlite, "NEW");
    let before = counted.shares(DbBackend::Sqlite, "OLD");
    let give: String = after.iter().map(Share::give).collect();
    let take: String = before.iter().map(Share::take).collect();
    let forget: String = before.iter().map(Share::forget).collect();
    let columns = counted.owner.iter().chain(&counted.site);
    let columns: Vec<_> = columns
        .chain(counted.texts.iter())
        .chain(&counted.size)
        .collect();
    let names: Vec<_> = columns.iter().map(|it| format!("\"{it}\"")).collect();
    let changes: Vec<_> = columns
        .iter()
        .map(|it| format!("OLD.\"{it}\" IS NOT NEW.\"{it}\""))
        .collect();
    let of_changed = (names.join(", "), changes.join(" OR "));
    let works = [
        ("insert", "INSERT".to_owned(), String::new(), give.clone()),
        (
            "update",
            format!("UPDATE OF {}", of_changed.0),
            format!("WHEN {}", of_changed.1),
            format!("{take}{give}{forget}"),
        ),
        (
            "delete",
            "DELETE".to_owned(),
            String::new(),
            format!("{take}{forget}"),
        ),
    ];
    let mut triggers = Triggers {
        names: Vec::new(),
        statements: Vec::new(),
    };
    for (name, event, condition, work) in works {
        let name = format!("usage_of_{table}_{name}");
        triggers.statements.extend([
            format!("DROP TRIGGER IF EXISTS \"{name}\""),
            format!(
                "CREATE TRIGGER \"{name}\" AFTER {event} ON \"{table}\" FOR EACH ROW {condition} BEGIN {work}END"
            ),
        ]);
        triggers.names.push(name);
    }
    triggers
}

/// Returns the statement that deletes the accounts and sites of `selects` that have nothing any more from `usage`.
fn forget(selects: &[String]) -> String {
    format!(
        "DELETE FROM usage WHERE entities = 0 AND bytes = 0 AND (kind, id) IN (SELECT kind, id FROM ({}) AS gone)",
        selects.join(" UNION ALL ")
    )
}

fn postgres(counted: &Counted) -> Triggers {
    let table = counted.table;
    let backend = DbBackend::Postgres;
    let after = counted.selects(backend, "rows_after", "");
    let before = counted.selects(backend, "rows_before", "-");
    let both = [before.as_slice(), &after].concat();
    let function = format!("\"usage_of_{table}\"()");
    let mut triggers = Triggers {
        names: Vec::new(),
        statements: vec![format!(
            "CREATE OR REPLACE FUNCTION {function} RETURNS trigger LANGUAGE plpgsql \
             SECURITY DEFINER SET search_path FROM CURRENT AS $usage$ BEGIN \
             IF TG_OP = 'INSERT' THEN {}; \
             ELSIF TG_OP = 'UPDATE' THEN {}; IF FOUND THEN {}; END IF; \
             ELSE {}; {}; END IF; \
             RETURN NULL; END $usage$",
            add(&after),
            add(&both),
            forget(&before),
            add(&before),
            forget(&before),
        )],
    };
    for (event, rows) in [
        ("INSERT", "NEW TABLE AS rows_after"),
        ("UPDATE", "OLD TABLE AS rows_before NEW TABLE AS rows_after"),
        ("DELETE", "OLD TABLE AS rows_before"),
    ] {
        let name = format!("usage_of_{table}_{}", event.to_lowercase());
        triggers.statements.extend([
            format!("DROP TRIGGER IF EXISTS \"{name}\" ON \"{table}\""),
            format!(
                "CREATE TRIGGER \"{name}\" AFTER {event} ON \"{table}\" REFERENCING {rows} \
                 FOR EACH STATEMENT EXECUTE FUNCTION {function}"
            ),
        ]);
        triggers.names.push(name);
    }
    triggers
}

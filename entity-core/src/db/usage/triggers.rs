//! The triggers of a table that is counted, in the words of both databases.
//!
//! PostgreSQL counts once for each statement, however many rows it changes: a row of `usage` that one transaction
//! changed a thousand times would be slow to find. The role that made the triggers does it, so that those who write
//! need no right to what is counted. SQLite changes it in place, once for each row.

use sea_orm::DbBackend;

use super::{Counted, Rows, add};

/// What makes a database count a table.
#[derive(Clone, Debug)]
pub struct Triggers {
    /// The names of the triggers.
    pub names: Vec<String>,
    /// The statements that make them, in order. Triggers of the same names are replaced.
    pub statements: Vec<String>,
}

/// The triggers that let the database count the rows of `counted`.
pub fn triggers(counted: &Counted, backend: DbBackend) -> Triggers {
    match backend {
        DbBackend::Postgres => postgres(counted),
        _ => sqlite(counted),
    }
}

/// Forgets accounts and sites of `shares` that have nothing any more.
fn forget(shares: &[String]) -> String {
    format!(
        "DELETE FROM usage WHERE entities = 0 AND bytes = 0 AND (kind, id) IN (SELECT kind, id FROM ({}) AS gone)",
        shares.join(" UNION ALL ")
    )
}

fn sqlite(counted: &Counted) -> Triggers {
    let table = counted.table;
    let backend = DbBackend::Sqlite;
    let after = counted.shares(backend, &Rows::One("NEW"), "");
    let before = counted.shares(backend, &Rows::One("OLD"), "-");
    let both = [before.as_slice(), &after].concat();
    let ids = counted.owner.iter().chain(&counted.site);
    let columns = ids.chain(counted.texts.iter());
    let columns = columns.map(|it| format!("\"{it}\"")).collect::<Vec<_>>();
    let works = [
        ("insert", "INSERT".to_owned(), vec![add(&after)]),
        (
            "update",
            format!("UPDATE OF {}", columns.join(", ")),
            vec![add(&both), forget(&before)],
        ),
        (
            "delete",
            "DELETE".to_owned(),
            vec![add(&before), forget(&before)],
        ),
    ];
    let mut triggers = Triggers {
        names: Vec::new(),
        statements: Vec::new(),
    };
    for (name, event, work) in works {
        let name = format!("usage_of_{table}_{name}");
        let work = work.join("; ");
        triggers.statements.extend([
            format!("DROP TRIGGER IF EXISTS \"{name}\""),
            format!(
                "CREATE TRIGGER \"{name}\" AFTER {event} ON \"{table}\" FOR EACH ROW BEGIN {work}; END"
            ),
        ]);
        triggers.names.push(name);
    }
    triggers
}

fn postgres(counted: &Counted) -> Triggers {
    let table = counted.table;
    let backend = DbBackend::Postgres;
    let after = counted.shares(backend, &Rows::of("rows_after"), "");
    let before = counted.shares(backend, &Rows::of("rows_before"), "-");
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

//! The visits of a database for a statement: a measure that repeats, whatever else the machine does.

use entity_core::db::Db;
use rusqlite::types::Value as Cell;
use rusqlite::{OpenFlags, StatementStatus};
use sea_orm::{ConnectionTrait as _, Statement, Value};
use serde_json::Value as Json;

/// Returns what `statement` visits: the steps of SQLite's machine, or the rows that PostgreSQL's plan has seen.
pub async fn visited(db: &Db, statement: &Statement) -> u64 {
    match &db.file {
        Some(file) => {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let connection = rusqlite::Connection::open_with_flags(file.path(), flags);
            steps(&connection.expect("it opens"), statement)
        }
        None => rows(db, statement).await,
    }
}

fn steps(connection: &rusqlite::Connection, statement: &Statement) -> u64 {
    let mut prepared = connection.prepare(&statement.sql).expect("a statement");
    let values = statement.values.iter().flat_map(|it| &it.0).map(cell);
    let mut rows = prepared
        .query(rusqlite::params_from_iter(values))
        .expect("values");
    while rows.next().expect("rows").is_some() {}
    drop(rows);
    let steps = prepared.get_status(StatementStatus::VmStep);
    u64::try_from(steps).expect("it counts up")
}

fn cell(value: &Value) -> Cell {
    match value {
        Value::String(it) => it.clone().map_or(Cell::Null, Cell::Text),
        Value::Bool(Some(it)) => Cell::Integer(i64::from(*it)),
        Value::Int(Some(it)) => Cell::Integer(i64::from(*it)),
        Value::BigInt(Some(it)) => Cell::Integer(*it),
        Value::BigUnsigned(Some(it)) => Cell::Integer(i64::try_from(*it).expect("a number")),
        Value::Double(Some(it)) => Cell::Real(*it),
        other => panic!("{other:?} can't be bound"),
    }
}

async fn rows(db: &Db, statement: &Statement) -> u64 {
    let mut explained = statement.clone();
    explained.sql = format!(
        "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {}",
        statement.sql
    );
    let plan = db.reader.query_one_raw(explained).await.expect("a plan");
    let plan: Json = plan
        .expect("a row")
        .try_get_by_index(0)
        .expect("a plan in JSON");
    rows_of(plan.pointer("/0/Plan").expect("a plan"))
}

/// The rows that a step of a plan, and those below it, have made or left out.
fn rows_of(step: &Json) -> u64 {
    let seen = [
        "Actual Rows",
        "Rows Removed by Filter",
        "Rows Removed by Join Filter",
        "Rows Removed by Index Recheck",
    ];
    // PostgreSQL tells the mean of each time that the step was taken.
    let times = step["Actual Loops"].as_f64().unwrap_or_default();
    let rows = seen.iter().filter_map(|it| step[it].as_f64());
    let own = format!("{:.0}", rows.sum::<f64>() * times);
    let below = step["Plans"].as_array().into_iter().flatten().map(rows_of);
    own.parse::<u64>().expect("a number") + below.sum::<u64>()
}

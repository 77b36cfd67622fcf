//! Rows of which no two are at once.

use sea_orm::{ConnectionTrait, DbBackend};

use super::any::AnyRecord;
use crate::contract::context::Context;
use crate::db::{Sql, columns};
use crate::model::table::NoOverlap;
use crate::primitives::error::{Error, Result};

/// Refuses `record`, whose row was just written, if its time overlaps with that of another row which has the same in the
/// columns that the type declares. Units of work that write such rows come one after the other from here on, so that each
/// finds the rows of those before it.
///
/// # Errors
/// Returns a conflict if the times overlap.
pub(super) async fn check(cx: &Context, record: &dyn AnyRecord) -> Result<()> {
    let of = record.constants();
    let Some(rule) = of.no_overlap else {
        return Ok(());
    };
    let db = cx.db()?;
    let own = Own {
        rule,
        table: of.table,
        key: (of.key, record.key()),
    };
    if db.get_database_backend() == DbBackend::Postgres {
        db.execute_raw(own.locking(db.sql("")).into_statement())
            .await?;
    }
    let others: Vec<i64> = db
        .rows(own.others(db.sql("")).into_statement(), columns)
        .await?;
    match others.is_empty() {
        true => Ok(()),
        false => Err(Error::conflict(rule.message)),
    }
}

/// A row whose time is compared with that of others.
struct Own<'a> {
    rule: NoOverlap,
    table: &'a str,
    /// The name of the column with its key, and the key.
    key: (&'a str, &'a str),
}

impl Own<'_> {
    /// Completes the statement that locks what the row has in the columns in which others must not agree.
    fn locking(&self, mut sql: Sql) -> Sql {
        sql.push("SELECT pg_advisory_xact_lock(hashtextextended(concat_ws('/', ");
        sql.bind(self.table);
        for column in self.rule.same {
            sql.push(", \"").push(column).push("\"");
        }
        sql.push("), 0))");
        self.write_rows(&mut sql, " = ");
        sql
    }

    /// Completes the statement that finds a row which overlaps with this one.
    fn others(&self, mut sql: Sql) -> Sql {
        let NoOverlap { start, end, .. } = self.rule;
        sql.push("SELECT CAST(1 AS bigint) FROM (SELECT *");
        self.write_rows(&mut sql, " = ");
        sql.push(") mine JOIN (SELECT *");
        self.write_rows(&mut sql, " <> ");
        sql.push(") other ON ");
        for column in self.rule.same {
            sql.push(&format!("other.\"{column}\" = mine.\"{column}\" AND "));
        }
        for [a, b] in [["mine", "other"], ["other", "mine"]] {
            let is_open = format!("({a}.\"{end}\" IS NULL OR {b}.\"{start}\" < {a}.\"{end}\")");
            sql.push(&is_open)
                .push(if a == "mine" { " AND " } else { " LIMIT 1" });
        }
        sql
    }

    /// Appends the rows that count and whose key compares with that of the row.
    fn write_rows(&self, sql: &mut Sql, comparison: &str) {
        let (column, key) = self.key;
        sql.push(&format!(
            " FROM \"{}\" WHERE \"{column}\"{comparison}",
            self.table
        ));
        sql.bind(key).push(self.rule.only);
    }
}

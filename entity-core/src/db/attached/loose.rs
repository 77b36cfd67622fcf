//! Loose files: attached ones that no entity names.
//!
//! They end a day after they were sent. Nothing is removed that a text of some row names, though its type or its column
//! is none of those whose [uses] are noted.

use std::collections::BTreeSet;

use sea_orm::{ConnectionTrait as _, DbBackend};

use super::{AttachedFileService, named_in, uses};
use crate::contract::context::Context;
use crate::contract::registry::Registry;
use crate::db::{ColumnType, Sql, TableSpec, columns};
use crate::model::file::{ATTACHED_FILES, OWN_FILES};
use crate::primitives::error::Result;

/// The condition that an entity names a file. What is [kept](super::uses::keep) without one stays its sender's.
pub(in crate::db) const IS_NAMED: &str =
    "EXISTS (SELECT 1 FROM attached_use WHERE attached_use.file = this.id AND holder <> '')";
/// The number of rows whose texts are in memory at once.
const ROWS: i64 = 200;

/// Which loose files are asked for.
#[derive(Clone, Copy, Debug)]
pub enum Loose<'a> {
    /// Those of this site that this account sent, also those that are kept for a text that names them.
    Of(&'a str, &'a str),
    /// Those that were sent before this instant, in milliseconds since 1970, and that are not kept.
    Before(i64),
}

/// Returns the ids of loose files, the oldest first: at most `most`.
///
/// # Errors
/// Returns an error if the database can't be read.
pub async fn find(cx: &Context, which: Loose<'_>, most: u32) -> Result<Vec<String>> {
    let (table, condition) = cx.service::<AttachedFileService>()?.0.table();
    let db = cx.db()?;
    let mut sql = db.sql("SELECT this.id FROM \"");
    sql.push(table)
        .push("\" this WHERE ")
        .push(condition)
        .push(" AND NOT ")
        .push(IS_NAMED);
    match which {
        Loose::Of(site, author) => {
            sql.push(" AND this.site_id = ").bind(site);
            sql.push(" AND this.author_id = ").bind(author);
        }
        Loose::Before(instant) => {
            sql.push(
                " AND NOT EXISTS (SELECT 1 FROM attached_use WHERE attached_use.file = this.id)",
            );
            sql.push(" AND this.created <= ").bind(instant);
        }
    }
    sql.push(" ORDER BY this.created, this.id LIMIT ")
        .bind(i64::from(most));
    db.scan(sql.into_statement(), columns).await
}

/// Returns the number of bytes of the files of `site`, attached ones and others, but for loose ones.
///
/// # Errors
/// Returns an error if the database can't be read.
pub async fn without(cx: &Context, site: &str) -> Result<u64> {
    let (table, condition) = cx.service::<AttachedFileService>()?.0.table();
    let db = cx.db()?;
    let mut sql = db.sql("SELECT CAST(coalesce(sum(this.size), 0) AS bigint) FROM \"");
    sql.push(table)
        .push("\" this WHERE this.site_id = ")
        .bind(site);
    sql.push(" AND NOT (")
        .push(condition)
        .push(" AND NOT ")
        .push(IS_NAMED)
        .push(")");
    let found: Vec<i64> = db.rows(sql.into_statement(), columns).await?;
    let bytes = found.first().copied().unwrap_or_default();
    Ok(u64::try_from(bytes).unwrap_or_default())
}

/// Removes those of `files` that no entity names.
///
/// # Errors
/// Returns an error if the database can't be written.
pub async fn remove(cx: &Context, files: &[String]) -> Result<()> {
    let (table, condition) = cx.service::<AttachedFileService>()?.0.table();
    let db = cx.db()?;
    let mut sql = db.sql("DELETE FROM \"");
    sql.push(table)
        .push("\" AS this WHERE ")
        .push(condition)
        .push(" AND NOT ")
        .push(IS_NAMED);
    sql.push(" AND this.id").bind_list(files)?;
    db.execute_raw(sql.into_statement()).await?;
    uses::remove(cx, "", "", files).await
}

/// Returns those of `files` that some text of a registered type names, wherever it is.
///
/// # Errors
/// Returns an error if the database can't be read.
pub async fn named_somewhere(
    cx: &Context,
    registry: &Registry,
    files: &[String],
) -> Result<Vec<String>> {
    let mut left: BTreeSet<&str> = files.iter().map(String::as_str).collect();
    let specs = registry.routes().filter_map(|it| it.table);
    for table in specs.flat_map(|it| it().with_children()) {
        look_through(cx, &table, &mut left).await?;
    }
    let named = files.iter().filter(|it| !left.contains(it.as_str()));
    Ok(named.cloned().collect())
}

/// Takes out of `left` what a row of `table` names.
async fn look_through(cx: &Context, table: &TableSpec, left: &mut BTreeSet<&str>) -> Result<()> {
    let texts = table
        .columns
        .iter()
        .filter(|it| it.1 == ColumnType::Text && it.0 != table.key);
    let texts = texts.map(|it| format!("coalesce(this.\"{}\", '')", it.0));
    let texts = texts.collect::<Vec<_>>().join(" || ' ' || ");
    let db = cx.db()?;
    let mut last = String::new();
    while !texts.is_empty() && !left.is_empty() {
        let mut sql = db.sql("SELECT ");
        let position = position(&sql);
        sql.column("this", table.key).push(", ").push(&texts);
        sql.push(" FROM \"").push(table.name).push("\" this WHERE ");
        sql.column("this", table.key)
            .push(" > ")
            .bind(last.as_str());
        sql.push(" AND ").push(position).push(&texts).push(", ");
        sql.bind(format!("{OWN_FILES}{ATTACHED_FILES}"))
            .push(") > 0 ORDER BY ");
        sql.column("this", table.key).push(" LIMIT ").bind(ROWS);
        let rows: Vec<(String, String)> = db.scan(sql.into_statement(), columns).await?;
        for (_, text) in &rows {
            for id in named_in(text) {
                left.remove(id);
            }
        }
        let Some((key, _)) = rows.into_iter().next_back() else {
            return Ok(());
        };
        last = key;
    }
    Ok(())
}

/// Returns the beginning of the call that tells where a text is in another one, from 1 on.
pub(super) fn position(sql: &Sql) -> &'static str {
    match sql.backend() {
        DbBackend::Postgres => "strpos(",
        _ => "instr(",
    }
}

//! The columns of a type's table that are no fields for clients, and the texts in them.

use std::collections::BTreeSet;

use entity_core::db::{ColumnType, TableSpec};
use sea_orm::{ConnectionTrait as _, Statement};

use super::Row;
use super::leftovers::{backend, column};
use super::sample::WORD;
use super::suite::Suite;
use super::veils::{LONG, Veiled};
use crate::role::SITE;

/// Returns the texts in hidden columns of `rows`.
pub(super) async fn texts(suite: &Suite, rows: &[Row]) -> Result<Vec<Veiled>, String> {
    let Some(table) = suite.route.table.map(|it| it()) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for field in names(suite, &table) {
        for row in rows {
            let sql = format!(
                "SELECT \"{field}\" AS it FROM \"{}\" WHERE {}",
                table.name,
                is_of(&table, row)
            );
            let texts = column::<Option<String>>(suite, &sql).await?;
            // Not one of the words that many types have.
            let is_told = |it: &String| {
                it.chars().count() >= LONG && it.contains(|c: char| c.is_ascii_digit() || c == ' ')
            };
            let texts = texts.into_iter().flatten().filter(is_told);
            found.extend(texts.map(|text| Veiled {
                text,
                field,
                id: row.id.clone(),
                is_seen: false,
            }));
        }
    }
    Ok(found)
}

/// Makes an entity whose hidden columns have a text each, as far as nothing but that is different of it. Returns the entity
/// and its texts, or nothing if the type has no such columns.
pub(super) async fn marked(suite: &Suite) -> Result<Option<(Row, Vec<Veiled>)>, String> {
    let Some(table) = suite.route.table.map(|it| it()) else {
        return Ok(None);
    };
    let names = names(suite, &table);
    if names.is_empty() || !suite.can("create") {
        return Ok(None);
    }
    let row = suite.make(SITE).await?;
    let before = suite.state(&row.id).await;
    let mut marked = Vec::new();
    for field in names {
        let sql = format!(
            "SELECT \"{field}\" AS it FROM \"{}\" WHERE {}",
            table.name,
            is_of(&table, &row)
        );
        let former = column::<Option<String>>(suite, &sql).await?;
        let former = former.into_iter().next().flatten();
        // What has a meaning keeps it.
        if former.as_ref().is_some_and(|it| !it.is_empty()) {
            continue;
        }
        let text = format!("{WORD} hidden {field} of {}", row.id);
        let is_set = set(suite, &table, &row, (field, Some(&text))).await;
        if is_set && suite.state(&row.id).await == before {
            marked.push(Veiled {
                text,
                field,
                id: row.id.clone(),
                is_seen: true,
            });
        } else if is_set {
            set(suite, &table, &row, (field, former.as_deref())).await;
        }
    }
    Ok(Some((row, marked)))
}

/// Sets the column of the row, and returns whether the database allows it.
async fn set(
    suite: &Suite,
    table: &TableSpec,
    row: &Row,
    (field, text): (&str, Option<&str>),
) -> bool {
    let text = text.map_or_else(|| "NULL".to_owned(), quoted);
    let sql = format!(
        "UPDATE \"{}\" SET \"{field}\" = {text} WHERE {}",
        table.name,
        is_of(table, row)
    );
    let connection = &suite.app.service().storage.content.writer;
    let statement = Statement::from_string(backend(suite), sql);
    connection.execute_raw(statement).await.is_ok()
}

/// Returns the condition that a row of the table is that of the entity.
fn is_of(table: &TableSpec, row: &Row) -> String {
    // The key of an id that is composed is the last part.
    let key = row.id.rsplit(':').next().unwrap_or_default();
    format!("CAST(\"{}\" AS text) = {}", table.key, quoted(key))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Returns the names of the columns of text that hold neither fields for clients nor ids nor what is derived.
fn names(suite: &Suite, table: &TableSpec) -> Vec<&'static str> {
    let shown = suite.route.schema.fields.iter().filter_map(|it| it.column);
    let mut known: BTreeSet<&str> = shown.chain([table.key]).collect();
    known.extend(table.site.into_iter().chain(table.owner));
    known.extend(table.parent.map(|it| it.column));
    known.extend(
        table
            .blobs
            .iter()
            .chain(table.accounts)
            .chain(table.persons),
    );
    let columns = table.columns.iter();
    let texts = columns.filter(|it| it.1 == ColumnType::Text);
    let names = texts.map(|it| it.0);
    names.filter(|it| !known.contains(it)).collect()
}

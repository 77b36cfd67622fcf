//! Reading the rows of a site, some at a time.

use std::collections::{BTreeMap, HashMap};

use sea_orm::{ConnectionTrait, QueryResult, TryGetable};
use serde_json::Value as Json;

use super::{ArchivedTable, Belonging, Entry};
use crate::db::{ColumnType, Sql, record::definition::THIS};
use crate::primitives::error::{Error, Result};

/// The maximum number of rows that are read, and written, at once.
pub const ROWS: usize = 50;

/// The reading of one table: where it has come to.
#[derive(Debug)]
pub struct Reading<'a> {
    table: &'a ArchivedTable,
    site: &'a str,
    /// The key of the last row that was read.
    last: Option<Vec<String>>,
    /// The keys of all rows that are still to be read, if rows belong to others of the same table.
    branches: Option<Vec<String>>,
    is_over: bool,
}

impl<'a> Reading<'a> {
    /// Begins to read the rows of `site` in `table`. A row that belongs to another one of the same table comes behind
    /// it; otherwise they come in the order of their keys.
    pub async fn begin(
        connection: &impl ConnectionTrait,
        table: &'a ArchivedTable,
        site: &'a str,
    ) -> Result<Self> {
        let branches = match table.branch {
            Some(column) => Some(branches(connection, table, column, site).await?),
            None => None,
        };
        Ok(Self {
            table,
            site,
            last: None,
            branches,
            is_over: false,
        })
    }

    /// Returns the next rows: at most [`ROWS`], and none at the end.
    pub async fn next(&mut self, connection: &impl ConnectionTrait) -> Result<Vec<Entry>> {
        if self.is_over {
            return Ok(Vec::new());
        }
        let table = self.table;
        let mut sql = Sql::new(connection.get_database_backend(), "SELECT ");
        for (index, (name, ..)) in table.columns.iter().enumerate() {
            sql.push(if index == 0 { "" } else { ", " });
            sql.column(THIS, name);
        }
        sql.push(" FROM \"").push(table.name).push("\" this WHERE ");
        let mut wanted = Vec::new();
        if let Some(branches) = &mut self.branches {
            let count = branches.len().min(ROWS);
            wanted = branches.drain(..count).collect();
            push_key(&mut sql, table, THIS);
            sql.bind_list(&wanted)?;
        } else {
            belongs(&mut sql, table, self.site);
            if let Some(last) = &self.last {
                sql.push(" AND (");
                list(&mut sql, table);
                sql.push(") > (");
                for (index, value) in last.iter().enumerate() {
                    sql.push(if index == 0 { "" } else { ", " });
                    sql.bind(value.as_str());
                }
                sql.push(")");
            }
            sql.push(" ORDER BY ");
            list(&mut sql, table);
            sql.push(" LIMIT ").bind(i64::try_from(ROWS).unwrap_or(1));
        }
        let rows = connection.query_all_raw(sql.into_statement()).await?;
        let rows = rows.iter().map(|row| self.entry(row));
        let mut entries = rows.collect::<Result<Vec<_>>>()?;
        if !wanted.is_empty() {
            let places: HashMap<&str, usize> = wanted
                .iter()
                .enumerate()
                .map(|(at, it)| (it.as_str(), at))
                .collect();
            entries.sort_by_key(|it| places.get(self.keys(it).concat().as_str()).copied());
        }
        self.last = entries.last().map(|it| self.keys(it));
        self.is_over = match &self.branches {
            Some(branches) => branches.is_empty(),
            None => entries.len() < ROWS,
        };
        Ok(entries)
    }

    fn keys(&self, entry: &Entry) -> Vec<String> {
        let text = |name: &&str| {
            let text = entry.get(*name).and_then(Json::as_str);
            text.unwrap_or_default().to_owned()
        };
        self.table.key.iter().map(text).collect()
    }

    fn entry(&self, row: &QueryResult) -> Result<Entry> {
        let columns = self.table.columns.iter().enumerate();
        let cells = columns.map(|(index, (name, kind, _))| {
            let json = match kind {
                ColumnType::Text => cell::<String>(row, index)?.map(Json::String),
                ColumnType::Integer => cell::<i64>(row, index)?.map(Json::from),
                ColumnType::Boolean => cell::<bool>(row, index)?.map(Json::Bool),
                ColumnType::Number => {
                    cell::<f64>(row, index)?.map(|it| Json::String(it.to_string()))
                }
            };
            Ok(((*name).to_owned(), json.unwrap_or(Json::Null)))
        });
        cells.collect()
    }
}

fn cell<T: TryGetable>(row: &QueryResult, index: usize) -> Result<Option<T>> {
    Ok(row.try_get_by_index(index)?)
}

/// Appends the columns of the key.
fn list(sql: &mut Sql, table: &ArchivedTable) {
    for (index, name) in table.key.iter().enumerate() {
        sql.push(if index == 0 { "" } else { ", " });
        sql.column(THIS, name);
    }
}

fn push_key(sql: &mut Sql, table: &ArchivedTable, alias: &str) {
    let key = table.key.first().copied().unwrap_or_default();
    sql.column(alias, key);
}

/// Appends the condition that the row `this` of `table` belongs to `site`.
pub(super) fn belongs(sql: &mut Sql, table: &ArchivedTable, site: &str) {
    for (column, above, key) in &table.above {
        sql.push("\"")
            .push(column)
            .push("\" IN (SELECT \"")
            .push(key);
        sql.push("\" FROM \"").push(above).push("\" WHERE ");
    }
    let (column, value) = match table.belonging {
        Belonging::Path(column, prefix) => (column, format!("{prefix}{site}")),
        Belonging::Site(column) | Belonging::Row((column, ..)) => (column, site.to_owned()),
    };
    sql.push("\"").push(column).push("\" = ").bind(value);
    sql.push(&")".repeat(table.above.len()));
}

/// Returns the keys of all rows of `site`, each behind that of the row that `column` names.
async fn branches(
    connection: &impl ConnectionTrait,
    table: &ArchivedTable,
    column: &str,
    site: &str,
) -> Result<Vec<String>> {
    let mut sql = Sql::new(connection.get_database_backend(), "SELECT ");
    push_key(&mut sql, table, THIS);
    sql.push(", ").column(THIS, column);
    sql.push(" FROM \"").push(table.name).push("\" this WHERE ");
    belongs(&mut sql, table, site);
    sql.push(" ORDER BY 1");
    let rows = connection.query_all_raw(sql.into_statement()).await?;
    let mut below: BTreeMap<Option<String>, Vec<String>> = BTreeMap::new();
    for row in &rows {
        let parent: Option<String> = row.try_get_by_index(1)?;
        below
            .entry(parent)
            .or_default()
            .push(row.try_get_by_index(0)?);
    }
    let mut ordered = below.remove(&None).unwrap_or_default();
    let mut next = 0;
    while let Some(key) = ordered.get(next).cloned() {
        ordered.extend(below.remove(&Some(key)).unwrap_or_default());
        next = next.saturating_add(1);
    }
    match ordered.len() == rows.len() {
        true => Ok(ordered),
        false => Err(Error::internal(format!(
            "rows of `{}` belong to each other in a circle, or to rows of another site",
            table.name
        ))),
    }
}

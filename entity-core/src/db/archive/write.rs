//! Writing the rows of a site again, some at a time.

use std::collections::{BTreeSet, HashMap};

use sea_orm::{ConnectionTrait, Value};
use serde_json::Value as Json;

use super::read::belongs;
use super::{ArchivedColumn, ArchivedTable, Belonging, Entry, Link};
use crate::db::folded::fold_value;
use crate::db::{ColumnType, Sql};
use crate::primitives::error::{Error, ErrorKind, Result};

/// The internal ids of accounts in an archive, each with that of the same account here.
#[derive(Clone, Debug, Default)]
pub struct AccountIds(HashMap<String, String>);

impl AccountIds {
    /// Notes that the account `there` is the account `here`.
    pub fn note(&mut self, there: impl Into<String>, here: impl Into<String>) {
        self.0.insert(there.into(), here.into());
    }

    /// Returns the account here that is `there` in the archive.
    pub fn find(&self, there: &str) -> Option<&str> {
        self.0.get(there).map(String::as_str)
    }

    /// Returns `text`, ids with colons between them, with those of accounts replaced.
    fn replaced(&self, text: &str) -> String {
        let ids = text.split(':').map(|it| self.find(it).unwrap_or(it));
        ids.collect::<Vec<_>>().join(":")
    }
}

/// Writes rows of an archive as rows of `site`. The tables above must have been written before.
///
/// # Errors
/// Returns an error that names the row if it is there already, belongs to another site, names a row of another site, or
/// does not fit the table; and an error if the database can't be written.
pub async fn insert(
    connection: &impl ConnectionTrait,
    tables: &[ArchivedTable],
    table: &ArchivedTable,
    site: &str,
    entries: &[Entry],
    accounts: &AccountIds,
) -> Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    let backend = connection.get_database_backend();
    let mut sql = Sql::new(backend, "INSERT INTO \"");
    sql.push(table.name).push("\" (");
    let names = table.columns.iter().map(|it| it.0.to_owned());
    let folded = table.folded.iter().filter_map(|it| it.folded_column());
    for (index, name) in names.chain(folded).enumerate() {
        sql.push(if index == 0 { "\"" } else { ", \"" });
        sql.push(&name).push("\"");
    }
    sql.push(") VALUES ");
    for (number, entry) in entries.iter().enumerate() {
        refuse_foreign(table, site, entry)?;
        sql.push(if number == 0 { "(" } else { ", (" });
        let values = values(table, entry, accounts).map_err(|why| misfit(table, entry, &why))?;
        for (index, value) in values.into_iter().enumerate() {
            sql.push(if index == 0 { "" } else { ", " });
            sql.bind(value);
        }
        sql.push(")");
    }
    let done = connection.execute_raw(sql.into_statement()).await;
    done.map_err(|error| match Error::from(error) {
        error if error.kind() == ErrorKind::Conflict => taken(table, entries, error),
        error => error,
    })?;
    for link in &table.links {
        check_link(connection, tables, table, *link, site, entries).await?;
    }
    Ok(())
}

fn misfit(table: &ArchivedTable, entry: &Entry, why: &str) -> Error {
    let key = table.key.first().and_then(|it| entry.get(*it));
    let key = key.and_then(Json::as_str).unwrap_or_default();
    let table = table.name;
    Error::bad_request(format!("the row `{key}` of `{table}` in the archive {why}"))
}

fn taken(table: &ArchivedTable, entries: &[Entry], error: Error) -> Error {
    let key = |it: &Entry| table.key.first().and_then(|key| it.get(*key)).cloned();
    let first = entries.first().and_then(key).unwrap_or_default();
    Error::conflict(format!(
        "a row of `{}` in the archive, {first} or one of the {} behind it, has an id or a name that is taken here by \
         something else, or names something that is not there",
        table.name,
        entries.len().saturating_sub(1)
    ))
    .with_source(error)
}

/// Refuses a row that names another site.
fn refuse_foreign(table: &ArchivedTable, site: &str, entry: &Entry) -> Result<()> {
    let (column, wanted) = match table.belonging {
        _ if !table.above.is_empty() => return Ok(()),
        Belonging::Path(column, prefix) => (column, format!("{prefix}{site}")),
        Belonging::Site(column) | Belonging::Row((column, ..)) => (column, site.to_owned()),
    };
    match entry.get(column).and_then(Json::as_str) == Some(wanted.as_str()) {
        true => Ok(()),
        false => Err(misfit(table, entry, "belongs to another site")),
    }
}

/// Refuses rows that name a row of another site.
async fn check_link(
    connection: &impl ConnectionTrait,
    tables: &[ArchivedTable],
    table: &ArchivedTable,
    (column, other, key): Link,
    site: &str,
    entries: &[Entry],
) -> Result<()> {
    let named = entries.iter().filter_map(|it| it.get(column)?.as_str());
    let named: BTreeSet<&str> = named.collect();
    let Some(above) = tables.iter().find(|it| it.name == other) else {
        return Ok(());
    };
    let named: Vec<&str> = named.into_iter().collect();
    let backend = connection.get_database_backend();
    let mut sql = Sql::new(backend, "SELECT count(*) FROM \"");
    sql.push(other).push("\" this WHERE ");
    sql.column("this", key).bind_list(&named)?.push(" AND ");
    belongs(&mut sql, above, site);
    let row = connection.query_one_raw(sql.into_statement()).await?;
    let count: i64 = match row {
        Some(row) => row.try_get_by_index(0)?,
        None => 0,
    };
    match usize::try_from(count).is_ok_and(|it| it == named.len()) {
        true => Ok(()),
        false => Err(Error::bad_request(format!(
            "a row of `{}` in the archive names a row of `{other}` that is none of this site",
            table.name
        ))),
    }
}

/// Returns the values of the columns and, behind them, those of the folded ones.
fn values(
    table: &ArchivedTable,
    entry: &Entry,
    accounts: &AccountIds,
) -> Result<Vec<Value>, String> {
    if let Some(name) = entry.keys().find(|it| !table.has(it)) {
        return Err(format!(
            "has the column `{name}`, which the type does not have here"
        ));
    }
    let mut values = Vec::with_capacity(table.columns.len());
    for column in &table.columns {
        let name = column.0;
        let mut value =
            value(column, entry.get(name)).map_err(|why| format!("{why} in `{name}`"))?;
        if let Value::String(Some(text)) = &mut value {
            if table.accounts.contains(&name)
                && let Some(here) = accounts.find(text)
            {
                here.clone_into(text);
            } else if table.composed.contains(&name) {
                *text = accounts.replaced(text);
            }
        }
        values.push(value);
    }
    for field in &table.folded {
        if field.folded_column().is_some() {
            let own = table
                .columns
                .iter()
                .position(|it| Some(it.0) == field.column);
            let own = own.and_then(|it| values.get(it)).cloned();
            values.push(fold_value(field, &own.unwrap_or(Value::String(None))));
        }
    }
    Ok(values)
}

impl ArchivedTable {
    fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|it| it.0 == name)
    }
}

/// Returns the value of a column. One that an archive of a former version lacks is empty.
fn value(
    (_, kind, is_nullable): &ArchivedColumn,
    json: Option<&Json>,
) -> Result<Value, &'static str> {
    let json = match json {
        Some(Json::Null) if !is_nullable => return Err("has nothing"),
        None if !is_nullable => None,
        other => Some(other.unwrap_or(&Json::Null)),
    };
    let is_null = json.is_some_and(Json::is_null);
    match (kind, json) {
        (ColumnType::Text, _) if is_null => Ok(Value::String(None)),
        (ColumnType::Integer, _) if is_null => Ok(Value::BigInt(None)),
        (ColumnType::Number, _) if is_null => Ok(Value::Double(None)),
        (ColumnType::Boolean, _) if is_null => Ok(Value::Bool(None)),
        (ColumnType::Text, None) => Ok(String::new().into()),
        (ColumnType::Integer, None) => Ok(0_i64.into()),
        (ColumnType::Number, None) => Ok(0.0_f64.into()),
        (ColumnType::Boolean, None) => Ok(false.into()),
        (ColumnType::Text, Some(Json::String(it))) if it.contains('\0') => Err("has a NUL"),
        (ColumnType::Text, Some(Json::String(it))) => Ok(it.as_str().into()),
        (ColumnType::Integer, Some(it)) => it.as_i64().map(Into::into).ok_or("has no integer"),
        (ColumnType::Number, Some(Json::String(it))) => {
            let number = it.parse::<f64>().ok().filter(|it| it.is_finite());
            number.map(Into::into).ok_or("has no number")
        }
        (ColumnType::Boolean, Some(it)) => it.as_bool().map(Into::into).ok_or("has no truth value"),
        _ => Err("has a value of another type"),
    }
}

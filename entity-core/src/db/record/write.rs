//! Writing records.

use sea_orm::{ConnectionTrait, DbErr, SqlErr, Value};

use super::{groups, insert_many, references};
use crate::contract::context::Context;
use crate::contract::input::Fields;
use crate::db::folded::{fold_value, folded_fields};
use crate::db::record::constants::{Constants, Declared as _};
use crate::db::record::definition::Record;
use crate::db::{attached, veil};
use crate::model::schema::Role;
use crate::words::error::{Error, Result};

/// Creates an entity of `fields`, with an id, an owner, dates, a place and a version where the struct has them.
///
/// # Errors
/// Returns an error if a field is wrong, if the entity contradicts itself or existing data, or if there is already one
/// with its id.
pub async fn create<T: Record>(cx: &Context, fields: Fields) -> Result<T> {
    add(cx, T::make(cx, fields)?).await
}

/// Stores `made`, which [`Record::make`] returned, as [`create`] does.
///
/// # Errors
/// Fails as [`create`] does.
pub async fn add<T: Record>(cx: &Context, mut made: T) -> Result<T> {
    if let Some(column) = T::POSITION {
        made.set_position(next_position(T::CONSTANTS, cx, made.site(), column).await?);
    }
    made.settle(cx, None).await?;
    made.arrange_children();
    made.compute(cx);
    groups::check(cx, &mut made).await?;
    references::check(cx, &made, None).await?;
    insert(cx, &made).await?;
    read_back(cx, made).await
}

/// Stores `record`, which is new, as it is.
///
/// # Errors
/// Returns an error if there is already a record with its id, or if the database can't be written.
pub async fn insert<T: Record>(cx: &Context, record: &T) -> Result<()> {
    insert_many(cx, std::slice::from_ref(record)).await
}

/// Converts the error of a statement that writes a row.
pub(super) fn taken<T: Record>(error: DbErr) -> Error {
    let Some(SqlErr::UniqueConstraintViolation(text)) = error.sql_err() else {
        return error.into();
    };
    let within_site = T::UNIQUE.iter().filter(|it| it.is_within_site);
    let mut violated = within_site.filter(|it| it.is_violated(T::TABLE, &text));
    match (violated.next(), T::TAKEN) {
        (Some(unique), _) => Error::taken(unique.field, "is taken in this site").with_source(error),
        (None, Some(message)) => Error::conflict(message).with_source(error),
        (None, None) => error.into(),
    }
}

/// Changes `current` by `fields`, as [`replace`] does. Fields that the caller does not see stay as they are, and are
/// refused if another value than null, an empty text or `false` was sent.
///
/// # Errors
/// Returns an error if a field is wrong, or fails as [`replace`] does.
pub async fn update<T: Record>(cx: &Context, current: T, mut fields: Fields) -> Result<T> {
    let named = (current.key(), current.site());
    veil::withhold(T::CONSTANTS, cx, named, &mut fields).await?;
    let mut changed = current.clone();
    changed.change(cx, fields)?;
    replace(cx, current, changed).await
}

/// Puts `changed` in the place of `current`, after the checks of the type, as [`store`] does.
///
/// # Errors
/// Returns an error if the entity would contradict itself or existing data, or fails as [`store`] does.
pub async fn replace<T: Record>(cx: &Context, current: T, mut changed: T) -> Result<T> {
    changed.settle(cx, Some(&current)).await?;
    store(cx, current, changed).await
}

/// Puts `changed` in the place of `current`, if its row is still in the version that was read. Only the columns that
/// differ are written.
///
/// # Errors
/// Returns an error if a group is none of the entity's site, or if the row was changed or deleted meanwhile.
pub async fn store<T: Record>(cx: &Context, current: T, mut changed: T) -> Result<T> {
    groups::check(cx, &mut changed).await?;
    references::check(cx, &changed, Some(&current)).await?;
    changed.touch(cx);
    changed.arrange_children();
    changed.compute(cx);
    let former = row(&current);
    let columns = row(&changed).into_iter().zip(&former);
    let columns = columns.filter_map(|(new, old)| (new != *old).then_some(new));
    let columns: Vec<_> = columns.collect();
    let of = T::CONSTANTS;
    attached::note(of, cx, (current.key(), changed.site()), &columns, &former).await?;
    let version = version_of(of, &former);
    let written = write_columns(of, cx, current.key(), version, columns).await;
    if !written?.map_err(taken::<T>)? {
        return Err(Error::precondition_failed());
    }
    groups::store(cx, &changed, current.groups()).await?;
    changed.store_children(cx, Some(&current)).await?;
    read_back(cx, changed).await
}

/// Deletes the row of `current`.
///
/// # Errors
/// Returns an error if something still needs the entity, or if the database can't be written.
pub async fn delete<T: Record>(cx: &Context, current: T) -> Result<()> {
    attached::forget(cx, &current).await?;
    remove(T::CONSTANTS, cx, current.key()).await
}

async fn remove(of: &Constants, cx: &Context, key: &str) -> Result<()> {
    let db = cx.db()?;
    let mut sql = db.sql("DELETE FROM \"");
    sql.push(of.table)
        .push("\" WHERE \"")
        .push(of.key)
        .push("\" = ");
    sql.bind(key);
    db.execute_raw(sql.into_statement()).await?;
    Ok(())
}

/// Returns the columns that are stored for `record`, with their values: its own, and those with the folded text beside
/// the columns that are searched.
pub fn row<T: Record>(record: &T) -> Vec<(String, Value)> {
    row_of(T::CONSTANTS, record.values())
}

fn row_of(of: &Constants, values: Vec<Value>) -> Vec<(String, Value)> {
    let columns = of.columns.iter().map(|it| it.0.to_owned());
    let mut row: Vec<_> = columns.zip(values).collect();
    for (field, column, name) in folded_fields(of.schema()) {
        let found = row.iter().find(|it| it.0 == column);
        let value = found.map_or(Value::String(None), |it| fold_value(field, &it.1));
        row.push((name, value));
    }
    row
}

/// Writes a column of the row with this key that is no part of what clients see: the entity keeps its version and its
/// dates.
pub async fn note<T: Record>(
    cx: &Context,
    key: &str,
    column: &str,
    value: impl Into<Value>,
) -> Result<()> {
    let columns = vec![(column.to_owned(), value.into())];
    let written = write_columns(T::CONSTANTS, cx, key, None, columns).await;
    written?.map_err(taken::<T>)?;
    Ok(())
}

/// Writes `columns` of the row with this key, if the row is still in this version, and returns whether it is.
///
/// # Errors
/// Returns an error if there is no database; the inner one is the database's.
async fn write_columns(
    of: &Constants,
    cx: &Context,
    key: &str,
    version: Option<(&'static str, Value)>,
    columns: Vec<(String, Value)>,
) -> Result<std::result::Result<bool, DbErr>> {
    let db = cx.db()?;
    let mut sql = db.sql("UPDATE \"");
    sql.push(of.table).push("\"");
    let mut before = " SET \"";
    for (column, value) in columns {
        sql.push(before).push(&column).push("\" = ").bind(value);
        before = ", \"";
    }
    if before == " SET \"" {
        // The row is still locked, and found to be there.
        sql.push(" SET \"")
            .push(of.key)
            .push("\" = \"")
            .push(of.key)
            .push("\"");
    }
    sql.push(" WHERE \"").push(of.key).push("\" = ").bind(key);
    if let Some((column, version)) = version {
        sql.push(" AND \"").push(column).push("\" = ").bind(version);
    }
    let done = db.execute_raw(sql.into_statement()).await;
    Ok(done.map(|it| it.rows_affected() > 0))
}

/// Returns the column that counts the changes or, without one, that has the instant of the last change, with its value.
fn version_of(of: &Constants, row: &[(String, Value)]) -> Option<(&'static str, Value)> {
    let updated = || of.schema().role(Role::Updated)?.column;
    let column = of.version.or_else(updated)?;
    let (_, value) = row.iter().find(|it| it.0 == column)?;
    Some((column, value.clone()))
}

/// Returns the place behind the last entity of the same site.
async fn next_position(
    of: &Constants,
    cx: &Context,
    site: Option<&str>,
    column: &str,
) -> Result<i64> {
    let db = cx.db()?;
    let mut sql = db.sql("SELECT max(\"");
    sql.push(column)
        .push("\") FROM \"")
        .push(of.table)
        .push("\"");
    let name = of.schema().role(Role::Site).and_then(|it| it.column);
    if let (Some(name), Some(site)) = (name, site) {
        sql.push(" WHERE \"").push(name).push("\" = ").bind(site);
    }
    let last = db
        .rows(sql.into_statement(), crate::db::columns::<Option<i64>>)
        .await?;
    Ok(last
        .into_iter()
        .flatten()
        .max()
        .unwrap_or_default()
        .saturating_add(1))
}

/// Returns what clients see of `record`, which was just written.
async fn read_back<T: Record>(cx: &Context, mut record: T) -> Result<T> {
    if !T::is_read_back() {
        veil::conceal(cx, &mut record, Vec::new()).await?;
        return Ok(record);
    }
    let found = super::read(cx, record.key()).await?;
    found.ok_or_else(|| Error::internal("a record that was just written is not there"))
}

//! Writing records.

use sea_orm::{ConnectionTrait, DbErr, SqlErr, Value};

use super::any::AnyRecord;
use super::put::insert_all;
use super::read::find_one;
use super::{deadline, groups, overlap, references};
use crate::contract::context::Context;
use crate::contract::input::Fields;
use crate::db::folded::{fold_value, folded_fields};
use crate::db::record::constants::{Constants, Declared as _};
use crate::db::record::definition::Record;
use crate::db::{attached, redaction};
use crate::model::schema::Role;
use crate::primitives::error::{Error, Result};

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
    add_any(cx, &mut made).await?;
    Ok(made)
}

async fn add_any(cx: &Context, made: &mut dyn AnyRecord) -> Result<()> {
    let of = made.constants();
    if let Some(column) = of.position {
        let position = next_position(of, cx, made.site(), column).await?;
        made.set_position(position);
    }
    made.settle(cx, None).await?;
    made.arrange_children();
    made.compute(cx);
    groups::check(cx, made).await?;
    references::check(cx, &*made, None).await?;
    insert_all(of, cx, &[&*made]).await?;
    read_back(cx, made).await?;
    deadline::follow(cx, made, false).await
}

/// Stores `record`, which is new, as it is.
///
/// # Errors
/// Returns an error if there is already a record with its id, or if the database can't be written.
pub async fn insert<T: Record>(cx: &Context, record: &T) -> Result<()> {
    insert_all(T::CONSTANTS, cx, &[record]).await
}

/// Converts the error of a statement that writes a row.
pub(super) fn taken(of: &Constants, error: DbErr) -> Error {
    let Some(SqlErr::UniqueConstraintViolation(text)) = error.sql_err() else {
        return error.into();
    };
    let within_site = of.unique.iter().filter(|it| it.is_within_site);
    let mut violated = within_site.filter(|it| it.is_violated(of.table, &text));
    match (violated.next(), of.taken) {
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
    withhold(cx, &current, &mut fields).await?;
    let mut changed = current.clone();
    changed.change(cx, fields)?;
    replace(cx, current, changed).await
}

async fn withhold(cx: &Context, current: &dyn AnyRecord, fields: &mut Fields) -> Result<()> {
    let named = (current.key(), current.site());
    redaction::withhold(current.constants(), cx, named, fields).await
}

/// Puts `changed` in the place of `current`, after the checks of the type, as [`store`] does.
///
/// # Errors
/// Returns an error if the entity would contradict itself or existing data, or fails as [`store`] does.
pub async fn replace<T: Record>(cx: &Context, current: T, mut changed: T) -> Result<T> {
    replace_any(cx, &current, &mut changed).await?;
    Ok(changed)
}

async fn replace_any(
    cx: &Context,
    current: &dyn AnyRecord,
    changed: &mut dyn AnyRecord,
) -> Result<()> {
    changed.settle(cx, Some(current)).await?;
    store_any(cx, current, changed).await
}

/// Puts `changed` in the place of `current`, if its row is still in the version that was read. Only the columns that
/// differ are written.
///
/// # Errors
/// Returns an error if a group is none of the entity's site, or if the row was changed or deleted meanwhile.
pub async fn store<T: Record>(cx: &Context, current: T, mut changed: T) -> Result<T> {
    store_any(cx, &current, &mut changed).await?;
    Ok(changed)
}

async fn store_any(
    cx: &Context,
    current: &dyn AnyRecord,
    changed: &mut dyn AnyRecord,
) -> Result<()> {
    let of = current.constants();
    groups::check(cx, changed).await?;
    references::check(cx, &*changed, Some(current)).await?;
    changed.touch(cx);
    changed.arrange_children();
    changed.compute(cx);
    let former = row_of(current);
    let columns = row_of(&*changed).into_iter().zip(&former);
    let columns = columns.filter_map(|(new, old)| (new != *old).then_some(new));
    let columns: Vec<_> = columns.collect();
    attached::note(of, cx, (current.key(), changed.site()), &columns, &former).await?;
    let version = version_of(of, &former);
    let written = write_columns(of, cx, current.key(), version, columns).await;
    if !written?.map_err(|it| taken(of, it))? {
        return Err(Error::precondition_failed());
    }
    overlap::check(cx, &*changed).await?;
    groups::store(cx, &*changed, current.groups()).await?;
    changed.store_children(cx, Some(current)).await?;
    read_back(cx, changed).await?;
    deadline::follow(cx, changed, false).await
}

/// Deletes the row of `current`.
///
/// # Errors
/// Returns an error if something still needs the entity, or if the database can't be written.
pub async fn delete<T: Record>(cx: &Context, current: T) -> Result<()> {
    delete_any(cx, &current).await
}

async fn delete_any(cx: &Context, current: &dyn AnyRecord) -> Result<()> {
    current.removed(cx).await?;
    deadline::follow(cx, current, true).await?;
    attached::forget(cx, current).await?;
    remove(current.constants(), cx, current.key()).await
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
    row_of(record)
}

pub(in crate::db) fn row_of(record: &dyn AnyRecord) -> Vec<(String, Value)> {
    let of = record.constants();
    let columns = of.columns.iter().map(|it| it.0.to_owned());
    let mut row: Vec<_> = columns.zip(record.values()).collect();
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
    let of = T::CONSTANTS;
    let columns = vec![(column.to_owned(), value.into())];
    let written = write_columns(of, cx, key, None, columns).await;
    written?.map_err(|it| taken(of, it))?;
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

/// Makes of `record`, which was just written, what clients see of it.
async fn read_back(cx: &Context, record: &mut dyn AnyRecord) -> Result<()> {
    let of = record.constants();
    if !(of.is_read_back)() {
        return redaction::redact(cx, record, Vec::new()).await;
    }
    let mut rows = (of.rows)();
    find_one(of, cx, record.key(), &mut *rows).await?;
    match rows.move_last(record) {
        true => Ok(()),
        false => Err(Error::internal(
            "a record that was just written is not there",
        )),
    }
}

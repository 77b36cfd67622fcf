//! Rows that are there or not: a caller's own row, and many rows with a few statements.

use sea_orm::ConnectionTrait;

use super::any::AnyRecord;
use super::read::load_one;
use super::write::{row_of, store, taken};
use super::{groups, lock, overlap};
use crate::contract::context::Context;
use crate::db::record::constants::{Constants, Declared as _};
use crate::db::record::definition::Record;
use crate::db::{Sql, attached};
use crate::model::table::MADE_BY;
use crate::primitives::error::{Error, Result};

/// The maximum number of values that one statement binds: well below what the databases allow.
const MOST_VALUES: usize = 8_000;

/// Makes `change` in the row with the key of `blank`: in the row that is there, or in `blank`, which then becomes a row.
/// Returns what the row holds now, and whether that is something else than before. Of units of work that put the same row
/// at once, each finds what the one before it has left.
///
/// This is for rows of which there is one for each user or place, such as a vote or a score: their key is made of what
/// they belong to. The caller has checked what [`create`](super::create) and [`update`](super::update) check.
///
/// # Errors
/// Returns an error if another row has a value that is unique, or if the database can't be written.
pub async fn put<T: Record + PartialEq>(
    cx: &Context,
    blank: T,
    change: impl Fn(&mut T),
) -> Result<(T, bool)> {
    let mut made = blank.clone();
    change(&mut made);
    let key = Record::key(&blank);
    lock::<T>(cx, &[key]).await?;
    let current = match load_one::<T>(cx, key).await? {
        Some(current) => current,
        None if add_row(cx, &made).await? => return Ok((made, true)),
        None => {
            lock::<T>(cx, &[key]).await?;
            let added_meanwhile = load_one::<T>(cx, key).await?;
            added_meanwhile.ok_or_else(|| Error::internal("a row that is there can't be read"))?
        }
    };
    let mut changed = current.clone();
    change(&mut changed);
    match changed == current {
        true => Ok((current, false)),
        false => Ok((store(cx, current, changed).await?, true)),
    }
}

/// Stores a row unless there is one with its key, and returns whether there was none.
async fn add_row(cx: &Context, record: &dyn AnyRecord) -> Result<bool> {
    let of = record.constants();
    let mut sql = inserting(of, cx, &[record]).await?;
    sql.push(" ON CONFLICT (\"")
        .push(of.key)
        .push("\") DO NOTHING");
    let done = cx.db()?.execute_raw(sql.into_statement()).await;
    if done.map_err(|it| taken(of, it))?.rows_affected() == 0 {
        return Ok(false);
    }
    store_besides(cx, record).await?;
    Ok(true)
}

/// Checks a new record whose row is written, and stores what it has besides that.
async fn store_besides(cx: &Context, record: &dyn AnyRecord) -> Result<()> {
    overlap::check(cx, record).await?;
    groups::store(cx, record, &[]).await?;
    record.store_children(cx, None).await
}

/// Stores `records`, which are new, as they are: as [`insert`](super::insert) does, with a few statements for all.
///
/// # Errors
/// Returns an error if there is already a record with one of their ids, or if the database can't be written.
pub async fn insert_many<T: Record>(cx: &Context, records: &[T]) -> Result<()> {
    insert_all(T::CONSTANTS, cx, &any(records)).await
}

pub(super) async fn insert_all(
    of: &Constants,
    cx: &Context,
    records: &[&dyn AnyRecord],
) -> Result<()> {
    let db = cx.db()?;
    for part in records.chunks(most_rows(of)) {
        let sql = inserting(of, cx, part).await?;
        let done = db.execute_raw(sql.into_statement()).await;
        done.map_err(|it| taken(of, it))?;
    }
    for record in records {
        store_besides(cx, *record).await?;
    }
    Ok(())
}

/// Stores `records`: those that are new as they are, and of those whose rows are there `columns`, and a version more. A
/// few statements write all. Groups and children stay as they are.
///
/// # Errors
/// Returns an error if another row has a value that is unique, or if the database can't be written.
pub async fn put_many<T: Record>(cx: &Context, records: &[T], columns: &[&str]) -> Result<()> {
    put_all(T::CONSTANTS, cx, &any(records), columns).await
}

async fn put_all(
    of: &Constants,
    cx: &Context,
    records: &[&dyn AnyRecord],
    columns: &[&str],
) -> Result<()> {
    let db = cx.db()?;
    for part in records.chunks(most_rows(of)) {
        let mut sql = inserting(of, cx, part).await?;
        sql.push(" ON CONFLICT (\"").push(of.key);
        sql.push("\") DO UPDATE SET ");
        let mut before = "";
        for column in columns {
            sql.push(before).push("\"").push(column);
            sql.push("\" = excluded.\"").push(column).push("\"");
            before = ", ";
        }
        if let Some(version) = of.version {
            sql.push(before).push("\"").push(version).push("\" = \"");
            sql.push(of.table)
                .push("\".\"")
                .push(version)
                .push("\" + 1");
        }
        let done = db.execute_raw(sql.into_statement()).await;
        done.map_err(|it| taken(of, it))?;
    }
    for record in records {
        overlap::check(cx, *record).await?;
    }
    Ok(())
}

fn any<T: Record>(records: &[T]) -> Vec<&dyn AnyRecord> {
    records.iter().map(|it| -> &dyn AnyRecord { it }).collect()
}

fn most_rows(of: &Constants) -> usize {
    MOST_VALUES
        .checked_div(of.columns.len().saturating_mul(2))
        .unwrap_or_default()
        .max(1)
}

/// Returns the beginning of a statement that inserts `records`: the table, the columns and the values.
///
/// # Errors
/// Returns an error if the caller may not open an attached file that one of them names.
async fn inserting(of: &Constants, cx: &Context, records: &[&dyn AnyRecord]) -> Result<Sql> {
    let mut sql = cx.db()?.sql("INSERT INTO \"");
    sql.push(of.table).push("\"");
    for (index, record) in records.iter().enumerate() {
        let mut row = row_of(*record);
        if of.maker_pays {
            row.push((MADE_BY.to_owned(), cx.caller().user_id().into()));
        }
        attached::note(of, cx, (record.key(), record.site()), &row, &[]).await?;
        if index == 0 {
            let columns: Vec<_> = row.iter().map(|it| format!("\"{}\"", it.0)).collect();
            sql.push(" (").push(&columns.join(", ")).push(") VALUES ");
        }
        let mut before = if index == 0 { "(" } else { ", (" };
        for (_, value) in row {
            sql.push(before).bind(value);
            before = ", ";
        }
        sql.push(")");
    }
    Ok(sql)
}

//! The book of stored files: which there are, and since when no row is known to name them.
//!
//! A file is noted before it gets its name in the store, and goes out of the book in the transaction in which it is
//! removed from the store. So an upload of the same bytes at the same moment waits for that transaction, and stores the
//! file anew behind it. A file is removed an hour after it was first found that no row names it: a unit of work that
//! copies the name from a row that is deleted meanwhile has long ended by then.
//!
//! The book also says who pays for a file until an entity of a site names it, and after that until it is removed: the
//! account that sent it and the site for which it came.

use bytes::Bytes;
use sea_orm::ConnectionTrait as _;

use super::Sql;
use super::attached::{AttachedFileService, loose};
use crate::contract::blob::Blob;
use crate::contract::context::Context;
use crate::contract::registry::{Registry, Route};
use crate::db::session::Session;
use crate::primitives::error::{Error, Result};

/// The table of the book. The column `unnamed` is the instant since which no row is known to name the file, or null.
pub const TABLE: &str = "stored_file";

/// The maximum number of bytes of files that one account may have besides those that entities of sites name: files that
/// were refused or deleted and are still on the disk, and attachments that nothing names. 0 for any number. One of the
/// [services](crate::context::Shared::services) of a service.
#[derive(Clone, Copy, Debug)]
pub struct AccountBytes(pub u64);

/// Notes that `blob` is about to be named in the store, that no row names it yet, and that it came for `site`. The
/// account that sends the request pays for it.
///
/// # Errors
/// Returns an error if the account would have too many bytes that no entity of a site names.
pub async fn note(cx: &Context, blob: &Blob, site: Option<&str>) -> Result<()> {
    let db = cx.db()?;
    let bytes = i64::try_from(blob.size()).unwrap_or(i64::MAX);
    let mut sql = db.sql("INSERT INTO stored_file (blob, size, unnamed, account, site) VALUES (");
    sql.bind(blob.to_column()).push(", ").bind(bytes).push(", ");
    sql.bind(cx.now().timestamp_millis()).push(", ");
    sql.bind(cx.caller().user_id().map(ToOwned::to_owned))
        .push(", ");
    sql.bind(site.map(ToOwned::to_owned));
    sql.push(
        ") ON CONFLICT (blob) DO UPDATE SET unnamed = excluded.unnamed, size = excluded.size, \
         account = coalesce(stored_file.account, excluded.account), \
         site = coalesce(stored_file.site, excluded.site)",
    );
    db.execute_raw(sql.into_statement()).await?;
    account_room(cx).await.map(drop)
}

/// Returns the account of the caller and how many bytes more it may have that no entity of a site names, or nothing if
/// any number.
///
/// # Errors
/// Returns an error if it has too many, and if the database can't be read.
pub async fn account_room(cx: &Context) -> Result<Option<(String, u64)>> {
    let most = cx
        .shared
        .services
        .get::<AccountBytes>()
        .map_or(0, |it| it.0);
    let Some(account) = cx.caller().user_id().filter(|_| most > 0) else {
        return Ok(None);
    };
    if cx.authorizer().is_superuser(cx).await? {
        return Ok(None);
    }
    let has = taken(cx, Payer::Account(account), &[]).await?;
    match most.checked_sub(has) {
        Some(room) => Ok(Some((account.to_owned(), room))),
        None => Err(Error::limit_reached(format!(
            "your account has {has} bytes of files that nothing of a site names, of at most {most} (`files.accountBytes`): \
             those that were refused or deleted go within hours, attachments that nothing names within a day"
        ))),
    }
}

/// The one who pays for a file that no entity of a site names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payer<'a> {
    /// The account with this internal id. It pays for loose attachments too.
    Account(&'a str),
    /// The site with this id.
    Site(&'a str),
}

/// Returns the number of bytes of files for which `payer` pays: those that are on the disk and that no entity of a site
/// names, but for `besides`.
///
/// # Errors
/// Returns an error if the database can't be read.
pub async fn taken(cx: &Context, payer: Payer<'_>, besides: &[Blob]) -> Result<u64> {
    let db = cx.db()?;
    let registry = cx.service::<Registry>()?;
    let attached = cx
        .shared
        .services
        .get::<AttachedFileService>()
        .map(|it| it.0.table());
    let mut sql = db.sql("SELECT CAST(coalesce(sum(size), 0) AS bigint) FROM stored_file WHERE ");
    let (column, id) = match payer {
        Payer::Account(id) => ("account", id),
        Payer::Site(id) => ("site", id),
    };
    sql.column("stored_file", column).push(" = ").bind(id);
    for blob in besides {
        sql.push(" AND blob <> ").bind(blob.to_column());
    }
    let of_sites = registry
        .routes()
        .filter(|it| it.table.is_some_and(|it| it().site.is_some()));
    for (table, column) in of_sites.flat_map(Route::blob_columns) {
        sql.push(" AND NOT EXISTS (SELECT 1 FROM \"").push(table);
        sql.push("\" this WHERE ")
            .column("this", column)
            .push(" = stored_file.blob");
        if let (Payer::Account(_), Some((files, condition))) = (payer, attached)
            && files == table
        {
            sql.push(" AND (NOT (").push(condition);
            sql.push(") OR ").push(loose::IS_NAMED).push(")");
        }
        sql.push(")");
    }
    let found: Vec<i64> = db.rows(sql.into_statement(), crate::db::columns).await?;
    Ok(found
        .first()
        .map_or(0, |it| u64::try_from(*it).unwrap_or_default()))
}

/// Stores `bytes`, which did not come as an upload: generated ones, for example, or those of demo data. A row of the
/// same unit of work names the result.
///
/// # Errors
/// Returns an error if the file can't be stored.
pub async fn keep(cx: &Context, bytes: impl Into<Bytes> + Send) -> Result<Blob> {
    let mut incoming = cx.blobs()?.begin().await?;
    incoming.write(bytes.into()).await?;
    let received = incoming.finish().await?;
    note(cx, &received.blob(), None).await?;
    received.keep().await
}

/// A column that holds blobs: the table and the name.
pub type BlobColumn = (&'static str, &'static str);

/// Returns all columns that hold blobs.
pub fn columns(registry: &Registry) -> Vec<BlobColumn> {
    registry.routes().flat_map(Route::blob_columns).collect()
}

/// Returns the columns that held blobs under some program and hold none under this one, each as `table.column`, and
/// whether all of `columns` are noted. What such a column names must stay: its type is not linked now.
pub async fn unknown(cx: &Context, columns: &[BlobColumn]) -> Result<(Vec<String>, bool)> {
    let db = cx.db()?;
    let mut noted = texts(db, db.sql("SELECT name FROM stored_file_column")).await?;
    let known: Vec<String> = columns.iter().map(name).collect();
    let is_noted = known.iter().all(|it| noted.contains(it));
    noted.retain(|it| !known.contains(it));
    Ok((noted, is_noted))
}

/// Notes that `columns` hold blobs.
pub async fn note_columns(cx: &Context, columns: &[BlobColumn]) -> Result<()> {
    let db = cx.db()?;
    for column in columns {
        let mut sql = db.sql("INSERT INTO stored_file_column (name) VALUES (");
        sql.bind(name(column)).push(") ON CONFLICT DO NOTHING");
        db.execute_raw(sql.into_statement()).await?;
    }
    Ok(())
}

fn name((table, column): &BlobColumn) -> String {
    format!("{table}.{column}")
}

/// Returns the next files that some row named when they were last looked at: at most `most`, behind `after`.
pub async fn named(cx: &Context, after: &str, most: u32) -> Result<Vec<String>> {
    let db = cx.db()?;
    let mut sql = db.sql("SELECT blob FROM stored_file WHERE unnamed IS NULL AND blob > ");
    sql.bind(after).push(" ORDER BY blob LIMIT ");
    sql.bind(i64::from(most));
    texts(db, sql).await
}

/// Returns those of `blobs` that no row of `columns` names.
pub async fn unnamed(
    cx: &Context,
    columns: &[BlobColumn],
    mut blobs: Vec<String>,
) -> Result<Vec<String>> {
    let db = cx.db()?;
    for (table, column) in columns {
        if blobs.is_empty() {
            break;
        }
        let mut sql = db.sql(&format!(
            "SELECT DISTINCT this.\"{column}\" FROM \"{table}\" this WHERE "
        ));
        sql.column("this", column).bind_list(&blobs)?;
        let found = texts(db, sql).await?;
        blobs.retain(|it| !found.contains(it));
    }
    Ok(blobs)
}

/// Notes that no row names `blobs` any more.
pub async fn mark(cx: &Context, blobs: &[String]) -> Result<()> {
    let db = cx.db()?;
    let mut sql = db.sql("UPDATE stored_file SET unnamed = ");
    sql.bind(cx.now().timestamp_millis());
    sql.push(" WHERE unnamed IS NULL AND blob");
    sql.bind_list(blobs)?;
    db.execute_raw(sql.into_statement()).await?;
    Ok(())
}

/// Returns the files that no row names since `before`, in milliseconds since 1970: at most `most`.
pub async fn over(cx: &Context, before: i64, most: u32) -> Result<Vec<String>> {
    let db = cx.db()?;
    let mut sql = db.sql("SELECT blob FROM stored_file WHERE unnamed <= ");
    sql.bind(before).push(" ORDER BY unnamed LIMIT ");
    sql.bind(i64::from(most));
    texts(db, sql).await
}

/// Removes those of `blobs` from the book and the store that no row names since `before`, and notes which ones a row
/// names again. Returns the number of removed files.
///
/// # Errors
/// Returns an error if the database or the store can't be written.
pub async fn remove(
    cx: &Context,
    columns: &[BlobColumn],
    blobs: &[String],
    before: i64,
) -> Result<usize> {
    let db = cx.db()?;
    let store = cx.blobs()?;
    let free = unnamed(cx, columns, blobs.to_vec()).await?;
    let mut removed = 0;
    for blob in blobs {
        if !free.contains(blob) {
            let mut sql = db.sql("UPDATE stored_file SET unnamed = NULL WHERE blob = ");
            sql.bind(blob.as_str());
            db.execute_raw(sql.into_statement()).await?;
            continue;
        }
        let mut sql = db.sql("DELETE FROM stored_file WHERE blob = ");
        sql.bind(blob.as_str()).push(" AND unnamed <= ");
        sql.bind(before);
        let done = db.execute_raw(sql.into_statement()).await?;
        // It is still locked: who uploads the same bytes waits until it is gone.
        if done.rows_affected() == 1
            && let Some(blob) = Blob::parse(blob)
        {
            store.store().delete(&blob).await?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Notes files that are in the store and not in the book, because the unit of work that stored them was rolled back.
pub async fn adopt(cx: &Context, blobs: &[String]) -> Result<()> {
    let db = cx.db()?;
    for blob in blobs {
        let mut sql = db.sql("INSERT INTO stored_file (blob, unnamed) VALUES (");
        sql.bind(blob.as_str()).push(", ");
        sql.bind(cx.now().timestamp_millis());
        sql.push(") ON CONFLICT (blob) DO NOTHING");
        db.execute_raw(sql.into_statement()).await?;
    }
    Ok(())
}

/// Returns those of `blobs` that are not in the book.
pub async fn strays(cx: &Context, mut blobs: Vec<String>) -> Result<Vec<String>> {
    let db = cx.db()?;
    let mut sql = db.sql("SELECT blob FROM stored_file WHERE blob");
    sql.bind_list(&blobs)?;
    let found = texts(db, sql).await?;
    blobs.retain(|it| !found.contains(it));
    Ok(blobs)
}

async fn texts(db: &Session, sql: Sql) -> Result<Vec<String>> {
    db.rows(sql.into_statement(), crate::db::columns).await
}

//! Removing files that no row names.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use entity_core::blob::Blob;
use entity_core::db::attached::loose::{self, Loose};
use entity_core::db::attached::uses;
use entity_core::db::blobs::{self, BlobColumn};
use entity_core::{Context, Registry, Result};
use futures::future::BoxFuture;

use crate::operate::background;
use crate::operate::node::Node;

/// The time for which a file stays that no row names.
const GRACE: TimeDelta = TimeDelta::hours(1);
/// The time for which an attached file stays that no entity names.
const LOOSE: TimeDelta = TimeDelta::days(1);
/// The time for which an unfinished upload stays without a further byte.
const UNFINISHED: Duration = Duration::from_hours(1);
/// The maximum number of files that are looked at in one step, and of those that are removed in one transaction.
const LOOK: u32 = 500;
const REMOVE: u32 = 50;

/// Looks at some of the files, and removes those that no row names for an hour.
///
/// # Errors
/// Returns an error if the database or the store can't be read or written.
pub(crate) async fn sweep(node: &Node, now: DateTime<Utc>) -> Result<()> {
    let blobs = node.dispatcher.shared().blobs()?;
    blobs.store().clean(UNFINISHED).await?;
    let columns = blobs::columns(node.dispatcher.registry());
    if !are_all_known(node, &columns).await? {
        return Ok(());
    }
    let (named, stored) = node.swept_files.get();
    let named = mark(node, &columns, named).await?;
    let stored = adopt(node, stored).await?;
    node.swept_files.set((named, stored));
    end_loose(node, (now - LOOSE).timestamp_millis()).await?;
    remove(node, &columns, (now - GRACE).timestamp_millis()).await
}

/// Returns whether all columns that ever named files are `columns`, which are noted. The files of a type that was not linked by
/// mistake are not to be removed.
async fn are_all_known(node: &Node, columns: &[BlobColumn]) -> Result<bool> {
    let (unknown, is_noted) = read(node, |cx| {
        let columns = columns.to_vec();
        Box::pin(async move { blobs::unknown(cx, &columns).await })
    })
    .await?;
    if !is_noted {
        write(node, |cx| {
            let columns = columns.to_vec();
            Box::pin(async move { blobs::note_columns(cx, &columns).await })
        })
        .await?;
    }
    if !unknown.is_empty() {
        tracing::warn!(
            columns = unknown.join(", "),
            "no file is removed: these columns name files, and their types are not linked; if they are gone for good, \
             delete their rows from `stored_file_column`"
        );
    }
    Ok(unknown.is_empty())
}

/// Notes which of the next files no row names. Returns the last one; after the end, the sweep begins anew.
async fn mark(node: &Node, columns: &[BlobColumn], after: String) -> Result<String> {
    let (looked, free) = read(node, |cx| {
        let (columns, after) = (columns.to_vec(), after.clone());
        Box::pin(async move {
            let looked = blobs::named(cx, &after, LOOK).await?;
            let free = blobs::unnamed(cx, &columns, looked.clone()).await?;
            Ok((looked, free))
        })
    })
    .await?;
    if !free.is_empty() {
        write(node, |cx| {
            let free = free.clone();
            Box::pin(async move { blobs::mark(cx, &free).await })
        })
        .await?;
    }
    Ok(looked.last().cloned().unwrap_or_default())
}

/// Notes files of the store that nobody noted, some at a time.
async fn adopt(node: &Node, after: Option<Blob>) -> Result<Option<Blob>> {
    let store = node.dispatcher.shared().blobs()?;
    let grace = GRACE.to_std().unwrap_or_default();
    let most = usize::try_from(LOOK).unwrap_or(1);
    let stored = store.store().list(after.as_ref(), most, grace).await?;
    if stored.is_empty() {
        return Ok(None);
    }
    let columns: Vec<String> = stored.iter().map(Blob::to_column).collect();
    let strays = read(node, |cx| {
        let columns = columns.clone();
        Box::pin(async move { blobs::strays(cx, columns).await })
    })
    .await?;
    if !strays.is_empty() {
        write(node, |cx| {
            let strays = strays.clone();
            Box::pin(async move { blobs::adopt(cx, &strays).await })
        })
        .await?;
    }
    Ok(stored.last().copied())
}

async fn remove(node: &Node, columns: &[BlobColumn], before: i64) -> Result<()> {
    loop {
        let over = read(node, |cx| {
            Box::pin(async move { blobs::over(cx, before, REMOVE).await })
        })
        .await?;
        if over.is_empty() {
            return Ok(());
        }
        write(node, |cx| {
            let (columns, over) = (columns.to_vec(), over.clone());
            Box::pin(async move { blobs::remove(cx, &columns, &over, before).await.map(drop) })
        })
        .await?;
        tokio::time::sleep(background::PAUSE).await;
    }
}

/// Removes attached files that were sent before `before` and that nothing names.
async fn end_loose(node: &Node, before: i64) -> Result<()> {
    let (gone, old, named) = read(node, |cx| {
        Box::pin(async move {
            let registry = cx.service::<Registry>()?;
            let gone = uses::stale(cx, &registry, REMOVE).await?;
            let mut old = loose::find(cx, Loose::Before(before), LOOK).await?;
            let named = match old.is_empty() {
                true => Vec::new(),
                false => loose::named_somewhere(cx, &registry, &old).await?,
            };
            old.retain(|it| !named.contains(it));
            Ok((gone, old, named))
        })
    })
    .await?;
    if gone.is_empty() && old.is_empty() && named.is_empty() {
        return Ok(());
    }
    write(node, |cx| {
        let (gone, old, named) = (gone.clone(), old.clone(), named.clone());
        Box::pin(async move {
            uses::forget(cx, &gone).await?;
            uses::keep(cx, &named).await?;
            loose::remove(cx, &old).await
        })
    })
    .await
}

async fn read<T: Send>(
    node: &Node,
    work: impl for<'a> FnOnce(&'a Context) -> BoxFuture<'a, Result<T>>,
) -> Result<T> {
    node.dispatcher.read(&background::origin(), work).await
}

async fn write<W>(node: &Node, work: W) -> Result<()>
where
    W: for<'a> Fn(&'a Context) -> BoxFuture<'a, Result<()>> + Send + Sync,
{
    background::write(node, &background::origin(), work).await
}

//! The results that are kept for an `Idempotency-Key`: for how long, and how those are removed that no longer count.

use chrono::{DateTime, Utc};
use entity_core::{Context, Result};
use sea_orm::sea_query::{Alias, Expr, ExprTrait as _, Query};
use sea_orm::{ConnectionTrait as _, Statement};

use crate::base::config::RetentionSettings;

/// The table of results.
pub(crate) const TABLE: &str = "idempotency_key";

/// Most results that one step of a sweep removes, so that it never keeps writers waiting.
pub(crate) const SWEEP: u64 = 500;

/// Removes some of the results that have expired at `now`, and of those that are more than `most` bytes altogether;
/// returns their number.
pub(crate) async fn sweep(cx: &Context, now: DateTime<Utc>, most: usize) -> Result<u64> {
    let beyond = oldest_that_fits(cx, most).await?;
    let over = oldest(cx, now)?;
    let last = beyond.map_or(over, |it| Ord::max(it, over));
    let old = Query::select()
        .columns(["user_id", "key"].map(Alias::new))
        .from(Alias::new(TABLE))
        .and_where(Expr::col(Alias::new("created")).lte(last))
        .limit(SWEEP)
        .take();
    let pair = Expr::tuple(["user_id", "key"].map(|it| Expr::col(Alias::new(it))));
    let mut statement = Query::delete();
    statement
        .from_table(Alias::new(TABLE))
        .and_where(pair.in_subquery(old));
    Ok(cx.db()?.execute(&statement).await?.rows_affected())
}

/// The time when the newest result was made that has no room if the results behind it take `most` bytes.
async fn oldest_that_fits(cx: &Context, most: usize) -> Result<Option<i64>> {
    let sql = format!(
        "SELECT MAX(created) AS created FROM
            (SELECT created, SUM(bytes) OVER (ORDER BY created DESC) AS total FROM {TABLE}) AS kept
            WHERE total > {most}"
    );
    let db = cx.db()?;
    let statement = Statement::from_string(db.get_database_backend(), sql);
    let row = db.query_one_raw(statement).await?;
    Ok(row
        .map(|it| it.try_get("", "created"))
        .transpose()?
        .flatten())
}

/// The time, in milliseconds, before which nothing that was kept counts any more.
pub(crate) fn oldest(cx: &Context, now: DateTime<Utc>) -> Result<i64> {
    let keeps = cx.service::<RetentionSettings>()?.idempotency.as_millis();
    let keeps = i64::try_from(keeps).unwrap_or(i64::MAX);
    Ok(now.timestamp_millis().saturating_sub(keeps))
}

//! The figures of sites in their table: the number of events by day and kind.

use std::collections::BTreeMap;

use chrono::{Days, NaiveDate};
use entity_core::db::{ExpiringTable, Row};
use entity_core::engine::Event;
use entity_core::{Context, DateTimeUtc, Result};
use sea_orm::ConnectionTrait as _;

/// The number of days whose figures are kept.
const KEPT: u64 = 5 * 366;
const FIGURES: ExpiringTable = ExpiringTable {
    table: "site_activity",
    key: "site_id, day, kind",
    column: "day",
};

/// The kinds of events that are not counted, because their number is what is to stay unknown: how many have voted in a
/// poll whose result is not shown.
const UNCOUNTED: [&str; 1] = ["poll.vote"];

/// Returns the numbers of events of `site` by day and kind.
pub(super) async fn counted(
    cx: &Context,
    site: &str,
    from: NaiveDate,
    to: NaiveDate,
) -> Result<BTreeMap<String, BTreeMap<String, i64>>> {
    let db = cx.db()?;
    let mut sql = db.sql("SELECT day, kind, events FROM site_activity WHERE site_id = ");
    sql.bind(site).push(" AND day >= ").bind(from.to_string());
    sql.push(" AND day <= ").bind(to.to_string());
    let read = |row: &mut Row<'_>| Ok((row.take()?, row.take()?, row.take()?));
    let mut days: BTreeMap<String, BTreeMap<String, i64>> = BTreeMap::new();
    let rows: Vec<(String, String, i64)> = db.rows(sql.into_statement(), read).await?;
    for (day, kind, events) in rows {
        if !UNCOUNTED.contains(&kind.as_str()) {
            days.entry(day).or_default().insert(kind, events);
        }
    }
    Ok(days)
}

/// Adds `events` to the figures of their sites and days. Those of sites that are gone are left out.
pub async fn count<'a>(cx: &Context, events: impl Iterator<Item = &'a Event>) -> Result<()> {
    let mut added: BTreeMap<(&str, String, &str), i64> = BTreeMap::new();
    for event in events {
        if let Some(site) = &event.site
            && !UNCOUNTED.contains(&event.kind.as_str())
        {
            let day = event.time.date_naive().to_string();
            *added.entry((site, day, &event.kind)).or_default() += 1;
        }
    }
    let db = cx.db()?;
    for ((site, day, kind), events) in added {
        let mut sql =
            db.sql("INSERT INTO site_activity (site_id, day, kind, events) SELECT s.id, ");
        sql.bind(day).push(", ").bind(kind).push(", ").bind(events);
        sql.push(" FROM site s WHERE s.id = ").bind(site).push(
            " ON CONFLICT (site_id, day, kind) \
             DO UPDATE SET events = site_activity.events + excluded.events",
        );
        db.execute_raw(sql.into_statement()).await?;
    }
    Ok(())
}

/// Removes the figures of days that are over five years ago, at most `most` rows at once, and returns how many those are.
pub async fn sweep(cx: &Context, now: DateTimeUtc, most: u64) -> Result<u64> {
    match now.date_naive().checked_sub_days(Days::new(KEPT)) {
        Some(end) => FIGURES.sweep(cx, end.to_string(), most).await,
        None => Ok(0),
    }
}

//! The visits to sites as the table keeps them, together with those that this node knows of.

use std::collections::HashMap;

use chrono::DateTime;
use entity_core::db::{self, ExpiringTable, Row};
use entity_core::engine::{PresenceTracker, Visit};
use entity_core::{Context, DateTimeUtc, Result};
use sea_orm::ConnectionTrait as _;

const VISITS: ExpiringTable = ExpiringTable {
    table: "presence",
    key: "site_id, user_id",
    column: "seen",
};

/// Returns those who visit `site` and have a session, each with the minute of the last visit in milliseconds.
pub(super) async fn visits(cx: &Context, site: &str) -> Result<HashMap<String, i64>> {
    let db = cx.db()?;
    let mut sql = db.sql("SELECT user_id, seen FROM presence WHERE site_id = ");
    sql.bind(site).push(" AND seen > ");
    sql.bind(PresenceTracker::since(cx.now()).timestamp_millis());
    let read = |row: &mut Row<'_>| Ok((row.take::<String>()?, row.take::<i64>()?));
    let stored = db.rows(sql.into_statement(), read).await?;
    let noted = cx.service::<PresenceTracker>()?.of_site(site, cx.now());
    let noted = noted
        .into_iter()
        .map(|(user, seen)| (user, seen.timestamp_millis()));
    let mut visits: HashMap<String, i64> = HashMap::new();
    for (user, seen) in stored.into_iter().chain(noted) {
        let latest = visits.entry(user).or_default();
        *latest = seen.max(*latest);
    }
    let users: Vec<&str> = visits.keys().map(String::as_str).collect();
    let mut sql = db.sql("SELECT DISTINCT user_id FROM session WHERE user_id");
    sql.bind_list(&users)?;
    let with_session = db.rows(sql.into_statement(), db::columns::<String>).await?;
    let present = with_session.into_iter().filter_map(|user| {
        let seen = DateTime::from_timestamp_millis(visits.remove(&user)?)?;
        Some((user, seen.timestamp() / 60 * 60_000))
    });
    Ok(present.collect())
}

/// Keeps these visits where other nodes find them, by one statement. Those of sites and accounts that are gone are left out.
pub async fn keep(cx: &Context, visits: &[Visit]) -> Result<()> {
    if visits.is_empty() {
        return Ok(());
    }
    let db = cx.db()?;
    let mut sql = db.sql(
        "INSERT INTO presence (site_id, user_id, seen) SELECT s.id, u.id, v.column3 FROM (VALUES ",
    );
    for (number, visit) in visits.iter().enumerate() {
        sql.push(if number == 0 { "(" } else { ", (" });
        sql.bind(visit.site.as_str()).push(", ");
        sql.bind(visit.user.as_str()).push(", ");
        sql.bind(visit.seen.timestamp_millis()).push(")");
    }
    // The order in which rows are locked is the same on all nodes.
    sql.push(
        ") AS v JOIN site s ON s.id = v.column1 JOIN user_account u ON u.id = v.column2 \
         WHERE TRUE ORDER BY s.id, u.id ON CONFLICT (site_id, user_id) \
         DO UPDATE SET seen = excluded.seen WHERE presence.seen < excluded.seen",
    );
    db.execute_raw(sql.into_statement()).await?;
    Ok(())
}

/// Removes visits that are over, at most `most` at once, and returns how many those are.
pub async fn sweep(cx: &Context, now: DateTimeUtc, most: u64) -> Result<u64> {
    let end = PresenceTracker::since(now).timestamp_millis();
    VISITS.sweep(cx, end, most).await
}

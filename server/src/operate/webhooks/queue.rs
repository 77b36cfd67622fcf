//! The queue of deliveries in the database: the webhooks that have some, the lease of their sender, and the results.
//!
//! A webhook is leased for a minute, which is longer than an attempt takes. The holder of the lease sends, and writes
//! down results only as long as the lease lasts.

use chrono::{DateTime, TimeDelta};
use entity_core::db::{self, Row};
use entity_core::engine::Event;
use entity_core::{Context, DateTimeUtc, Result};
use entity_providers::face::webhook::{DEAD, DELIVERED, PENDING};
use sea_orm::ConnectionTrait as _;
use serde_json::Map;

/// The time that a webhook is leased: longer than an attempt and what is written of it take.
const LEASE: TimeDelta = TimeDelta::seconds(60);
/// The maximum number of webhooks that are looked at for one that can be served.
const LOOK: i64 = 64;

/// A webhook that is leased.
#[derive(Clone, Debug)]
pub(super) struct Lease {
    pub(super) webhook: String,
    pub(super) host: String,
    /// The name of the lease, once there is one.
    pub(super) name: String,
}

/// A delivery that is due, and where it is sent.
pub(super) struct Due {
    pub(super) id: String,
    /// The number of attempts before.
    pub(super) attempts: i64,
    pub(super) event: (i64, Event),
    pub(super) url: String,
    pub(super) key: Option<String>,
    /// The internal and the external id of the owner, unless the account is shut.
    pub(super) owner: Option<(String, String)>,
}

/// The result of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) status: Option<u16>,
    pub(super) error: Option<&'static str>,
    pub(super) next: Next,
}

/// The next step of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// It is delivered.
    Delivered,
    /// It is sent again then.
    Again(DateTimeUtc),
    /// It is given up.
    Dead,
    /// It is given up, and its webhook is switched off.
    Gone,
}

/// Returns webhooks that have something to send and that nobody serves, those first that were last served the longest
/// time ago; none of `hosts`.
pub(super) async fn waiting(cx: &Context, hosts: &[String]) -> Result<Vec<Lease>> {
    let now = cx.now().timestamp_millis();
    let db = cx.db()?;
    let mut sql = db.sql(
        "SELECT w.id, w.host FROM webhook_turn t JOIN webhook w ON w.id = t.webhook_id \
         WHERE w.active AND t.due <= ",
    );
    sql.bind(now).push(" AND t.leased_until <= ").bind(now);
    for host in hosts {
        sql.push(" AND w.host <> ").bind(host.as_str());
    }
    sql.push(" ORDER BY t.served, t.webhook_id LIMIT ")
        .bind(LOOK);
    let read = |row: &mut Row<'_>| {
        Ok(Lease {
            webhook: row.take()?,
            host: row.take()?,
            name: String::new(),
        })
    };
    db.rows(sql.into_statement(), read).await
}

/// Returns whether an active webhook has something to send, whether it is served or not.
pub(super) async fn is_due(cx: &Context) -> Result<bool> {
    let db = cx.db()?;
    let mut sql = db.sql(
        "SELECT 1 FROM webhook_turn t JOIN webhook w ON w.id = t.webhook_id WHERE w.active AND t.due <= ",
    );
    sql.bind(cx.now().timestamp_millis()).push(" LIMIT 1");
    Ok(!db
        .rows(sql.into_statement(), db::columns::<i32>)
        .await?
        .is_empty())
}

/// Leases the webhook, and returns the name of the lease unless another sender was faster.
pub(super) async fn lease(cx: &Context, webhook: &str) -> Result<Option<String>> {
    let now = cx.now().timestamp_millis();
    let lease = cx.new_id();
    let db = cx.db()?;
    let mut sql = db.sql("UPDATE webhook_turn SET lease = ");
    sql.bind(lease.as_str()).push(", leased_until = ");
    sql.bind((cx.now() + LEASE).timestamp_millis())
        .push(" WHERE webhook_id = ")
        .bind(webhook);
    sql.push(" AND due <= ").bind(now);
    sql.push(" AND leased_until <= ").bind(now);
    let done = db.execute_raw(sql.into_statement()).await?;
    Ok((done.rows_affected() > 0).then_some(lease))
}

/// Keeps the lease for another while, and holds the row until the unit of work ends; returns whether it is still ours.
async fn keep(cx: &Context, turn: &Lease) -> Result<bool> {
    let db = cx.db()?;
    let mut sql = db.sql("UPDATE webhook_turn SET leased_until = ");
    sql.bind((cx.now() + LEASE).timestamp_millis())
        .push(" WHERE webhook_id = ")
        .bind(turn.webhook.as_str());
    sql.push(" AND lease = ").bind(turn.name.as_str());
    let done = db.execute_raw(sql.into_statement()).await?;
    Ok(done.rows_affected() > 0)
}

/// Returns the first delivery of the webhook that is due, if the webhook is active.
pub(super) async fn next(cx: &Context, webhook: &str) -> Result<Option<Due>> {
    let db = cx.db()?;
    let mut sql = db.sql(
        "SELECT d.id, d.attempts, d.sequence, d.kind, d.about, d.site_id, d.time, w.url, w.key, u.id, u.eid \
         FROM webhook_delivery d JOIN webhook w ON w.id = d.webhook_id \
         LEFT JOIN user_account u ON u.id = w.owner AND NOT u.is_disabled \
         WHERE w.active AND d.webhook_id = ",
    );
    sql.bind(webhook).push(" AND d.state = ").bind(PENDING);
    sql.push(" AND d.next_attempt <= ")
        .bind(cx.now().timestamp_millis());
    sql.push(" ORDER BY d.sequence, d.id LIMIT 1");
    let read = |row: &mut Row<'_>| {
        let (id, attempts, sequence) = (row.take()?, row.take()?, row.take()?);
        let event = Event {
            kind: row.take()?,
            reference: row.take()?,
            actor: None,
            site: Some(row.take()?),
            time: DateTime::from_timestamp_millis(row.take()?).unwrap_or_default(),
            details: Map::new(),
        };
        let (url, key) = (row.take()?, row.take()?);
        let owner: (Option<String>, Option<String>) = (row.take()?, row.take()?);
        Ok(Due {
            id,
            attempts,
            event: (sequence, event),
            url,
            key,
            owner: owner.0.zip(owner.1),
        })
    };
    Ok(db.rows(sql.into_statement(), read).await?.pop())
}

/// Records the result of the delivery `id`, and returns whether the lease is still ours.
pub(super) async fn record(
    cx: &Context,
    turn: &Lease,
    id: &str,
    outcome: &Outcome,
) -> Result<bool> {
    if !keep(cx, turn).await? {
        return Ok(false);
    }
    let (state, next, delivered) = match outcome.next {
        Next::Delivered => (DELIVERED, None, Some(cx.now())),
        Next::Again(at) => (PENDING, Some(at), None),
        Next::Dead | Next::Gone => (DEAD, None, None),
    };
    let millis = |it: Option<DateTimeUtc>| it.map(|it| it.timestamp_millis());
    let db = cx.db()?;
    let mut sql = db.sql("UPDATE webhook_delivery SET attempts = attempts + 1, state = ");
    sql.bind(state)
        .push(", next_attempt = ")
        .bind(millis(next))
        .push(", delivered = ")
        .bind(millis(delivered))
        .push(", last_status = ")
        .bind(outcome.status.map(i64::from))
        .push(", last_error = ")
        .bind(outcome.error.map(ToOwned::to_owned))
        .push(" WHERE id = ")
        .bind(id)
        .push(" AND state = ")
        .bind(PENDING);
    db.execute_raw(sql.into_statement()).await?;
    if outcome.next == Next::Gone {
        let mut sql =
            db.sql("UPDATE webhook SET active = FALSE, version = version + 1, updated = ");
        sql.bind(cx.now().timestamp_millis())
            .push(" WHERE active AND id = ")
            .bind(turn.webhook.as_str());
        db.execute_raw(sql.into_statement()).await?;
    }
    Ok(true)
}

/// Ends the lease, and notes when the webhook has something to send next.
pub(super) async fn release(cx: &Context, turn: &Lease) -> Result<()> {
    // Whoever adds a delivery waits for this row, or is waited for: so the next statement sees it.
    if !keep(cx, turn).await? {
        return Ok(());
    }
    let db = cx.db()?;
    let mut sql = db.sql("SELECT min(next_attempt) FROM webhook_delivery WHERE webhook_id = ");
    sql.bind(turn.webhook.as_str())
        .push(" AND state = ")
        .bind(PENDING);
    let next = db
        .rows(sql.into_statement(), db::columns::<Option<i64>>)
        .await?;
    let mut sql = match next.into_iter().flatten().next() {
        None => db.sql("DELETE FROM webhook_turn WHERE webhook_id = "),
        Some(next) => {
            let mut sql = db.sql("UPDATE webhook_turn SET leased_until = 0, lease = '', due = ");
            sql.bind(next)
                .push(", served = ")
                .bind(cx.now().timestamp_millis())
                .push(" WHERE webhook_id = ");
            sql
        }
    };
    sql.bind(turn.webhook.as_str());
    db.execute_raw(sql.into_statement()).await?;
    Ok(())
}

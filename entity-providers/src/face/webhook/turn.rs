//! The webhooks that have something to send, and the removal of old deliveries.

use chrono::TimeDelta;
use entity_core::db::{ExpiringTable, Migration};
use entity_core::{Context, DateTimeUtc, Result};
use sea_orm::ConnectionTrait as _;

/// The time for which deliveries are kept.
const KEPT: TimeDelta = TimeDelta::days(30);
const DELIVERIES: ExpiringTable = ExpiringTable {
    table: "webhook_delivery",
    key: "id",
    column: "created",
};

/// The webhooks that have something to send, and which part of the service sends it until when.
pub(super) const TURNS: Migration = Migration::of_tables(
    "webhook_turn",
    &[
        "CREATE TABLE webhook_turn (
            webhook_id TEXT NOT NULL PRIMARY KEY REFERENCES webhook (id) ON DELETE CASCADE,
            due BIGINT NOT NULL,
            served BIGINT NOT NULL,
            leased_until BIGINT NOT NULL,
            lease TEXT NOT NULL
        )",
        "CREATE INDEX webhook_turn_by_use ON webhook_turn (served, webhook_id)",
    ],
);
/// Notes that the webhook has something to send now.
pub async fn take_turn(cx: &Context, webhook: &str) -> Result<()> {
    let db = cx.db()?;
    let mut sql =
        db.sql("INSERT INTO webhook_turn (webhook_id, due, served, leased_until, lease) VALUES (");
    sql.bind(webhook).push(", ");
    sql.bind(cx.now().timestamp_millis())
        .push(", 0, 0, '') ON CONFLICT (webhook_id) DO UPDATE SET due = excluded.due");
    db.execute_raw(sql.into_statement()).await?;
    Ok(())
}

/// Removes deliveries that were made over 30 days ago, at most `most` at once, and returns how many those are.
pub async fn sweep(cx: &Context, now: DateTimeUtc, most: u64) -> Result<u64> {
    let end = (now - KEPT).timestamp_millis();
    DELIVERIES.sweep(cx, end, most).await
}

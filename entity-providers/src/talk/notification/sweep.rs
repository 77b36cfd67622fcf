//! Removing old notifications.

use chrono::TimeDelta;
use entity_core::db::ExpiringTable;
use entity_core::{Context, DateTimeUtc, Result};

/// The time for which notifications are kept.
const KEPT: TimeDelta = TimeDelta::days(180);
const NOTIFICATIONS: ExpiringTable = ExpiringTable {
    table: "notification",
    key: "notification_id",
    column: "event_date",
};

/// Removes notifications of events that are over half a year old, at most `most` at once, and returns how many those
/// are.
pub async fn sweep(cx: &Context, now: DateTimeUtc, most: u64) -> Result<u64> {
    let end = (now - KEPT).timestamp_millis();
    NOTIFICATIONS.sweep(cx, end, most).await
}

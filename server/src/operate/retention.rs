//! Retention of rows that nobody deletes: expired sessions, audit rows, events, stored responses of idempotency keys,
//! failures to log in. Expired rows are removed a thousand at a time, with pauses, so that no other writer waits for
//! long. Attempts at quizzes that have ended by themselves are handed in.

mod ended;

use std::time::Duration;

use chrono::{DateTime, Utc};
use entity_core::db::{Faults, Transaction};
use entity_core::{Context, Result};
use entity_providers::people::membership::presence;
use entity_providers::people::site::activity;
use entity_providers::{
    face::webhook,
    people::{invitation, session_event},
    talk::notification,
};
use futures::future::BoxFuture;
use sea_orm::{ConnectionTrait as _, DatabaseConnection};

use crate::base::system::STEP;
use crate::operate::background::{PAUSE, origin, write};
use crate::operate::files;
use crate::operate::follower::{self, Activity, Notifications};
use crate::operate::idempotency;
use crate::operate::journal::OUTBOX;
use crate::operate::node::Node;
use crate::operate::webhooks::Deliveries;

/// Most rows that are removed in one transaction.
const ROWS: u64 = 1_000;

/// Removes rows that are over at an instant, at most so many at once, and returns how many those are.
type Sweep = for<'a> fn(&'a Context, DateTime<Utc>, u64) -> BoxFuture<'a, Result<u64>>;

/// The sweeps of types by the age of their rows.
const SWEEPS: [Sweep; 5] = [
    |cx, now, most| Box::pin(notification::sweep(cx, now, most)),
    |cx, now, most| Box::pin(webhook::sweep(cx, now, most)),
    |cx, now, most| Box::pin(session_event::sweep(cx, now, most)),
    |cx, now, most| Box::pin(presence::sweep(cx, now, most)),
    |cx, now, most| Box::pin(activity::sweep(cx, now, most)),
];

/// Removes everything that is over.
pub(crate) async fn sweep(node: &Node) -> Result<()> {
    let now = node.aged();
    while node.sessions().sweep(now).await? > 0 {
        tokio::time::sleep(PAUSE).await;
    }
    // What a follower has merely not looked at yet keeps nothing.
    let followed = follower::catch_up::<Notifications>(node).await;
    let followed = followed.and(follower::catch_up::<Deliveries>(node).await);
    let followed = followed.and(follower::catch_up::<Activity>(node).await);
    let config = &node.config;
    let audit = Log {
        table: "audit",
        keeps: config.retention.audit,
        most: config.retention.audit_rows,
        end: None,
    };
    let outbox = Log {
        table: OUTBOX,
        keeps: config.retention.outbox,
        most: config.retention.outbox_rows,
        end: Some(follower::first_needed(node).await?),
    };
    let content = &node.storage.content;
    let reads = &node.storage.audit_of_reads;
    outbox.sweep(now, &content.writer, &content.faults).await?;
    audit.sweep(now, &content.writer, &content.faults).await?;
    audit.sweep(now, reads.db(), reads.faults()).await?;
    let throttle = node.throttle;
    in_steps(node, move |cx| {
        Box::pin(async move { throttle.sweep(cx, now).await })
    })
    .await?;
    let most = config.retention.idempotency_bytes.0;
    in_steps(node, move |cx| Box::pin(invitation::sweep(cx, now))).await?;
    for sweep in SWEEPS {
        in_steps(node, move |cx| sweep(cx, now, idempotency::SWEEP)).await?;
    }
    in_steps(node, move |cx| Box::pin(idempotency::sweep(cx, now, most))).await?;
    // What fails keeps nothing behind it from being done.
    let files = files::sweep::sweep(node, now).await;
    let collected = ended::collect(node, now).await;
    let shrunk = node.storage.shrink().await;
    followed.and(files).and(collected).and(shrunk)
}

/// A table to which rows are only added, counted up by the column `sequence`.
struct Log {
    table: &'static str,
    /// The time for which rows are kept.
    keeps: Duration,
    /// The maximum number of rows that are kept.
    most: usize,
    /// The first row that is kept, unless there are twice as many rows as are kept at most.
    end: Option<i64>,
}

impl Log {
    async fn sweep(
        &self,
        now: DateTime<Utc>,
        db: &DatabaseConnection,
        faults: &Faults,
    ) -> Result<()> {
        let sql = self.statement(now);
        loop {
            let transaction = Transaction::begin(db, faults).await?;
            let done = transaction.execute_unprepared(&sql).await?;
            transaction.commit().await?;
            if done.rows_affected() == 0 {
                return Ok(());
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Removes the first rows, as many of them as are over and at most a step.
    ///
    /// Rows come in one after the other, whatever the clock told. So one that seems to be over stays as long as one
    /// before it does, and one whose time is yet to come goes with the next one that is over.
    fn statement(&self, now: DateTime<Utc>) -> String {
        let keeps = i64::try_from(self.keeps.as_millis()).unwrap_or(i64::MAX);
        let cutoff = now.timestamp_millis().saturating_sub(keeps);
        let present = (now + STEP).timestamp_millis();
        let table = self.table;
        let end = self.end.unwrap_or(i64::MAX);
        let first =
            format!("(SELECT sequence, time FROM {table} ORDER BY sequence LIMIT {ROWS}) AS first");
        // All of these are numbers of ours.
        format!(
            "DELETE FROM {table} WHERE sequence IN (SELECT sequence FROM {first})
                AND (sequence < {end} OR sequence <= (SELECT MAX(sequence) FROM {table}) - {})
                AND (sequence <= (SELECT MAX(sequence) FROM {table}) - {}
                    OR sequence <= (SELECT MAX(sequence) FROM {first} WHERE time < {cutoff})
                    AND sequence < COALESCE((SELECT MIN(sequence) FROM {first}
                        WHERE time BETWEEN {cutoff} AND {present}), {}))",
            self.most.saturating_mul(2),
            self.most,
            i64::MAX
        )
    }
}

/// Runs `work`, which answers how many rows it has removed, until it finds less than it could remove at once.
async fn in_steps<W>(node: &Node, work: W) -> Result<()>
where
    W: for<'a> Fn(&'a Context) -> BoxFuture<'a, Result<u64>> + Send + Sync,
{
    loop {
        if write(node, &origin(), &work).await? < idempotency::SWEEP {
            return Ok(());
        }
        tokio::time::sleep(PAUSE).await;
    }
}

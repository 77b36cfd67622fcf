//! How long things are kept that nobody deletes: sessions that expired, audit rows, events, results of requests that may be repeated, failures
//! to log in. What is over is removed a thousand rows at a time, with pauses, so that nobody else who writes waits for
//! long.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use entity_core::db::{Faults, Transaction};
use entity_core::{Audit, Caller, Context, Origin, Result};
use entity_providers::invitation;
use futures::future::BoxFuture;
use sea_orm::{ConnectionTrait as _, DatabaseConnection};

use crate::app::App;
use crate::direct::idempotency;
use crate::journal::OUTBOX;

/// Most rows that are removed in one transaction.
const STEP: u64 = 1_000;
/// How long others have the database to themselves between two steps.
const PAUSE: Duration = Duration::from_millis(20);

/// Removes everything that is over.
///
/// # Errors
/// A database can't be written.
pub(crate) async fn sweep(app: &App) -> Result<()> {
    while app.sessions().sweep().await? > 0 {
        tokio::time::sleep(PAUSE).await;
    }
    let config = &app.config;
    let audit = Log {
        table: "audit",
        keeps: config.retention_audit,
        most: config.retention_audit_rows,
        end: None,
    };
    let outbox = Log {
        table: OUTBOX,
        keeps: config.retention_outbox,
        most: config.retention_outbox_rows,
        end: position_of_slowest_follower(),
    };
    let content = &app.storage.content;
    let reads = &app.storage.audit_of_reads;
    outbox.sweep(app, &content.writer, &content.faults).await?;
    audit.sweep(app, &content.writer, &content.faults).await?;
    audit.sweep(app, reads.db(), reads.faults()).await?;
    let throttle = app.throttle;
    in_steps(app, move |cx| {
        Box::pin(async move { throttle.sweep(cx).await })
    })
    .await?;
    let most = config.retention_idempotency_bytes.0;
    in_steps(app, |cx| Box::pin(invitation::sweep(cx))).await?;
    in_steps(app, move |cx| Box::pin(idempotency::sweep(cx, most))).await?;
    app.storage.shrink().await
}

/// The place in the outbox up to which every follower has read; events behind it are kept for as long as it takes.
/// `None` without followers. There are none yet: whoever adds one that is behind for a while answers its position here.
fn position_of_slowest_follower() -> Option<i64> {
    None
}

/// A table to which rows are only added, counted up by the column `sequence`.
struct Log {
    table: &'static str,
    /// How long rows are kept.
    keeps: Duration,
    /// Most rows that are kept.
    most: usize,
    /// The first row that is kept in any case.
    end: Option<i64>,
}

impl Log {
    async fn sweep(&self, app: &App, db: &DatabaseConnection, faults: &Faults) -> Result<()> {
        let keeps = i64::try_from(self.keeps.as_millis()).unwrap_or(i64::MAX);
        let cutoff = app.now().timestamp_millis().saturating_sub(keeps);
        let table = self.table;
        let end = self.end.unwrap_or(i64::MAX);
        // All of these are numbers of ours.
        let sql = format!(
            "DELETE FROM {table} WHERE sequence IN (SELECT sequence FROM {table} ORDER BY sequence LIMIT {STEP})
                AND sequence < {end}
                AND (time < {cutoff} OR sequence <= (SELECT MAX(sequence) FROM {table}) - {})",
            self.most
        );
        loop {
            let transaction = Transaction::begin(db, faults).await?;
            let done = transaction.execute_unprepared(&sql).await?;
            transaction.commit().await?;
            // A clock that was set back leaves younger rows before older ones, so that fewer than a step may go.
            if done.rows_affected() == 0 {
                return Ok(());
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Runs `work`, which answers how many rows it has removed, until it finds less than it could remove at once.
async fn in_steps<W>(app: &App, work: W) -> Result<()>
where
    W: for<'a> Fn(&'a Context) -> BoxFuture<'a, Result<u64>> + Send + Sync,
{
    let origin = Origin {
        caller: Caller::anonymous(),
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        request_id: "janitor".into(),
        method: "SWEEP".into(),
        path: "/".into(),
    };
    loop {
        let step = app.dispatcher.write(&origin, |cx| {
            let removed = work(cx);
            // Nobody asked for this: the audit log has nothing to tell.
            Box::pin(async move { Ok((removed.await?, Audit::Later)) })
        });
        if step.await? < idempotency::SWEEP {
            return Ok(());
        }
        tokio::time::sleep(PAUSE).await;
    }
}

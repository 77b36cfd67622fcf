//! The audit log: one row for each request.
//!
//! The row of a write is part of the write's own transaction. That of everything else goes through a
//! bounded queue and is stored in batches, on SQLite in a file of its own, so that reading costs no commit.

mod store;

use std::time::Duration;

use chrono::{DateTime, Utc};
use entity_core::{Error, Origin, Result};
use http::StatusCode;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

pub use store::AuditStore;

/// How long rows are collected before they are stored.
const DELAY: Duration = Duration::from_millis(200);

/// How much the log holds back.
#[derive(Clone, Copy, Debug)]
pub struct AuditOptions {
    /// Most rows that wait to be stored.
    pub queue: usize,
    /// Most rows that are stored at once.
    pub batch: usize,
    /// How long a request waits for room in the queue before it is refused.
    pub wait: Duration,
}

/// What the log says about one request.
#[derive(Clone, Debug)]
pub struct AuditRow {
    /// When the request came in.
    pub time: DateTime<Utc>,
    /// Who sent it, and how it came in.
    pub origin: Origin,
    /// The status of the answer.
    pub status: u16,
}

impl AuditRow {
    /// What there is to say about a request of `origin` that came in at `time`.
    pub fn of(origin: Origin, time: DateTime<Utc>, status: StatusCode) -> Self {
        Self {
            time,
            origin,
            status: status.as_u16(),
        }
    }
}

/// The queue of rows that wait to be stored.
#[derive(Clone, Debug)]
pub struct AuditLog {
    queue: mpsc::Sender<Message>,
    wait: Duration,
}

#[derive(Debug)]
enum Message {
    Row(AuditRow),
    Flush(oneshot::Sender<()>),
}

impl AuditLog {
    /// Starts the task that stores rows.
    pub fn start(store: AuditStore, options: AuditOptions) -> Self {
        let (queue, rows) = mpsc::channel(options.queue.max(1));
        tokio::spawn(write(rows, store, options.batch.max(1)));
        Self {
            queue,
            wait: options.wait,
        }
    }

    /// Adds a row. It never gets lost silently: when there is no room, the request is refused.
    ///
    /// # Errors
    /// The store has not kept up for too long.
    pub async fn record(&self, row: AuditRow) -> Result<()> {
        let Err(mpsc::error::TrySendError::Full(message)) = self.queue.try_send(Message::Row(row))
        else {
            return Ok(());
        };
        match timeout(self.wait, self.queue.send(message)).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(Error::unavailable(
                "the audit log can't keep up: try again",
                1,
            )),
        }
    }

    /// Waits until everything recorded so far is stored.
    pub async fn flush(&self) {
        let (done, waiting) = oneshot::channel();
        if self.queue.send(Message::Flush(done)).await.is_ok() {
            drop(waiting.await);
        }
    }
}

async fn write(mut queue: mpsc::Receiver<Message>, store: AuditStore, batch: usize) {
    let mut rows = Vec::with_capacity(batch);
    let mut waiting = Vec::new();
    while let Some(message) = queue.recv().await {
        accept(message, &mut rows, &mut waiting);
        // Who is behind does not wait for more: otherwise the delay would limit the rate of requests.
        if waiting.is_empty() && queue.len() < batch {
            tokio::time::sleep(DELAY).await;
        }
        while rows.len() < batch
            && let Ok(message) = queue.try_recv()
        {
            accept(message, &mut rows, &mut waiting);
        }
        store_all(&mut rows, &store).await;
        for done in waiting.drain(..) {
            // Whoever waited may have given up.
            let _ = done.send(());
        }
    }
}

fn accept(message: Message, rows: &mut Vec<AuditRow>, waiting: &mut Vec<oneshot::Sender<()>>) {
    match message {
        Message::Row(row) => rows.push(row),
        Message::Flush(done) => waiting.push(done),
    }
}

/// Stores the rows, however long it takes: until then the queue fills up and requests are refused.
async fn store_all(rows: &mut Vec<AuditRow>, store: &AuditStore) {
    let mut pause = Duration::from_millis(100);
    while let Err(error) = store.insert(rows).await {
        tracing::error!(
            error = crate::telemetry::cause(&error),
            rows = rows.len(),
            "can't store audit rows; trying again"
        );
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(5));
    }
    rows.clear();
}

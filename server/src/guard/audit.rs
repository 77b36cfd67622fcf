//! The audit log: one row for each request.
//!
//! The row of a write is part of the write's own transaction. That of everything else goes through a
//! bounded queue and is stored in batches, on SQLite in a file of its own, so that reading costs no commit.
//!
//! Requests that strangers send in vain are counted where there are too many of them: the column `times` tells for how many
//! requests a row stands, so that the sum over all rows is the number of requests.

mod reader;
mod store;
mod strangers;
mod writer;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use chrono::{DateTime, Utc};
use entity_core::engine::Origin;
use entity_core::{Error, Result};
use http::StatusCode;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::base::config::AuditSettings;
use crate::base::health::Health;
use crate::base::supervise;

pub(crate) use reader::{AuditEntry, AuditFilter, AuditReader};
pub use store::AuditStore;
use strangers::AnonymousAggregator;
use writer::Writer;

/// The maximum number of bytes of a method's name that are stored.
const METHOD: usize = 32;

/// A row of the log: one request, or several that are alike.
#[derive(Clone, Debug)]
pub struct AuditRow {
    /// The time when the request came in.
    pub time: DateTime<Utc>,
    /// The sender, and how it came in.
    pub origin: Origin,
    /// The status of the answer.
    pub status: u16,
    /// The number of requests it stands for.
    pub times: u64,
}

impl AuditRow {
    /// The row of a request of `origin` that came in at `time`. The name of the method, which a client
    /// may make as long as it likes, is cut; the path was when `origin` was made.
    pub fn of(mut origin: Origin, time: DateTime<Utc>, status: StatusCode) -> Self {
        if origin.method.len() > METHOD {
            origin.method = beginning(&origin.method, METHOD).to_owned().into();
        }
        Self {
            time,
            origin,
            status: status.as_u16(),
            times: 1,
        }
    }
}

/// The first characters of `text`, at most `limit` bytes.
fn beginning(text: &str, limit: usize) -> &str {
    let end = text.floor_char_boundary(limit);
    text.get(..end).unwrap_or_default()
}

/// The queue of rows that wait to be stored.
#[derive(Clone, Debug)]
pub struct AuditLog {
    queue: mpsc::Sender<Message>,
    wait: Duration,
    is_required: bool,
    /// The number of rows that were left out since the last row that reported it.
    lost: Arc<AtomicU64>,
    /// The requests of which nothing is stored yet.
    unstored: Arc<AtomicU64>,
    health: Health,
}

/// Tells that the log has no row of so many requests, and will not have one.
fn tell_gap(requests: u64) {
    if requests > 0 {
        tracing::error!(
            requests,
            "the audit log has a gap: the rows of so many requests could not be stored before the end"
        );
    }
}

/// Takes `number` off `count`, which never falls below 0: at the end it is set to that.
fn subtract(count: &AtomicU64, number: u64) {
    let less = |it: u64| Some(it.saturating_sub(number));
    let _ = count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
}

#[derive(Debug)]
enum Message {
    Row(AuditRow),
    Flush(oneshot::Sender<()>),
}

impl AuditLog {
    /// Starts the task that stores rows. What goes wrong is told to `health`.
    /// Requests that are only counted are told apart by `places`, where addresses of the service begin, such as
    /// `/direct/site`.
    pub fn start(
        store: AuditStore,
        settings: &AuditSettings,
        places: Vec<String>,
        health: Health,
    ) -> Self {
        let (queue, messages) = mpsc::channel(settings.queue_rows);
        let (lost, unstored) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let writer = Writer::new(
            messages,
            store,
            settings.batch_rows,
            AnonymousAggregator::new(settings.strangers, places),
            (Arc::clone(&lost), Arc::clone(&unstored)),
            health.clone(),
        );
        supervise::spawn(writer, health.clone());
        Self {
            queue,
            wait: settings.wait,
            is_required: settings.required,
            lost,
            unstored,
            health,
        }
    }

    /// Adds a row. It never gets lost silently: when there is no room, the request is refused or, where the log need
    /// not be complete, the row is counted.
    ///
    /// # Errors
    /// The store has not kept up for too long.
    pub async fn record(&self, row: AuditRow) -> Result<()> {
        use mpsc::error::TrySendError::{Closed, Full};
        // First, so that it is counted before it can be stored.
        self.unstored.fetch_add(row.times, Ordering::Relaxed);
        let times = row.times;
        let has_room = match self.queue.try_send(Message::Row(row)) {
            Ok(()) => true,
            // Nobody waits for a log that may have gaps.
            Err(Full(message)) if self.is_required => {
                let sent = timeout(self.wait, self.queue.send(message));
                matches!(Box::pin(sent).await, Ok(Ok(())))
            }
            Err(Full(_) | Closed(_)) => false,
        };
        if has_room {
            return Ok(());
        }
        self.health.note_unaudited(self.is_required);
        if !self.is_required {
            self.lost.fetch_add(times, Ordering::Relaxed);
            return Ok(());
        }
        subtract(&self.unstored, times);
        Err(Error::unavailable(
            "the audit log can't keep up: try again",
            1,
        ))
    }

    /// Returns the number of rows that wait to be stored.
    pub fn waiting(&self) -> i64 {
        let waiting = self.queue.max_capacity() - self.queue.capacity();
        i64::try_from(waiting).unwrap_or(i64::MAX)
    }

    /// Waits until everything recorded so far is stored.
    pub async fn flush(&self) {
        let (done, waiting) = oneshot::channel();
        if self.queue.send(Message::Flush(done)).await.is_ok() {
            drop(waiting.await);
        }
    }

    /// The same where it may be in vain: waits no longer than this, and then tells how many requests have no row, nor
    /// will have one.
    pub(crate) async fn flush_within(&self, patience: Duration) {
        if self.unstored.load(Ordering::Relaxed) > 0 {
            drop(timeout(patience, self.flush()).await);
        }
        tell_gap(self.unstored.swap(0, Ordering::Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::net::{IpAddr, Ipv4Addr};

    use entity_core::engine::ReadBudget;
    use entity_core::{Caller, ErrorKind};

    use super::*;
    use crate::base::config::Config;

    fn log(is_required: bool) -> (AuditLog, mpsc::Receiver<Message>) {
        let (queue, messages) = mpsc::channel(1);
        let log = AuditLog {
            queue,
            wait: Duration::from_millis(100),
            is_required,
            lost: Arc::default(),
            unstored: Arc::default(),
            health: Health::default(),
        };
        (log, messages)
    }

    fn row(path: &str, method: &str) -> AuditRow {
        let origin = Origin {
            caller: Caller::anonymous(),
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            request_id: "r".into(),
            method: Cow::Owned(method.to_owned()),
            path: path.into(),
            read_budget: ReadBudget::default(),
        };
        AuditRow::of(origin, DateTime::<Utc>::UNIX_EPOCH, StatusCode::OK)
    }

    #[tokio::test]
    async fn log_4_a_request_whose_row_finds_no_room_is_refused_whether_the_queue_is_full_or_gone()
    {
        let (log, messages) = log(true);
        log.record(row("/", "GET")).await.unwrap();
        for _ in 0..2 {
            let error = log.record(row("/", "GET")).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unavailable);
        }
        drop(messages);
        let error = log.record(row("/", "GET")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert_eq!(log.health.counters().audit_refused, 3);
    }

    #[tokio::test]
    async fn log_4_a_log_that_may_have_gaps_counts_them() {
        let (log, messages) = log(false);
        for _ in 0..3 {
            log.record(row("/", "GET")).await.unwrap();
        }
        drop(messages);
        log.record(row("/", "GET")).await.unwrap();
        assert_eq!(log.health.counters().audit_lost, 3);
        assert_eq!(log.lost.load(Ordering::Relaxed), 3);
    }

    /// A log whose database is gone.
    async fn log_without_a_database() -> AuditLog {
        let db = sea_orm::Database::connect("sqlite::memory:").await.unwrap();
        db.close_by_ref().await.unwrap();
        let store = AuditStore::new(db, entity_core::db::Faults::new(None));
        let settings = Config::with(&[("audit.queueRows", "100"), ("audit.batchRows", "10")]).audit;
        AuditLog::start(store, &settings, Vec::new(), Health::default())
    }

    #[tokio::test]
    async fn x6_what_cannot_be_stored_holds_no_stop_up_and_is_counted_as_a_gap() {
        let log = log_without_a_database().await;
        // There is nothing to store: the database is not asked, and nobody waits for it.
        log.flush().await;
        for _ in 0..15 {
            log.record(row("/", "GET")).await.unwrap();
        }
        assert_eq!(log.unstored.load(Ordering::Relaxed), 15);
        log.flush_within(Duration::from_millis(300)).await;
        assert_eq!(log.unstored.load(Ordering::Relaxed), 0, "they are told");
    }

    #[tokio::test]
    async fn x6_a_log_without_a_service_gives_up_at_last() {
        let log = log_without_a_database().await;
        log.record(row("/", "GET")).await.unwrap();
        let unstored = Arc::downgrade(&log.unstored);
        drop(log);
        while unstored.strong_count() > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    #[test]
    fn the_name_of_a_method_is_cut() {
        let row = row("/", &"M".repeat(9_000));
        assert_eq!(row.origin.method.len(), METHOD);
    }
}

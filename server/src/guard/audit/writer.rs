//! The task that stores rows.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use chrono::{DateTime, Utc};
use entity_core::Caller;
use entity_core::engine::{Origin, ReadBudget};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, timeout};

use super::{AnonymousAggregator, AuditRow, AuditStore, Message};
use crate::base::health::Health;
use crate::base::supervise::Task;
use crate::base::telemetry;

/// The time for which rows are collected before they are stored.
const DELAY: Duration = Duration::from_millis(200);
/// The time for which a store that failed is left alone before it is tried again for the first time.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// The time for which it is left alone at most.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// The time for which it is tried once the service is gone.
const LAST_TRIES: Duration = Duration::from_secs(2);
/// The name in `/readyz` of the place where rows are stored.
const STORAGE: &str = "audit storage";

/// Stores rows. Its queue outlives a panic of its work.
#[derive(Debug)]
pub(super) struct Writer {
    queue: mpsc::Receiver<Message>,
    store: AuditStore,
    batch: usize,
    strangers: AnonymousAggregator,
    lost: Arc<AtomicU64>,
    unstored: Arc<AtomicU64>,
    health: Health,
    rows: Vec<AuditRow>,
    waiting: Vec<oneshot::Sender<()>>,
    /// The time at which the last row came in.
    last: DateTime<Utc>,
}

impl Writer {
    pub(super) fn new(
        queue: mpsc::Receiver<Message>,
        store: AuditStore,
        batch: usize,
        strangers: AnonymousAggregator,
        (lost, unstored): (Arc<AtomicU64>, Arc<AtomicU64>),
        health: Health,
    ) -> Self {
        Self {
            queue,
            store,
            batch,
            strangers,
            lost,
            unstored,
            health,
            rows: Vec::with_capacity(batch),
            waiting: Vec::new(),
            last: DateTime::<Utc>::UNIX_EPOCH,
        }
    }

    /// Waits for a message, or until the counts are due. Returns whether there may be more.
    async fn receive(&mut self) -> bool {
        if !self.rows.is_empty() || !self.waiting.is_empty() {
            // A panic left them here.
            return true;
        }
        match timeout(self.strangers.until_due(Instant::now()), self.queue.recv()).await {
            Ok(Some(message)) => self.accept(message),
            Ok(None) => return false,
            Err(_elapsed) => {}
        }
        true
    }

    fn accept(&mut self, message: Message) {
        match message {
            Message::Row(row) => {
                self.last = row.time;
                self.rows
                    .extend(self.strangers.aggregate(row, Instant::now()));
            }
            Message::Flush(done) => self.waiting.push(done),
        }
    }

    /// Adds the rows that stand for several requests: those that were counted, and those that were left out.
    fn add_counted(&mut self, is_everything: bool) {
        self.rows
            .extend(self.strangers.counted(is_everything, Instant::now()));
        let lost = self.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            self.rows.push(gap(self.last, lost));
        }
    }

    /// Stores the rows, however long it takes: until then the queue fills up and requests are refused. Only when the
    /// service is gone, and nothing more comes, has it an end.
    async fn store_all(&mut self) {
        if self.rows.is_empty() {
            return;
        }
        let mut pause = FIRST_PAUSE;
        let mut end = None;
        while let Err(error) = self.store.insert(&self.rows).await {
            if self.queue.is_closed() {
                let end = end.get_or_insert_with(|| Instant::now() + LAST_TRIES);
                if Instant::now() >= *end {
                    super::tell_gap(self.unstored.swap(0, Ordering::Relaxed));
                    self.rows.clear();
                    return;
                }
            }
            tracing::error!(
                error = telemetry::cause(&error),
                rows = self.rows.len(),
                "can't store audit rows; trying again"
            );
            self.health.degrade(
                STORAGE,
                "audit rows can't be stored; requests are refused when too many wait",
            );
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        let stored: u64 = self.rows.iter().map(|it| it.times).sum();
        super::subtract(&self.unstored, stored);
        if pause > FIRST_PAUSE {
            tracing::info!("audit rows are stored again");
        }
        self.health.restore(STORAGE);
        self.rows.clear();
    }
}

impl Task for Writer {
    const NAME: &'static str = "audit";

    async fn run(&mut self) {
        while self.receive().await {
            // Who is behind does not wait for more: otherwise the delay would limit the rate of requests.
            if self.waiting.is_empty() && self.queue.len() < self.batch {
                sleep(DELAY).await;
            }
            for _ in self.rows.len()..self.batch {
                match self.queue.try_recv() {
                    Ok(message) => self.accept(message),
                    Err(_empty) => break,
                }
            }
            self.add_counted(!self.waiting.is_empty());
            self.store_all().await;
            for done in self.waiting.drain(..) {
                // Whoever waited may have given up.
                let _ = done.send(());
            }
        }
        self.add_counted(true);
        self.store_all().await;
    }

    fn is_over(&self) -> bool {
        self.queue.is_closed() && self.queue.is_empty()
    }
}

/// The row that reports that `lost` others are missing.
fn gap(time: DateTime<Utc>, lost: u64) -> AuditRow {
    AuditRow {
        time,
        origin: Origin {
            caller: Caller::anonymous(),
            address: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            request_id: "gap".into(),
            method: "GAP".into(),
            path: "/*".into(),
            read_budget: ReadBudget::default(),
        },
        status: 0,
        times: lost,
    }
}

//! Clients that write and read while the database server goes and comes back.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use http::StatusCode;
use http::header::RETRY_AFTER;
use load::{Answer, Client};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::durability::announce;

pub(super) const LIST: &str = "/direct/announcement/site/biology-101.json";
/// The time for which a client pauses that was refused, or has read.
const PAUSE: Duration = Duration::from_millis(20);

/// The outcome of the requests of clients.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Titles of what was written and acknowledged.
    pub(super) acknowledged: HashSet<String>,
    /// Those whose client was told to try again: they were not done.
    pub(super) refused: HashSet<String>,
    /// Those of which nobody knows.
    pub(super) unknown: HashSet<String>,
    /// Answers to reads: done and refused.
    pub(super) reads: [usize; 2],
    pub(super) slowest: Duration,
}

impl Outcome {
    fn extend(&mut self, other: Self) {
        self.acknowledged.extend(other.acknowledged);
        self.refused.extend(other.refused);
        self.unknown.extend(other.unknown);
        self.reads = [
            self.reads[0] + other.reads[0],
            self.reads[1] + other.reads[1],
        ];
        self.slowest = self.slowest.max(other.slowest);
    }
}

/// Returns whether an answer that is no success says that the outcome is unknown, by its own code. All others say when to try
/// again.
pub(super) fn is_unknown(answer: &Answer) -> bool {
    answer.expect(StatusCode::SERVICE_UNAVAILABLE);
    let is_unknown = answer.json()["error"]["code"] == "outcome_unknown";
    assert_ne!(
        answer.headers.contains_key(RETRY_AFTER),
        is_unknown,
        "{answer:?}"
    );
    is_unknown
}

/// The orders to the clients.
#[derive(Debug, Default)]
struct Orders {
    round: AtomicUsize,
    is_over: AtomicBool,
}

/// Clients that write and read until the end.
#[derive(Debug)]
pub(super) struct Load {
    clients: JoinSet<Outcome>,
    orders: Arc<Orders>,
}

impl Load {
    /// So many that write as `author`, and so many that read.
    pub(super) fn start(author: &Client, writers: usize, readers: usize) -> Self {
        let orders = Arc::<Orders>::default();
        let mut clients = JoinSet::new();
        for writer in 0..writers {
            clients.spawn(write(author.clone(), writer, Arc::clone(&orders)));
        }
        for _ in 0..readers {
            clients.spawn(read(author.clone(), Arc::clone(&orders)));
        }
        Self { clients, orders }
    }

    /// Lets the titles of what is written from now on tell this number.
    pub(super) fn begin_round(&self, round: usize) {
        self.orders.round.store(round, Ordering::SeqCst);
    }

    /// Ends it, and returns the outcome of all requests.
    pub(super) async fn end(self) -> Outcome {
        self.orders.is_over.store(true, Ordering::SeqCst);
        let mut all = Outcome::default();
        for outcome in self.clients.join_all().await {
            all.extend(outcome);
        }
        all
    }
}

/// Writes until the end, whatever the server does. No connection to the service breaks.
async fn write(author: Client, writer: usize, orders: Arc<Orders>) -> Outcome {
    let mut outcome = Outcome::default();
    for number in 0.. {
        if orders.is_over.load(Ordering::SeqCst) {
            break;
        }
        let round = orders.round.load(Ordering::SeqCst);
        let title = format!("round {round} writer {writer} number {number}");
        let begin = Instant::now();
        let answer = announce(&author, &title).await;
        let answer = answer.expect("the service goes on");
        outcome.slowest = outcome.slowest.max(begin.elapsed());
        if answer.status == StatusCode::CREATED {
            outcome.acknowledged.insert(title);
        } else if is_unknown(&answer) {
            outcome.unknown.insert(title);
        } else {
            outcome.refused.insert(title);
            sleep(PAUSE).await;
        }
    }
    outcome
}

/// Reads until the end.
async fn read(reader: Client, orders: Arc<Orders>) -> Outcome {
    let mut outcome = Outcome::default();
    while !orders.is_over.load(Ordering::SeqCst) {
        let begin = Instant::now();
        let answer = reader.get(LIST).await;
        outcome.slowest = outcome.slowest.max(begin.elapsed());
        let is_refused = answer.status != StatusCode::OK;
        assert!(!is_refused || !is_unknown(&answer), "{answer:?}");
        outcome.reads[usize::from(is_refused)] += 1;
        sleep(PAUSE).await;
    }
    outcome
}

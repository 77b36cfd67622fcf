//! The database server is stopped at once, again and again, under a load of writes: the service says so, comes back by
//! itself, and keeps what it acknowledged.
//!
//! `SERVER_STOPS` says how often; once by default.

use std::collections::HashSet;
use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use http::StatusCode;
use http::header::RETRY_AFTER;
use tests::app::PASSWORD;
use tests::fault::program;
use tests::process::Process;
use tests::server::Server;
use tests::{Answer, Client, Database};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::durability::{announce, check, id_of, titles};

const DEFAULT_STOPS: usize = 1;
const WRITERS: usize = 8;
const READERS: usize = 4;
const LIST: &str = "/direct/announcement/site/biology-101.json";
/// The deadline of a request, and some time for a busy machine.
const DEADLINE: Duration = Duration::from_secs(15);
/// How long it may take until the service notices that the server has gone, or is back.
const NOTICE: Duration = Duration::from_secs(20);
/// How often a request is sent while the server is away.
const TRIES: usize = 3;

fn number_of_stops() -> usize {
    let given = env::var_os("SERVER_STOPS");
    let given = given.and_then(|it| it.to_str()?.parse().ok());
    given.unwrap_or(DEFAULT_STOPS)
}

/// What became of the requests of one client.
#[derive(Debug, Default)]
struct Outcome {
    acknowledged: HashSet<String>,
    /// Those whose client was told to try again: they were not done.
    refused: HashSet<String>,
    /// Those of which nobody knows.
    unknown: HashSet<String>,
    /// Answers to reads: done and refused.
    reads: [usize; 2],
    slowest: Duration,
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

/// Whether an answer that is no success says that the outcome is unknown, by its own code. All others say when to try
/// again.
fn is_unknown(answer: &Answer) -> bool {
    answer.expect(StatusCode::SERVICE_UNAVAILABLE);
    let is_unknown = answer.json()["error"]["code"] == "outcome_unknown";
    assert_ne!(
        answer.headers.contains_key(RETRY_AFTER),
        is_unknown,
        "{answer:?}"
    );
    is_unknown
}

/// Writes until the end, at each stop too. No connection to the service breaks.
async fn write(author: Client, writer: usize, load: Arc<Load>) -> Outcome {
    let mut outcome = Outcome::default();
    for number in 0.. {
        if load.is_over.load(Ordering::SeqCst) {
            break;
        }
        let stop = load.stop.load(Ordering::SeqCst);
        let title = format!("round {stop} writer {writer} number {number}");
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
            sleep(Duration::from_millis(20)).await;
        }
    }
    outcome
}

/// Reads until the end.
async fn read(reader: Client, load: Arc<Load>) -> Outcome {
    let mut outcome = Outcome::default();
    while !load.is_over.load(Ordering::SeqCst) {
        let begin = Instant::now();
        let answer = reader.get(LIST).await;
        outcome.slowest = outcome.slowest.max(begin.elapsed());
        let is_refused = answer.status != StatusCode::OK;
        assert!(!is_refused || !is_unknown(&answer), "{answer:?}");
        outcome.reads[usize::from(is_refused)] += 1;
        sleep(Duration::from_millis(20)).await;
    }
    outcome
}

/// What the clients are told.
#[derive(Debug, Default)]
struct Load {
    stop: AtomicUsize,
    is_over: AtomicBool,
}

/// Waits until `/readyz` has this status.
async fn wait_until_ready_is(stranger: &Client, status: StatusCode) {
    let begin = Instant::now();
    while stranger.get("/readyz").await.status != status {
        assert!(begin.elapsed() < NOTICE, "/readyz does not become {status}");
        sleep(Duration::from_millis(50)).await;
    }
}

/// Sends a few requests to a service whose server is away.
async fn ask_while_away(author: &Client, stop: usize) {
    for number in 0..TRIES {
        let begin = Instant::now();
        let title = format!("away {stop} number {number}");
        let written = announce(author, &title).await.expect("the service goes on");
        let read = author.get(LIST).await;
        for answer in [written, read] {
            assert!(!is_unknown(&answer), "nothing was sent: {answer:?}");
        }
        author.get("/livez").await.expect(StatusCode::OK);
        assert!(begin.elapsed() < DEADLINE, "{:?}", begin.elapsed());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rel_10_a_server_that_is_stopped_at_once_costs_nothing_that_was_acknowledged() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let database = Database::of_server(&server);
    // The service as it is set up by default, but for the rates, and for how long a busy machine may take for a write.
    let usual = [
        ("LECTERN_LIMITS_WRITEHOLD", "30"),
        ("LECTERN_ADMISSION_QUEUE", "64"),
        ("LECTERN_ADMISSION_WAIT", "500ms"),
    ];
    let mut process =
        Process::start_service_with(&program(), database.url(), &database.folder(), true, &usual);
    let stranger = Client::on_port(process.port());
    let author = stranger.clone().log_in("instructor1", PASSWORD).await;
    let load = Arc::new(Load::default());
    let mut clients = JoinSet::new();
    for writer in 0..WRITERS {
        clients.spawn(write(author.clone(), writer, Arc::clone(&load)));
    }
    for _ in 0..READERS {
        clients.spawn(read(author.clone(), Arc::clone(&load)));
    }
    let stops = number_of_stops();
    let mut back = Duration::ZERO;
    for stop in 0..stops {
        load.stop.store(stop, Ordering::SeqCst);
        // A different moment each time, so that it falls into each part of a write.
        let pause = 400 + u64::try_from(stop).unwrap_or_default() * 37 % 200;
        sleep(Duration::from_millis(pause)).await;
        tokio::task::block_in_place(|| server.stop_at_once());
        ask_while_away(&author, stop).await;
        wait_until_ready_is(&stranger, StatusCode::SERVICE_UNAVAILABLE).await;
        tokio::task::block_in_place(|| server.start_again());
        let begin = Instant::now();
        wait_until_ready_is(&stranger, StatusCode::OK).await;
        author.get(LIST).await.expect(StatusCode::OK);
        back = back.max(begin.elapsed());
        assert!(process.wait(Duration::ZERO).is_none(), "the service ended");
    }
    sleep(Duration::from_millis(400)).await;
    load.is_over.store(true, Ordering::SeqCst);
    let mut all = Outcome::default();
    for outcome in clients.join_all().await {
        all.extend(outcome);
    }
    let after = announce(&author, "round after").await.expect("an answer");
    let after = id_of(after.expect(StatusCode::CREATED)).expect("an id");
    process.stop();
    tests::say(&format!(
        "{stops} stops: {} writes acknowledged, {} refused, {} unknown; {:?} reads answered and refused; the slowest \
         answer took {:?}, the longest return {back:?}",
        all.acknowledged.len(),
        all.refused.len(),
        all.unknown.len(),
        all.reads,
        all.slowest,
    ));
    assert!(all.slowest < DEADLINE, "{:?}", all.slowest);
    let titles = titles(database.url()).await;
    let kept: HashSet<_> = titles.iter().collect();
    assert_eq!(kept.len(), titles.len(), "something was written twice");
    let is_kept = |title: &&String| kept.contains(*title);
    let lost: Vec<_> = all.acknowledged.iter().filter(|it| !is_kept(it)).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
    let done: Vec<_> = all.refused.iter().filter(is_kept).collect();
    assert!(done.is_empty(), "done although refused: {done:?}");
    assert!(all.acknowledged.len() > stops * WRITERS && !all.refused.is_empty());
    // Each has its event and its audit row.
    check(database.url(), &HashSet::from([after])).await;
}

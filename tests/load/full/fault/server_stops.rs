//! The database server is stopped at once, again and again, under a load of writes: the service says so, comes back by
//! itself, and keeps what it acknowledged.
//!
//! `SERVER_STOPS` says how often; once by default.

use std::collections::HashSet;
use std::env;
use std::time::{Duration, Instant};

use http::StatusCode;
use load::Client;
use load::app::PASSWORD;
use load::process::{Process, service};
use load::server::Server;
use tokio::time::sleep;

use super::load::{LIST, Load, is_unknown};
use crate::durability::{announce, check, id_of, titles};

const DEFAULT_STOPS: usize = 1;
const WRITERS: usize = 8;
const READERS: usize = 4;
/// The deadline of a request, and some time for a busy machine.
const DEADLINE: Duration = Duration::from_secs(15);
/// The time that it may take until the service notices that the server has gone, or is back.
const NOTICE: Duration = Duration::from_secs(20);
/// The number of times that a request is sent while the server is away.
const TRIES: usize = 3;

fn number_of_stops() -> usize {
    let given = env::var_os("SERVER_STOPS");
    let given = given.and_then(|it| it.to_str()?.parse().ok());
    given.unwrap_or(DEFAULT_STOPS)
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
    let database = server.database();
    // The service as it is set up by default, but for the rates, and for how long a busy machine may take for a write.
    let usual = [
        ("LECTERN_LIMITS_WRITEHOLD", "30"),
        ("LECTERN_LIMITS_STATEMENTTIME", "2"),
        ("LECTERN_LIMITS_REQUESTDEADLINE", "10"),
        ("LECTERN_POOL_WAIT", "1"),
        ("LECTERN_ADMISSION_QUEUE", "64"),
        ("LECTERN_ADMISSION_WAIT", "500ms"),
    ];
    let mut process = Process::start_service_with(
        &service(false),
        database.url(),
        &database.folder(),
        true,
        &usual,
    );
    let stranger = Client::on_port(process.port());
    let author = stranger.clone().log_in("instructor1", PASSWORD).await;
    let load = Load::start(&author, WRITERS, READERS);
    let stops = number_of_stops();
    let mut back = Duration::ZERO;
    for stop in 0..stops {
        load.begin_round(stop);
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
    let all = load.end().await;
    let after = announce(&author, "round after").await.expect("an answer");
    let after = id_of(after.expect(StatusCode::CREATED)).expect("an id");
    process.stop();
    load::say(&format!(
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

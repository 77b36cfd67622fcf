//! Many clients that keep their connections open cost little, and the service answers as if they were not there.
//!
//! `IDLE_CONNECTIONS` says how many there are: a few hundred by default, 10,000 in CI. Each takes an open file of
//! this process and one of the service, so that the limit (`ulimit -n`) must be higher.

use std::env;
use std::fs;
use std::time::{Duration, Instant};

use load::process::{Process, service, without_limits};
use load::{Backend, Database, OnBackend};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

const DEFAULT_CONNECTIONS: usize = 200;
/// Clients that connect at the same time.
const CLIENTS: usize = 8;
/// With fewer, the test would show nothing: then the limit of open files is too low.
const FEWEST_CONNECTIONS: usize = 5_000;
/// The number of files that other tests may open meanwhile.
const OTHERS: usize = 2_000;
/// Requests on new connections while the others are idle.
const REQUESTS: usize = 200;
/// The maximum memory of the service for an idle connection, in bytes.
const EACH: u64 = 40 * 1024;
/// The maximum memory of the service in all, in KiB, without its code: 20 of 350 MiB are for the code of an optimised
/// program. Here, where it is not optimised, the code takes several times as much, and more with each type.
const ALL: u64 = 330 * 1024;
/// The maximum memory for other things than connections, in KiB.
const NOISE: u64 = 16 * 1024;
const PATIENCE: Duration = Duration::from_secs(20);
const PATH: &str = "/direct/session/current.json";

fn number_of_connections() -> usize {
    let given = env::var_os("IDLE_CONNECTIONS");
    let given = given.and_then(|it| it.to_str()?.parse().ok());
    // What other tests in this process have open counts towards the same limit.
    let room = open_files().saturating_sub(opened_files() + OTHERS);
    given
        .unwrap_or(DEFAULT_CONNECTIONS)
        .min(room.max(FEWEST_CONNECTIONS))
}

/// Returns the number of files this process has open.
fn opened_files() -> usize {
    fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// Returns the number of files this process may have open.
fn open_files() -> usize {
    let limits = fs::read_to_string("/proc/self/limits").expect("a process of Linux");
    let line = limits
        .lines()
        .find_map(|it| it.strip_prefix("Max open files"));
    let soft = line.and_then(|it| it.split_whitespace().next());
    soft.and_then(|it| it.parse().ok()).unwrap_or(usize::MAX)
}

/// Sends a request that goes through the whole service, and reads the answer to its end.
async fn ask(stream: &mut TcpStream) -> Duration {
    let begin = Instant::now();
    let request = format!("GET {PATH} HTTP/1.1\r\nHost: idle\r\n\r\n");
    let answered = async {
        stream
            .write_all(request.as_bytes())
            .await
            .expect("an open connection");
        let mut answer = Vec::new();
        while !answer.ends_with(b"}") {
            let read = stream
                .read_buf(&mut answer)
                .await
                .expect("an open connection");
            assert_ne!(read, 0, "closed after {}", String::from_utf8_lossy(&answer));
        }
        assert!(
            answer.starts_with(b"HTTP/1.1 200 OK"),
            "{}",
            String::from_utf8_lossy(&answer)
        );
    };
    timeout(PATIENCE, answered)
        .await
        .expect("an answer in time");
    begin.elapsed()
}

async fn connect(port: u16) -> TcpStream {
    let connected = timeout(PATIENCE, TcpStream::connect(("127.0.0.1", port))).await;
    connected
        .expect("a connection in time")
        .expect("a connection")
}

/// Opens `number` connections, each of which has had an answer.
async fn open(port: u16, number: usize) -> Vec<TcpStream> {
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        let share = number / CLIENTS + usize::from(client < number % CLIENTS);
        clients.spawn(async move {
            let mut streams = Vec::with_capacity(share);
            for _ in 0..share {
                let mut stream = connect(port).await;
                ask(&mut stream).await;
                streams.push(stream);
            }
            streams
        });
    }
    clients.join_all().await.into_iter().flatten().collect()
}

/// Returns the 99th percentile of the latency of requests, each on a connection of its own.
async fn p99(port: u16) -> Duration {
    let mut times = Vec::with_capacity(REQUESTS);
    for _ in 0..REQUESTS {
        let begin = Instant::now();
        ask(&mut connect(port).await).await;
        times.push(begin.elapsed());
    }
    times.sort_unstable();
    times[REQUESTS * 99 / 100]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dos_9_idle_connections_cost_little_and_are_not_in_the_way() {
    let number = number_of_connections();
    assert!(
        opened_files() + number + 200 < open_files(),
        "raise the limit of open files: ulimit -n {}",
        number + 1000
    );
    let database = Database::on_backend(Backend::Sqlite).await.expect("a file");
    let process = Process::start(service(false), |command, port| {
        command
            .env("LECTERN_LISTEN", format!("127.0.0.1:{port}"))
            .env("LECTERN_DATABASE", database.url())
            .env("LECTERN_LOG_LEVEL", "warn")
            .env("LECTERN_SHUTDOWN_DRAINDELAY", "0")
            .env("LECTERN_LIMITS_IDLETIMEOUT", "600")
            .envs(without_limits())
            .env("LECTERN_LIMITS_CONNECTIONS", (number + 100).to_string())
            .current_dir(database.folder());
    });
    let alone = p99(process.port()).await;
    let before = process.memory();
    let mut idle = open(process.port(), number).await;
    let beside = p99(process.port()).await;
    let after = process.memory();
    let grown = after.resident.saturating_sub(before.resident);
    println!(
        "{number} idle connections: {} MiB resident, {} of them without code, {} MiB before, {} bytes each; a request \
         on a new connection takes {beside:?} at most (p99), {alone:?} before",
        after.resident / 1024,
        after.anonymous / 1024,
        before.resident / 1024,
        grown * 1024 / u64::try_from(number).expect("a number")
    );
    assert!(
        grown <= NOISE + EACH * u64::try_from(number).expect("a number") / 1024,
        "{grown} KiB more"
    );
    assert!(after.anonymous <= ALL, "{} KiB", after.anonymous);
    assert!(
        beside <= alone * 10 + Duration::from_millis(50),
        "{beside:?} instead of {alone:?}"
    );
    // None of them was given up for it.
    for stream in &mut idle {
        ask(stream).await;
    }
    drop(idle);
    process.stop();
}

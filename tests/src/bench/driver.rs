//! Sends requests over connections that stay open, each the next one as soon as the answer is there.

use std::collections::BTreeMap;
use std::str;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// Requests under way at once.
const CONNECTIONS: usize = 32;
/// More than the head of an answer and the first part of its body.
const BUFFER: usize = 64 * 1024;

/// What to send to whom.
#[derive(Debug)]
pub struct Load {
    /// The port on this machine.
    pub port: u16,
    /// The credential.
    pub cookie: String,
    /// What is asked for in turn.
    pub asks: Vec<Ask>,
    /// The status of a good answer.
    pub expected: u16,
}

/// One request.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The path.
    pub path: String,
    /// The version that the client has already.
    pub known: Option<String>,
}

impl Ask {
    /// Asks for `path`.
    pub fn plain(path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            known: None,
        }
    }
}

/// What came of a [`Load`].
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Answers with the expected status.
    pub answers: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// How long each answer took, sorted.
    pub latencies: Vec<Duration>,
    /// All bytes of bodies.
    pub bytes: u64,
    /// Other statuses, and how often.
    pub refusals: BTreeMap<u16, u64>,
}

impl Outcome {
    /// Answers in a second.
    pub fn rate(&self) -> f64 {
        count(self.answers) / self.elapsed.as_secs_f64()
    }

    /// The latency that 99 of 100 answers stay below.
    pub fn p99(&self) -> Duration {
        let at = self.latencies.len().saturating_mul(99) / 100;
        self.latencies.get(at).copied().unwrap_or_default()
    }

    /// The mean size of a body.
    pub fn body_size(&self) -> f64 {
        count(self.bytes) / count(self.answers.max(1))
    }
}

/// A number that is small enough to be exact.
pub(crate) fn count(number: u64) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

impl Load {
    /// Sends for `duration`. Must be called outside of a runtime: it makes its own, of one thread.
    pub fn run(&self, duration: Duration) -> Outcome {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime of one thread");
        runtime.block_on(self.send(duration))
    }

    async fn send(&self, duration: Duration) -> Outcome {
        let requests: Arc<[Vec<u8>]> = self.asks.iter().map(|it| self.request(it)).collect();
        let started = Instant::now();
        let until = started + duration;
        let mut workers = JoinSet::new();
        for worker in 0..CONNECTIONS {
            let first = worker * requests.len() / CONNECTIONS;
            workers.spawn(work(
                (self.port, self.expected),
                Arc::clone(&requests),
                first,
                until,
            ));
        }
        let mut sum = Outcome::nothing();
        for outcome in workers.join_all().await {
            sum.add(outcome);
        }
        sum.elapsed = started.elapsed();
        sum.latencies.sort_unstable();
        sum
    }

    fn request(&self, ask: &Ask) -> Vec<u8> {
        let known = ask
            .known
            .as_ref()
            .map(|it| format!("If-None-Match: {it}\r\n"))
            .unwrap_or_default();
        format!(
            "GET {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nCookie: {}\r\n{known}\r\n",
            ask.path, self.port, self.cookie
        )
        .into_bytes()
    }
}

impl Outcome {
    fn nothing() -> Self {
        Self {
            answers: 0,
            elapsed: Duration::ZERO,
            latencies: Vec::new(),
            bytes: 0,
            refusals: BTreeMap::new(),
        }
    }

    fn add(&mut self, other: Self) {
        self.answers += other.answers;
        self.bytes += other.bytes;
        self.latencies.extend(other.latencies);
        for (status, number) in other.refusals {
            *self.refusals.entry(status).or_default() += number;
        }
    }
}

async fn work(
    (port, expected): (u16, u16),
    requests: Arc<[Vec<u8>]>,
    first: usize,
    until: Instant,
) -> Outcome {
    let mut outcome = Outcome::nothing();
    let mut connection = Connection::open(port).await;
    for request in requests.iter().cycle().skip(first) {
        let sent = Instant::now();
        if sent >= until {
            break;
        }
        let answer = connection.exchange(request).await;
        match answer.status {
            status if status == expected => {
                outcome.answers += 1;
                outcome.bytes += answer.length;
                outcome.latencies.push(sent.elapsed());
            }
            other => *outcome.refusals.entry(other).or_default() += 1,
        }
    }
    outcome
}

struct Answer {
    status: u16,
    length: u64,
}

struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    async fn open(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port))
            .await
            .expect("the server listens");
        stream.set_nodelay(true).expect("a socket of TCP");
        Self {
            stream,
            buffer: vec![0; BUFFER],
        }
    }

    async fn exchange(&mut self, request: &[u8]) -> Answer {
        self.stream
            .write_all(request)
            .await
            .expect("an open connection");
        let mut filled = 0;
        let head = loop {
            let free = self.buffer.get_mut(filled..).expect("room for the head");
            let read = self.stream.read(free).await.expect("an open connection");
            assert!(read > 0, "the server closed the connection");
            filled += read;
            let known = self.buffer.get(..filled).unwrap_or_default();
            if let Some(end) = known.windows(4).position(|it| it == b"\r\n\r\n") {
                break end + 4;
            }
        };
        let (status, length) = parse(self.buffer.get(..head).unwrap_or_default());
        let mut missing = (usize::try_from(length).expect("a small body") + head) - filled;
        while missing > 0 {
            let size = missing.min(BUFFER);
            let free = self.buffer.get_mut(..size).expect("a smaller part");
            let read = self.stream.read(free).await.expect("an open connection");
            assert!(read > 0, "the server closed the connection");
            missing -= read;
        }
        Answer { status, length }
    }
}

/// The status, and the length of the body.
fn parse(head: &[u8]) -> (u16, u64) {
    let head = str::from_utf8(head).expect("a head of plain text");
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok());
    let length = head
        .lines()
        .filter_map(|it| it.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, value)| value.trim().parse().ok());
    // News that nothing is new has no body.
    (status.expect("a status"), length.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_an_answer_is_understood() {
        let head = b"HTTP/1.1 200 OK\r\ncontent-type: a/b\r\nContent-Length: 12\r\n\r\n";
        assert_eq!(parse(head), (200, 12));
    }

    #[test]
    fn one_in_a_hundred_may_be_slower_than_the_p99() {
        let mut outcome = Outcome::nothing();
        outcome.latencies = (1..=1000).map(Duration::from_millis).collect();
        assert_eq!(outcome.p99(), Duration::from_millis(991));
    }
}

//! Sends requests over connections that stay open: each the next one as soon as the answer is there, or by a
//! schedule that does not wait for answers.
//!
//! By schedule the latency of a request is counted from when it was due, also if no connection was free then: a
//! server that stalls is not measured by the few requests that it let through. Timers are exact to a millisecond.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use super::wire::Connection;
pub use super::wire::Request;

/// The load on a server.
#[derive(Clone, Debug)]
pub struct Load {
    /// The port on this machine.
    pub port: u16,
    /// The requests, which are sent in turn.
    pub requests: Arc<[Request]>,
    /// The status of a good answer.
    pub expected: u16,
    /// The number of connections that are open.
    pub connections: usize,
    /// The number of requests that are due in a second; without it each connection sends the next one after an answer.
    pub rate: Option<f64>,
    /// The time for which an answer is waited for.
    pub patience: Duration,
}

/// The outcome of a [`Load`].
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The time for which requests were sent.
    pub duration: Duration,
    /// The time that it took, to the last answer.
    pub elapsed: Duration,
    /// The number of good answers that came while requests were sent.
    pub in_time: u64,
    /// The latencies of good answers.
    pub answers: Latencies,
    /// All bytes of their bodies.
    pub bytes: u64,
    /// Other statuses, and how long each of them took.
    pub refusals: BTreeMap<u16, Latencies>,
    /// Requests without an answer in time.
    pub timeouts: u64,
    /// Connections that could not be made, or ended instead of an answer.
    pub broken: u64,
    /// Requests that were due and could not be sent, because no connection was free until the end.
    pub unsent: u64,
}

/// The time that each of many took, in microseconds.
#[derive(Clone, Debug, Default)]
pub struct Latencies {
    micros: Vec<u32>,
}

/// The times at which the next requests are due.
struct Schedule {
    start: Instant,
    until: Instant,
    next: AtomicU32,
    interval: Option<Duration>,
}

impl Load {
    /// Sends for `duration`. Must be called outside of a runtime: it makes its own, of one thread.
    pub fn run(&self, duration: Duration) -> Outcome {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.expect("a runtime").block_on(self.send(duration))
    }

    /// Sends for `duration`, and waits for the last answers.
    pub async fn send(&self, duration: Duration) -> Outcome {
        let start = Instant::now();
        let schedule = Arc::new(Schedule {
            start,
            until: start + duration,
            next: AtomicU32::new(0),
            interval: self.rate.map(|it| Duration::from_secs_f64(1.0 / it)),
        });
        let mut workers = JoinSet::new();
        for _ in 0..self.connections {
            workers.spawn(work(self.clone(), Arc::clone(&schedule)));
        }
        let mut sum = Outcome::default();
        for outcome in workers.join_all().await {
            sum.add(outcome);
        }
        sum.duration = duration;
        sum.elapsed = start.elapsed();
        sum.answers.sort();
        sum.refusals.values_mut().for_each(Latencies::sort);
        sum
    }
}

impl Schedule {
    /// The number of the next request, and when it is due.
    fn next(&self) -> (u32, Instant) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let due = match self.interval {
            Some(interval) => self.start + interval * number,
            None => Instant::now(),
        };
        (number, due)
    }
}

async fn work(load: Load, schedule: Arc<Schedule>) -> Outcome {
    let mut outcome = Outcome::default();
    let mut connection = None;
    loop {
        let (number, due) = schedule.next();
        if due >= schedule.until {
            return outcome;
        }
        let now = Instant::now();
        if now >= schedule.until {
            outcome.unsent += 1;
            continue;
        }
        if due > now {
            sleep_until(due).await;
        }
        let at = usize::try_from(number).unwrap_or_default() % load.requests.len();
        let request = load.requests.get(at).expect("a request");
        let exchanged = timeout(load.patience, exchange(&mut connection, load.port, request));
        match exchanged.await {
            Ok(Ok((status, bytes))) => {
                let is_good = outcome.note(&load, status, bytes, due.elapsed());
                outcome.in_time += u64::from(is_good && Instant::now() < schedule.until);
            }
            Ok(Err(_closed)) => {
                outcome.broken += 1;
                connection = None;
                // A server that has gone is not asked as fast as it refuses.
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            Err(_elapsed) => {
                outcome.timeouts += 1;
                connection = None;
            }
        }
    }
}

/// Sends on the connection, which is made if there is none.
async fn exchange(
    connection: &mut Option<Connection>,
    port: u16,
    request: &Request,
) -> std::io::Result<(u16, u64)> {
    let mut open = match connection.take() {
        Some(open) => open,
        None => Connection::open(port).await?,
    };
    let (answer, bytes) = open.exchange(request).await?;
    if !answer.is_last {
        *connection = Some(open);
    }
    Ok((answer.status, bytes))
}

impl Outcome {
    /// Good answers in a second, of those that came while requests were sent.
    pub fn rate(&self) -> f64 {
        count(self.in_time) / self.duration.as_secs_f64()
    }

    /// Returns the number of refusals, whatever the status.
    pub fn refused(&self) -> u64 {
        self.refusals.values().map(Latencies::count).sum()
    }

    /// Returns the latencies of refusals, whatever the status.
    pub fn refusal_times(&self) -> Latencies {
        let all = self.refusals.values().flat_map(|it| &it.micros);
        let mut all = Latencies {
            micros: all.copied().collect(),
        };
        all.sort();
        all
    }

    /// All requests that were sent.
    pub fn sent(&self) -> u64 {
        self.answers.count() + self.refused() + self.timeouts + self.broken
    }

    /// The mean size of a body.
    pub fn body_size(&self) -> f64 {
        count(self.bytes) / count(self.answers.count().max(1))
    }

    /// Notes an answer; answers whether it is good.
    fn note(&mut self, load: &Load, status: u16, bytes: u64, latency: Duration) -> bool {
        let is_good = status == load.expected;
        if is_good {
            self.answers.add(latency);
            self.bytes += bytes;
        } else {
            self.refusals.entry(status).or_default().add(latency);
        }
        is_good
    }

    fn add(&mut self, other: Self) {
        self.answers.micros.extend(other.answers.micros);
        self.bytes += other.bytes;
        self.in_time += other.in_time;
        self.timeouts += other.timeouts;
        self.broken += other.broken;
        self.unsent += other.unsent;
        for (status, latencies) in other.refusals {
            let known = self.refusals.entry(status).or_default();
            known.micros.extend(latencies.micros);
        }
    }
}

impl Latencies {
    /// Returns their number.
    pub fn count(&self) -> u64 {
        self.micros.len().try_into().unwrap_or(u64::MAX)
    }

    /// Returns the percentile `percent`; nothing if there are none. Only once they are sorted.
    pub fn below(&self, percent: usize) -> Duration {
        let at = self.micros.len().saturating_mul(percent) / 100;
        let micros = self.micros.get(at).copied().unwrap_or_default();
        Duration::from_micros(micros.into())
    }

    /// The longest. Only once they are sorted.
    pub fn longest(&self) -> Duration {
        let micros = self.micros.last().copied().unwrap_or_default();
        Duration::from_micros(micros.into())
    }

    pub(crate) fn add(&mut self, latency: Duration) {
        let micros = u32::try_from(latency.as_micros()).unwrap_or(u32::MAX);
        self.micros.push(micros);
    }

    fn sort(&mut self) {
        self.micros.sort_unstable();
    }
}

/// A number that is small enough to be exact.
pub(crate) fn count(number: u64) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_a_hundred_may_be_slower_than_the_p99() {
        let mut latencies = Latencies::default();
        for millis in (1..=1000).rev() {
            latencies.add(Duration::from_millis(millis));
        }
        latencies.sort();
        assert_eq!(latencies.below(99), Duration::from_millis(991));
        assert_eq!(latencies.below(50), Duration::from_millis(501));
    }
}

//! The attacks, as small pieces that go on until they are told to stop.

mod audit;
mod disk;
mod html;
mod large;
mod login;
mod search;
mod writer;

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use http::StatusCode;
use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout_at};

use super::ground::{Attacker, Ground};
use super::tally::{NO_ANSWER, Tally};
use crate::Client;

/// The time for which an attacker waits who was refused.
const BREATH: Duration = Duration::from_millis(20);

/// One way to attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attack {
    /// None, to compare with.
    Nothing,
    /// Batches in batches, and units of work that keep the right to write.
    Writer,
    /// HTML that takes long to be made harmless.
    Html,
    /// Large answers, read quickly, slowly and not at all.
    Large,
    /// Searches that take long, and clients that leave.
    Search,
    /// Whatever makes the service store something.
    Disk,
    /// An audit log that stands still now and then.
    Audit,
    /// Logins of one account, with its password.
    Login,
}

impl Attack {
    /// All of them.
    pub(super) const ALL: [Self; 7] = [
        Self::Writer,
        Self::Html,
        Self::Large,
        Self::Search,
        Self::Disk,
        Self::Audit,
        Self::Login,
    ];

    /// Returns the name in the report.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Nothing => "none",
            Self::Writer => "1 right to write held",
            Self::Html => "2 hostile HTML",
            Self::Large => "3 large answers",
            Self::Search => "5 searches",
            Self::Disk => "6 filling the disk",
            Self::Audit => "7 audit log stalls",
            Self::Login => "8 login flood",
        }
    }

    /// Attacks until then, and answers what the attackers were told.
    pub(super) async fn go_on(self, ground: &Ground, until: Instant) -> Tally {
        match self {
            Self::Nothing => Tally::default(),
            Self::Writer => writer::attack(ground, until).await,
            Self::Html => html::attack(ground, until).await,
            Self::Large => large::attack(ground, until).await,
            Self::Search => search::attack(ground, until).await,
            Self::Disk => disk::attack(ground, until).await,
            Self::Audit => audit::attack(ground, until).await,
            Self::Login => login::attack(ground, until).await,
        }
    }
}

/// Does something again and again, so often at once, until the time is over. `send` is told which of them it is for and
/// how often that one did it before.
async fn repeat<F: Future<Output = u16> + Send + 'static>(
    workers: usize,
    until: Instant,
    send: impl Fn(usize, usize) -> F + Clone + Send + 'static,
) -> Tally {
    let mut all = JoinSet::new();
    for worker in 0..workers {
        let send = send.clone();
        all.spawn(async move {
            let mut tally = Tally::default();
            let mut turn = 0;
            while let Ok(status) = timeout_at(until, send(worker, turn)).await {
                tally.add(status);
                if is_refusal(status) {
                    sleep(BREATH).await;
                }
                turn += 1;
            }
            tally
        });
    }
    let mut sum = Tally::default();
    for tally in all.join_all().await {
        sum.merge(&tally);
    }
    sum
}

fn is_refusal(status: u16) -> bool {
    status >= 400 || status == NO_ANSWER
}

/// The status of what is answered to a request with a body of JSON, or with none.
async fn send(client: &Client, method: Method, path: &str, body: Option<Bytes>) -> u16 {
    let body = body.map(|it| ("application/json", it));
    let answer = client.try_request(method, path, body).await;
    answer.map_or(NO_ANSWER, |it| it.status.as_u16())
}

async fn get(client: &Client, path: &str) -> u16 {
    send(client, Method::GET, path, None).await
}

async fn post(client: &Client, path: &str, body: &Value) -> u16 {
    send(client, Method::POST, path, Some(body.to_string().into())).await
}

/// One of `attackers` for each worker in turn.
fn pick(attackers: &[Attacker], worker: usize) -> Attacker {
    let attacker = attackers.iter().cycle().nth(worker);
    attacker.expect("somebody who attacks").clone()
}

/// The client of one of `attackers`, which wants nothing of what it does to be kept.
fn dry(attacker: &Attacker) -> Client {
    let prefer = http::HeaderName::from_static("prefer");
    attacker.client.clone().with_header(prefer, "tx=rollback")
}

/// Returns whether it was done.
fn is_done(status: u16) -> bool {
    StatusCode::from_u16(status).is_ok_and(|it| it.is_success())
}

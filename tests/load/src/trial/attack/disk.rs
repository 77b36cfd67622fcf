//! Whatever makes the service store something: long paths of strangers, results of requests with keys, announcements,
//! refused logins.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use http::{HeaderName, Method};
use tokio::time::Instant;

use super::super::ground::{Ground, LONG_TEXT, news};
use super::super::tally::{NO_ANSWER, Tally};
use super::{get, is_done, pick, repeat, send};
use crate::Client;

const STRANGERS: usize = 8;
const GUESSERS: usize = 4;
const WRITERS: usize = 4;
/// The number of announcements each of them leaves, of those that it makes: a trial must end well on any disk.
const LEFT: usize = 100;

pub(super) async fn attack(ground: &Ground, until: Instant) -> Tally {
    let machines: Vec<_> = (0..8).map(|it| ground.stranger(it)).collect();
    let machine = move |worker: usize| {
        let machine = machines.iter().cycle().nth(worker).cloned();
        machine.expect("a machine")
    };
    let strangers = repeat(STRANGERS, until, {
        let machine = machine.clone();
        move |worker, turn| {
            let stranger = machine(worker);
            async move {
                let path = format!("/direct/site/{}{worker}-{turn}", "x".repeat(3_000));
                get(&stranger, &path).await
            }
        }
    });
    let guessers = repeat(GUESSERS, until, move |worker, turn| {
        let stranger = machine(worker);
        async move {
            let form = format!("username=nobody{worker}-{turn}&password=guess");
            let form = ("application/x-www-form-urlencoded", form.into());
            let answer = stranger.try_request(Method::POST, "/api/login", Some(form));
            answer.await.map_or(NO_ANSWER, |it| it.status.as_u16())
        }
    });
    let attackers = ground.attackers.clone();
    let writers = repeat(WRITERS, until, move |worker, _turn| {
        let attacker = pick(&attackers, worker);
        async move {
            let body = news(&attacker.archive, &"word ".repeat(LONG_TEXT / 5));
            let answer = announce(&attacker.client, body.to_string()).await;
            let Some((status, id)) = answer else {
                return NO_ANSWER;
            };
            let id = id.filter(|_| is_done(status));
            if let Some(id) = id.and_then(|it| oldest_beyond(&attacker.made, it)) {
                let path = format!("/direct/announcement/{id}");
                send(&attacker.client, Method::DELETE, &path, None).await;
            }
            status
        }
    });
    let (mut sum, guessers, writers) = tokio::join!(strangers, guessers, writers);
    sum.merge(&guessers);
    sum.merge(&writers);
    sum
}

/// Notes what was made, and answers what is too much of it.
fn oldest_beyond(made: &Mutex<Vec<String>>, id: String) -> Option<String> {
    let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
    made.push(id);
    (made.len() > LEFT).then(|| made.remove(0))
}

/// Announces something long whose result is to be kept, and asks for all of it. The status and its id.
async fn announce(client: &Client, body: String) -> Option<(u16, Option<String>)> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let key = format!("key {}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let client = client
        .clone()
        .with_header(HeaderName::from_static("idempotency-key"), &key)
        .with_header(HeaderName::from_static("prefer"), "return=representation");
    let body = Some(("application/json", body.into()));
    let answer = client.try_request(Method::POST, "/direct/announcement.json", body);
    let answer = answer.await.ok()?;
    let id = answer.header("entityid").map(ToOwned::to_owned);
    Some((answer.status.as_u16(), id))
}

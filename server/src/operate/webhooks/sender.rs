//! The sender: takes the deliveries that are due, and sends them.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use entity_core::Result;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt as _};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use super::attempt::attempt;
use super::queue::{self, Lease, Next};
use crate::base::supervise::Task;
use crate::base::telemetry;
use crate::operate::background;
use crate::operate::follower;
use crate::operate::node::{Inner, Node};

/// The name of the task: in the log, and among what is degraded.
const NAME: &str = "webhook-sender";
/// The interval at which the sender looks for deliveries when nobody wakes it.
const LOOK: Duration = Duration::from_secs(5);
/// The interval at which it looks while requests are under way.
const LOOK_BUSY: Duration = Duration::from_millis(500);
/// The maximum number of requests at once, and of those to one host.
const AT_ONCE: usize = 8;
const PER_HOST: usize = 2;
/// The maximum number of deliveries of a webhook in one turn, and how long a turn takes before it ends.
const IN_TURN: usize = 20;
const TURN: Duration = Duration::from_secs(10);

/// Sends to webhooks until the service is gone. It holds no part of it while it waits.
#[derive(Debug)]
pub(crate) struct Sender {
    node: Weak<Inner>,
    news: Arc<Notify>,
}

impl Sender {
    /// The sender of `node`.
    pub(crate) fn of(node: &Node) -> Self {
        Self {
            node: node.downgrade(),
            news: node.post.news(),
        }
    }
}

impl Task for Sender {
    const NAME: &'static str = NAME;

    async fn run(&mut self) {
        loop {
            let _elapsed = timeout(LOOK, self.news.notified()).await;
            let Some(node) = self.node.upgrade().map(Node::from) else {
                return;
            };
            if let Err(error) = send_due(&node).await {
                node.health.degrade(NAME, "webhooks can't be sent");
                tracing::warn!(
                    error = telemetry::cause(&error),
                    "can't send to webhooks; trying again"
                );
            } else {
                node.health.restore(NAME);
            }
        }
    }

    fn is_over(&self) -> bool {
        self.node.strong_count() == 0
    }
}

/// Sends deliveries that are due, and returns when none is.
pub(crate) async fn deliver(node: &Node) -> Result<()> {
    loop {
        send_due(node).await?;
        let origin = follower::origin();
        let work = node
            .dispatcher
            .read(&origin, |cx| Box::pin(queue::is_due(cx)));
        if !work.await? {
            return Ok(());
        }
        // Somebody else sends it.
        sleep(LOOK_BUSY / 10).await;
    }
}

/// Sends deliveries that are due and leased by no other sender, a few at once. A webhook that fails here keeps no other
/// one from its turn.
///
/// All of it goes on together, whatever is waited for: one that records the result of a delivery has the write permit,
/// and another that waits for that permit must not keep it from going on.
async fn send_due(node: &Node) -> Result<()> {
    let mut running: FuturesUnordered<BoxFuture<'_, Served>> = FuturesUnordered::new();
    let mut at_hosts = Hosts::default();
    let mut failed = Ok(());
    loop {
        let free = AT_ONCE.saturating_sub(running.len());
        if free > 0 && !node.health.is_draining() {
            let mut claiming = pin!(claim(node, free, at_hosts.clone()));
            let claimed = loop {
                tokio::select! {
                    claimed = &mut claiming => break claimed,
                    Some((host, done)) = running.next() => {
                        at_hosts.leave(&host);
                        failed = failed.and(done);
                    }
                }
            };
            match claimed {
                Ok(turns) => {
                    for turn in turns {
                        at_hosts.enter(&turn.host);
                        running.push(Box::pin(serve(node, turn)));
                    }
                }
                Err(error) => failed = Err(error),
            }
        }
        if running.is_empty() {
            return failed;
        }
        // What comes in meanwhile does not wait for a host that is slow.
        if let Ok(Some((host, done))) = timeout(LOOK_BUSY, running.next()).await {
            at_hosts.leave(&host);
            failed = failed.and(done);
        }
    }
}

/// The number of turns at each host.
#[derive(Clone, Debug, Default)]
struct Hosts(BTreeMap<String, usize>);

impl Hosts {
    fn enter(&mut self, host: &str) {
        let turns = self.0.entry(host.to_owned()).or_default();
        *turns = turns.saturating_add(1);
    }

    fn leave(&mut self, host: &str) {
        if let Some(turns) = self.0.get_mut(host) {
            *turns = turns.saturating_sub(1);
        }
    }

    fn is_full(&self, host: &str) -> bool {
        self.0.get(host).is_some_and(|it| *it >= PER_HOST)
    }

    fn full(&self) -> Vec<String> {
        let hosts = self.0.keys().filter(|it| self.is_full(it));
        hosts.cloned().collect()
    }
}

/// Leases some of the webhooks that have something to send, at most `free`.
async fn claim(node: &Node, free: usize, mut at_hosts: Hosts) -> Result<Vec<Lease>> {
    let full = at_hosts.full();
    let origin = follower::origin();
    let work = node.dispatcher.read(&origin, |cx| {
        Box::pin(async move { queue::waiting(cx, &full).await })
    });
    let mut turns = Vec::new();
    for turn in work.await? {
        if turns.len() >= free {
            break;
        }
        if at_hosts.is_full(&turn.host) {
            continue;
        }
        let webhook = turn.webhook.clone();
        let lease = background::write(node, &origin, move |cx| {
            let webhook = webhook.clone();
            Box::pin(async move { queue::lease(cx, &webhook).await })
        });
        if let Some(lease) = lease.await? {
            at_hosts.enter(&turn.host);
            turns.push(Lease {
                name: lease,
                ..turn
            });
        }
    }
    Ok(turns)
}

/// The host of a turn that has ended, and how it went.
type Served = (String, Result<()>);

/// Sends the deliveries of the webhook, and returns its host.
async fn serve(node: &Node, turn: Lease) -> Served {
    let done = send_in_turn(node, &turn).await;
    (turn.host, done)
}

/// Sends deliveries of one webhook, one after the other, until one fails. Without an end to the lease, it ends by itself.
async fn send_in_turn(node: &Node, turn: &Lease) -> Result<()> {
    let begun = Instant::now();
    let origin = follower::origin();
    for _ in 0..IN_TURN {
        if begun.elapsed() > TURN || node.health.is_draining() {
            break;
        }
        let webhook = turn.webhook.clone();
        let next = node.dispatcher.read(&origin, |cx| {
            Box::pin(async move { queue::next(cx, &webhook).await })
        });
        let Some(due) = next.await? else {
            break;
        };
        let outcome = attempt(node, &due).await?;
        let goes_on = matches!(outcome.next, Next::Delivered | Next::Dead);
        let noted = (turn.clone(), due.id, outcome);
        let recorded = background::write(node, &origin, move |cx| {
            let (turn, id, outcome) = noted.clone();
            Box::pin(async move { queue::record(cx, &turn, &id, &outcome).await })
        });
        if !recorded.await? {
            return Ok(());
        }
        if !goes_on {
            break;
        }
    }
    let turn = turn.clone();
    let released = background::write(node, &origin, move |cx| {
        let turn = turn.clone();
        Box::pin(async move { queue::release(cx, &turn).await })
    });
    released.await
}

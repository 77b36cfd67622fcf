//! Removes expired rows now and then, and reports the log lines that were not written.

use std::sync::Weak;
use std::time::Duration;

use entity_core::db::{QueryPoolCounts, QueryPools};
use entity_providers::storage::db::{LARGE_JOURNAL, shrink_journal};

use crate::base::supervise::Task;
use crate::base::system::STEP;
use crate::base::telemetry;
use crate::operate::node::{Inner, Node};
use crate::operate::retention;

/// The name in `/readyz` of a clock that is not believed.
const CLOCK: &str = "clock";

/// Cleans up until the service is gone. It holds no part of it while it waits.
#[derive(Debug)]
pub(crate) struct Janitor {
    node: Weak<Inner>,
    /// The pause between two cleanups.
    pause: Duration,
    /// True if it was reported that the clock is not believed.
    doubts: bool,
    /// The counts that were reported last of statements that did not come to their end.
    reported: QueryPoolCounts,
}

impl Janitor {
    /// The janitor of `node`.
    pub(crate) fn of(node: &Node) -> Self {
        Self {
            node: node.downgrade(),
            pause: node.config.retention.interval,
            doubts: false,
            reported: QueryPoolCounts::default(),
        }
    }
}

impl Task for Janitor {
    const NAME: &'static str = "janitor";

    async fn run(&mut self) {
        loop {
            tokio::time::sleep(self.pause).await;
            let Some(node) = self.node.upgrade().map(Node::from) else {
                return;
            };
            self.doubts = report_clock(&node, self.doubts);
            clean(&node).await;
            report_query_pools(&node.storage.content.query_pools, &mut self.reported);
        }
    }

    fn is_over(&self) -> bool {
        self.node.strong_count() == 0
    }
}

/// Cleans up once.
async fn clean(node: &Node) {
    telemetry::tell_repeated();
    if let Err(error) = retention::sweep(node).await {
        tracing::warn!(
            error = telemetry::cause(&error),
            "can't remove what is over"
        );
    }
    if let Err(error) = shrink_journal(&node.storage.content, LARGE_JOURNAL).await {
        tracing::warn!(
            error = telemetry::cause(&error),
            "can't shrink the journal of the database"
        );
    }
}

/// Tells whether the clock is believed when it comes to removing things, if that changed.
fn report_clock(node: &Node, doubted: bool) -> bool {
    let off = node.now().signed_duration_since(node.aged());
    let doubts = off.abs() > STEP;
    match (doubted, doubts) {
        (false, true) => {
            let reason =
                "it was set, or the service stood still for long: it is believed a day later";
            node.health.degrade(CLOCK, reason);
            tracing::warn!(
                seconds = off.num_seconds(),
                "the clock tells more or less time than has passed: nothing is removed by it for a day"
            );
        }
        (true, false) => {
            node.health.restore(CLOCK);
            tracing::info!("the clock is believed again");
        }
        _ => {}
    }
    doubts
}

/// Tells how many statements did not come to their end since the last time, if any did not.
fn report_query_pools(query_pools: &QueryPools, reported: &mut QueryPoolCounts) {
    let mut now = QueryPoolCounts::default();
    for pool in [&query_pools.reads, &query_pools.scans]
        .into_iter()
        .flatten()
    {
        let counts = pool.counts();
        now.stopped = now.stopped.saturating_add(counts.stopped);
        now.abandoned = now.abandoned.saturating_add(counts.abandoned);
        now.refused = now.refused.saturating_add(counts.refused);
    }
    if now != *reported {
        tracing::warn!(
            stopped = now.stopped.saturating_sub(reported.stopped),
            abandoned = now.abandoned.saturating_sub(reported.abandoned),
            refused = now.refused.saturating_sub(reported.refused),
            "statements that read did not come to their end: too slow, given up by their clients, or too many at once"
        );
        *reported = now;
    }
}

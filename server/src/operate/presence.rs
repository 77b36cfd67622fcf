//! The task that stores visits of sites where other nodes find them.

use std::sync::{Arc, Weak};
use std::time::Duration;

use entity_core::Result;
use entity_core::engine::{Origin, PresenceTracker, Visit};
use entity_providers::people::membership::presence;
use tokio::time::sleep;

use crate::base::supervise::Task;
use crate::base::telemetry;
use crate::operate::background;
use crate::operate::node::{Inner, Node};

/// The pause of the task: other nodes see new visitors within this time.
const PAUSE: Duration = Duration::from_secs(10);
/// The maximum number of visits that are kept in one transaction.
const AT_ONCE: usize = 200;

/// Keeps visits until the service is gone. It holds no part of it while it waits.
#[derive(Debug)]
pub(crate) struct Keeper {
    node: Weak<Inner>,
}

impl Keeper {
    /// The keeper of `node`.
    pub(crate) fn of(node: &Node) -> Self {
        Self {
            node: node.downgrade(),
        }
    }
}

impl Task for Keeper {
    const NAME: &'static str = "presence";

    async fn run(&mut self) {
        loop {
            sleep(PAUSE).await;
            let Some(node) = self.node.upgrade().map(Node::from) else {
                return;
            };
            if let Err(error) = keep(&node).await {
                node.health.degrade(Self::NAME, "visits can't be kept");
                tracing::warn!(
                    error = telemetry::cause(&error),
                    "can't keep who visits which site; trying again"
                );
            } else {
                node.health.restore(Self::NAME);
            }
        }
    }

    fn is_over(&self) -> bool {
        self.node.strong_count() == 0
    }
}

/// Keeps all visits that other nodes do not know of.
pub(crate) async fn keep(node: &Node) -> Result<()> {
    let visits = node.dispatcher.shared().service::<PresenceTracker>()?;
    let origin = Origin {
        method: "KEEP".into(),
        ..background::origin()
    };
    let untold = visits.untold(node.now());
    for (number, part) in untold.chunks(AT_ONCE).enumerate() {
        let kept: Arc<[Visit]> = part.into();
        let work = background::write(node, &origin, move |cx| {
            let kept = Arc::clone(&kept);
            Box::pin(async move { presence::keep(cx, &kept).await })
        });
        if let Err(error) = work.await {
            visits.tell_again(untold.get(number * AT_ONCE..).unwrap_or_default());
            return Err(error);
        }
        sleep(background::PAUSE).await;
    }
    Ok(())
}

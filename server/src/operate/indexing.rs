//! The task that makes the index of searches where a table has many rows already.

use std::sync::Weak;
use std::time::Duration;

use entity_providers::storage::db::finish_index;

use crate::base::supervise::Task;
use crate::base::telemetry;
use crate::operate::node::{Inner, Node};

/// The time until it is looked again: an extension may have come, and what failed may go well.
const PAUSE: Duration = Duration::from_mins(10);

/// Makes what the index lacks until the service is gone. It holds no part of it but the database.
#[derive(Debug)]
pub(crate) struct Indexing {
    node: Weak<Inner>,
}

impl Indexing {
    /// Makes the index in the database of `node`.
    pub(crate) fn of(node: &Node) -> Self {
        Self {
            node: node.downgrade(),
        }
    }
}

impl Task for Indexing {
    const NAME: &'static str = "indexing";

    async fn run(&mut self) {
        while let Some(node) = self.node.upgrade().map(Node::from) {
            let (content, registry) = (
                node.storage.content.clone(),
                node.dispatcher.registry().clone(),
            );
            drop(node);
            if let Err(error) = finish_index(&content, &registry).await {
                tracing::warn!(
                    error = telemetry::cause(&error),
                    "can't make the index of searches: it is tried again"
                );
            }
            drop(content);
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn is_over(&self) -> bool {
        self.node.strong_count() == 0
    }
}

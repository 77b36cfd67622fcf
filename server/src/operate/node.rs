//! A node of the service, as the tasks in the background see it.

use std::ops::Deref;
use std::sync::{Arc, Weak};

use chrono::{DateTime, Utc};
use entity_core::blob::Blob;
use entity_core::engine::Dispatcher;
use tokio::sync::{Semaphore, watch};
use tokio_util::task::TaskTracker;

use crate::base::config::Config;
use crate::base::health::Health;
use crate::base::metrics::{Metrics, MetricsRegistry};
use crate::guard::auth::throttle::Throttle;
use crate::guard::session::Sessions;
use crate::operate::position::Position;
use crate::operate::storage::Storage;
use crate::operate::trusted_clock::TrustedClock;
use crate::operate::webhooks::Post;

/// A node of the service. Cloning it is cheap; all clones are the same node.
#[derive(Clone, Debug)]
pub struct Node(Arc<Inner>);

/// The parts of a node.
#[derive(derive_more::Debug)]
#[debug("Inner {{ config: {:?} }}", self.config)]
pub struct Inner {
    /// The settings.
    pub config: Config,
    /// Runs requests.
    pub dispatcher: Dispatcher,
    /// The databases.
    pub storage: Storage,
    /// Work that goes on when its client has gone.
    pub tasks: TaskTracker,
    /// The state of the probes of load balancers.
    pub health: Health,
    /// The counters of the service.
    pub metrics: Metrics,
    /// The metrics registry: the counters, and the gauges of the parts.
    pub figures: MetricsRegistry,
    /// Counts failures to log in.
    pub(crate) throttle: Throttle,
    /// The sessions.
    pub(crate) sessions: Arc<Sessions>,
    /// Sends requests to webhooks.
    pub(crate) post: Post,
    /// The number of the last event that is followed.
    pub(crate) followed: watch::Sender<i64>,
    /// The places of archives that are being written for clients.
    pub(crate) archives: Arc<Semaphore>,
    /// The last files that the sweep of files has looked at: of the table, and of the store.
    pub(crate) swept_files: Position<(String, Option<Blob>)>,
    /// The last quiz of which the attempts that ended by themselves were collected.
    pub(crate) collected: Position<String>,
    /// The clock by which things are old enough to be removed.
    pub(crate) trusted_clock: TrustedClock,
}

impl From<Arc<Inner>> for Node {
    fn from(inner: Arc<Inner>) -> Self {
        Self(inner)
    }
}

impl Deref for Node {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl Node {
    /// The present instant.
    pub fn now(&self) -> DateTime<Utc> {
        self.dispatcher.shared().clock.now()
    }

    /// Returns a steady instant, to measure ages with.
    pub(crate) fn steady(&self) -> DateTime<Utc> {
        self.dispatcher.shared().clock.steady()
    }

    /// Returns the instant that decides whether rows are old enough to be removed.
    pub(crate) fn aged(&self) -> DateTime<Utc> {
        self.trusted_clock.now(&*self.dispatcher.shared().clock)
    }

    /// The sessions.
    pub fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// Returns a weak reference to the node.
    pub(crate) fn downgrade(&self) -> Weak<Inner> {
        Arc::downgrade(&self.0)
    }
}

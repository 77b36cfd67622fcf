//! Load shedding: the one place that refuses requests because there are too many of them.
//!
//! Two rules hold. Each [`Class`] of requests has places that run at once and a short queue; what finds no room in it
//! is refused at once, because an answer that comes too late is work done for nobody. And nobody sends more in a
//! second than a person or a polite program does: accounts are counted for themselves, strangers by their network.
//! Both are asked before the session is looked up in the database and before the body is read. What is refused here
//! is counted and told in the log once for each cause, but is not in the audit log: a flood must not fill the disk.

mod door;
mod held_time;
mod known_large;
mod lane;
pub(crate) mod rate;
mod request_permit;
mod shares;
mod turn;

use std::hash::{BuildHasher as _, Hash, RandomState};
use std::net::IpAddr;
use std::num::NonZero;
use std::thread::available_parallelism;
use std::time::Duration;

use axum::response::Response;
use chrono::{DateTime, Utc};
use entity_core::Error;
use entity_core::engine::Origin;

use crate::base::capacity::Capacity;
use crate::base::class::{Class, PerClass};
use crate::base::config::{Config, Network, RateSubject};
use crate::base::error::{self, ErrorContext};
use crate::base::metrics::{Metrics, MetricsRegistry};
use crate::base::network::network;
use crate::base::telemetry;

pub(crate) use door::{AdmittedRequest, Sender};
pub(crate) use lane::{Lane, Permit};
pub(crate) use rate::RateLimitState;
pub(crate) use request_permit::RequestPermit;
pub(crate) use shares::ClientKey;
pub(crate) use turn::WriteTurns;

use known_large::KnownLarge;
use rate::RateLimits;
use request_permit::Large;
use shares::Limits;

/// The number of requests that wait at most that have read much.
const LARGE_QUEUE: usize = 8;
/// The number of long texts that wait: those of all accounts, and those of one.
const TEXTS: (usize, usize) = (64, 16);
/// The time for which a login waits for its turn at most.
const LOGIN_WAIT: Duration = Duration::from_secs(1);

/// Lets requests in.
#[derive(Debug)]
pub(crate) struct Admission {
    lanes: PerClass<Lane>,
    known: KnownLarge,
    rates: RateLimits,
    exempt: Vec<Network>,
    keys: RandomState,
    metrics: Metrics,
}

/// The requests of a batch, as rate limits count them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Units {
    /// Requests that only read.
    pub(crate) reads: usize,
    /// Requests that may change something.
    pub(crate) writes: usize,
}

/// A request that was refused because its sender sends too many.
pub(crate) struct RateLimited {
    pub(crate) error: Error,
    pub(crate) state: RateLimitState,
}

impl RateLimited {
    /// Answers it, with the state of the limit.
    pub(crate) fn respond(self, context: &ErrorContext) -> Response {
        let mut response = error::refuse(&self.error, context);
        self.state.tell(response.headers_mut());
        response
    }
}

impl Admission {
    /// As `config` says.
    pub(crate) fn new(config: &Config, figures: &MetricsRegistry) -> Self {
        let metrics = figures.metrics();
        let lanes = PerClass::of(|it| Lane::new(it, limits(it, config), metrics.clone()));
        for class in Class::ALL.iter().copied() {
            let (running, waiting) = (lanes.get(class).clone(), lanes.get(class).clone());
            let [run, wait] = names(class);
            figures.register_gauge(run, "Requests of this class that run", move || {
                count(running.running())
            });
            figures.register_gauge(wait, "Requests of this class that wait", move || {
                count(waiting.waiting())
            });
        }
        Self {
            lanes,
            known: KnownLarge::new(),
            rates: RateLimits::of(&config.rate),
            exempt: config.rate.exempt.clone(),
            keys: RandomState::new(),
            metrics: metrics.clone(),
        }
    }

    /// The places of this class.
    pub(crate) fn lane(&self, class: Class) -> &Lane {
        self.lanes.get(class)
    }

    /// Where large answers are made.
    fn large(&self) -> Large {
        Large {
            lane: self.lane(Class::Large).clone(),
            known: self.known.clone(),
        }
    }

    /// The account with this id.
    pub(crate) fn account(&self, id: &str) -> ClientKey {
        ClientKey::group(self.key("account", id))
    }

    /// The network of `address`.
    pub(crate) fn network(&self, address: IpAddr) -> ClientKey {
        ClientKey {
            is_exempt: self.exempt.iter().any(|it| it.contains(address)),
            ..ClientKey::group(self.key("network", network(address)))
        }
    }

    /// The sender of a request of `origin`: the account or, without one, the network.
    fn sender(&self, origin: &Origin) -> ClientKey {
        match &origin.caller.user {
            Some(user) => self.account(&user.id),
            None => self.network(origin.address),
        }
    }

    /// Somebody called `name` who logs in from `address`.
    pub(crate) fn login(&self, name: &str, address: IpAddr) -> ClientKey {
        ClientKey {
            member: Some(self.key("name", name.trim().to_lowercase())),
            ..self.network(address)
        }
    }

    /// New passwords, whoever sets them: each for itself.
    pub(crate) fn new_password(&self) -> ClientKey {
        ClientKey {
            member: Some(rand::random()),
            ..ClientKey::group(self.key("new password", ()))
        }
    }

    /// Counts so many requests of each class.
    fn count(
        &self,
        requests: &[(Class, usize)],
        account: Option<ClientKey>,
        network: ClientKey,
        now: DateTime<Utc>,
    ) -> Result<Option<RateLimitState>, Box<RateLimited>> {
        let (subject, who) = match account {
            Some(account) => (RateSubject::Account, account),
            None => (RateSubject::Network, network),
        };
        if who.is_exempt {
            return Ok(None);
        }
        let taken = self.rates.take((subject, who.group), requests, now);
        taken.map_err(|limited| {
            let reason = subject.reason();
            self.metrics.refused(reason);
            tracing::warn!(
                cause.id = telemetry::cause_id(reason),
                reason = reason.name(),
                "rate limit exceeded"
            );
            Box::new(limited)
        })
    }

    fn key(&self, what: &str, which: impl Hash) -> u64 {
        self.keys.hash_one((what, which))
    }
}

#[cfg(test)]
impl Admission {
    /// As if nothing were configured.
    pub(crate) fn for_tests() -> std::sync::Arc<Self> {
        Self::new(&Config::with(&[]), &MetricsRegistry::default()).into()
    }
}

/// After how many seconds somebody may come back who finds no room: not all at the same time.
pub(crate) fn later() -> u32 {
    rand::random_range(1..=3)
}

fn names(class: Class) -> [&'static str; 2] {
    match class {
        Class::Read => ["running_reads", "queued_reads"],
        Class::Scan => ["running_scans", "queued_scans"],
        Class::Write => ["running_writes", "queued_writes"],
        Class::Login => ["running_logins", "queued_logins"],
        Class::Large => ["running_large", "queued_large"],
        Class::Upload => ["running_uploads", "queued_uploads"],
        Class::Turn => ["running_turns", "queued_turns"],
        Class::Text => ["running_texts", "queued_texts"],
        Class::Stream => ["event_streams", "queued_streams"],
    }
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The number of a class that run and wait, unless the configuration says otherwise. Reads are more than there are
/// connections to read from, because their answers are written too; scans leave connections to lists; writes
/// are prepared beside each other although only one is written at a time; large answers and long texts leave processors
/// to the others.
fn limits(class: Class, config: &Config) -> Limits {
    let cores = available_parallelism().map_or(1, NonZero::get);
    let capacity = Capacity::of(config);
    let given = |given: Option<usize>, default| given.unwrap_or(default);
    let places = match class {
        Class::Read => given(config.admission.reads, cores.saturating_mul(4).max(8)),
        Class::Scan => capacity.searches,
        Class::Write => capacity.writes,
        Class::Login => given(config.admission.logins, cores.saturating_mul(2)),
        Class::Large => given(config.admission.large, cores.div_ceil(2)),
        Class::Upload => config.admission.uploads,
        Class::Turn => 1,
        Class::Text => (cores / 2).max(1),
        Class::Stream => config.limits.connections / 4,
    };
    let queue = match class {
        // Whoever waits has read what is to be answered, and has it in memory.
        Class::Large => config.admission.queue.min(LARGE_QUEUE),
        // Whoever waits has a place for writes, or works for the service.
        Class::Turn => usize::MAX,
        Class::Text => TEXTS.0,
        Class::Stream => 0,
        _ => config.admission.queue,
    };
    let most = places.saturating_sub(places.div_ceil(4)).max(1);
    let part = |parts: usize| queue.div_ceil(parts);
    let (of_group, of_member) = match class {
        // A whole campus may log in from one address; each name of it is tried once at a time.
        Class::Login => ((most, queue.saturating_sub(part(4)).max(1)), (1, part(8))),
        // One is written at a time: who holds the right for long keeps no more than one place meanwhile. A handful of slow
        // senders leaves places to everybody else.
        Class::Write | Class::Upload => {
            let few = places.div_ceil(8);
            ((few, part(4)), (few, part(4)))
        }
        Class::Turn => ((1, queue), (1, queue)),
        // One that sends many texts waits for itself, and not others for it.
        Class::Text => ((1, TEXTS.1), (1, TEXTS.1)),
        Class::Stream => (
            (config.limits.event_streams, 0),
            (config.limits.event_streams, 0),
        ),
        _ => ((most, part(4)), (most, part(4))),
    };
    Limits {
        places,
        queue,
        wait: match class {
            Class::Login => config.admission.wait.max(LOGIN_WAIT),
            // The deadline of the request ends it.
            Class::Turn | Class::Text => Duration::MAX,
            _ => config.admission.wait,
        },
        of_group,
        of_member,
        counts_time: class == Class::Turn,
    }
}

//! Aggregates refused anonymous requests: the first ones of a network in each minute get a row each, the further ones
//! are counted.
//!
//! A refused anonymous request costs the service next to nothing, but a row for each would fill the disk. The number of
//! rows does not depend on the number of requests: the rows that count are told apart by network, by method, by status
//! and by the place of the service that was asked for.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use chrono::{DateTime, Utc};
use entity_core::Caller;
use entity_core::engine::{Origin, ReadBudget};
use tokio::time::Instant;

use super::AuditRow;
use crate::base::network::network;

/// The time for which requests are counted before the counts are stored.
const WINDOW: Duration = Duration::from_mins(1);
/// The maximum number of networks, and of kinds of requests, that are told apart in this time.
const TOLD_APART: usize = 4096;
/// The methods that are told apart.
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/// The address under which all further networks are counted.
const ANYWHERE: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

/// Counts requests that strangers sent in vain.
#[derive(Debug)]
pub(super) struct AnonymousAggregator {
    /// The number of requests of a network that get a row each.
    free: usize,
    /// The places of the service, the longest first.
    places: Vec<String>,
    /// The time of the first request that counts, since the counts were last stored.
    since: Option<Instant>,
    networks: HashMap<IpAddr, usize>,
    counts: HashMap<Kind, Count>,
}

/// Requests that are counted together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Kind {
    network: IpAddr,
    method: &'static str,
    /// The index of the place, if it is one.
    place: Option<usize>,
    status: u16,
}

#[derive(Clone, Copy, Debug)]
struct Count {
    times: u64,
    last: DateTime<Utc>,
}

impl AnonymousAggregator {
    /// Makes an aggregator of the requests behind the first `free` ones of a network.
    pub(super) fn new(free: usize, mut places: Vec<String>) -> Self {
        places.sort_by_key(|it| std::cmp::Reverse(it.len()));
        Self {
            free,
            places,
            since: None,
            networks: HashMap::new(),
            counts: HashMap::new(),
        }
    }

    /// Counts `row`, or gives it back if it is stored as it is.
    pub(super) fn aggregate(&mut self, row: AuditRow, now: Instant) -> Option<AuditRow> {
        let is_in_vain = (400..500).contains(&row.status);
        if !is_in_vain || !row.origin.caller.is_anonymous() {
            return Some(row);
        }
        self.since.get_or_insert(now);
        let mut network = network(row.origin.address);
        if self.networks.len() >= TOLD_APART && !self.networks.contains_key(&network) {
            network = ANYWHERE;
        }
        let seen = self.networks.entry(network).or_default();
        *seen = seen.saturating_add(1);
        if *seen <= self.free {
            return Some(row);
        }
        let mut kind = Kind {
            network,
            method: method(&row.origin.method),
            place: self.place(&row.origin.path),
            status: row.status,
        };
        if self.counts.len() >= TOLD_APART && !self.counts.contains_key(&kind) {
            kind = Kind {
                network: ANYWHERE,
                method: "*",
                place: None,
                ..kind
            };
        }
        let count = self.counts.entry(kind).or_insert(Count {
            times: 0,
            last: row.time,
        });
        count.times = count.times.saturating_add(row.times);
        count.last = row.time;
        None
    }

    /// Returns the time until the counts are to be stored.
    pub(super) fn until_due(&self, now: Instant) -> Duration {
        match self.since {
            Some(since) => WINDOW.saturating_sub(now.saturating_duration_since(since)),
            None => WINDOW,
        }
    }

    /// Returns the rows of the counts, if they are due or `is_everything` wanted.
    pub(super) fn counted(&mut self, is_everything: bool, now: Instant) -> Vec<AuditRow> {
        let is_due = self.until_due(now).is_zero();
        if is_due {
            self.since = None;
            self.networks.clear();
        }
        if !is_due && !is_everything {
            return Vec::new();
        }
        let counts: Vec<_> = self.counts.drain().collect();
        let rows = counts
            .into_iter()
            .map(|(kind, count)| self.row(&kind, count));
        rows.collect()
    }

    fn row(&self, kind: &Kind, count: Count) -> AuditRow {
        let place = kind.place.and_then(|it| self.places.get(it));
        AuditRow {
            time: count.last,
            origin: Origin {
                caller: Caller::anonymous(),
                address: kind.network,
                request_id: "counted".into(),
                method: kind.method.into(),
                path: format!("{}/*", place.map_or("", String::as_str)).into(),
                read_budget: ReadBudget::default(),
            },
            status: kind.status,
            times: count.times,
        }
    }

    fn place(&self, path: &str) -> Option<usize> {
        let is_below = |place: &String| {
            path.strip_prefix(place.as_str())
                .is_some_and(|it| it.is_empty() || it.starts_with(['/', '.']))
        };
        self.places.iter().position(is_below)
    }
}

fn method(name: &str) -> &'static str {
    METHODS.into_iter().find(|it| *it == name).unwrap_or("*")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(address: &str, path: &str, status: u16) -> AuditRow {
        AuditRow {
            time: DateTime::<Utc>::UNIX_EPOCH,
            origin: Origin {
                caller: Caller::anonymous(),
                address: address.parse().unwrap(),
                request_id: "r".into(),
                method: "GET".into(),
                path: path.into(),
                read_budget: ReadBudget::default(),
            },
            status,
            times: 1,
        }
    }

    fn strangers() -> AnonymousAggregator {
        let places = ["/direct", "/direct/site", "/api"];
        AnonymousAggregator::new(2, places.map(ToOwned::to_owned).into())
    }

    #[test]
    fn log_3_the_sum_over_all_rows_is_the_number_of_requests() {
        let mut strangers = strangers();
        let now = Instant::now();
        let mut stored = Vec::new();
        for number in 0..1_000 {
            let path = format!("/direct/site/{number}.json");
            for (path, status) in [
                (&*path, 401),
                (&*format!("/{number}"), 404),
                ("/direct", 200),
            ] {
                stored.extend(strangers.aggregate(row("2001:db8::1", path, status), now));
            }
        }
        assert_eq!(
            stored.len(),
            1_002,
            "two of the network, and all that were answered"
        );
        assert_eq!(
            strangers.counted(false, now).len(),
            0,
            "not before the minute is over"
        );
        let now = now + WINDOW;
        let counted = strangers.counted(false, now);
        let mut told: Vec<_> = counted
            .iter()
            .map(|it| (&*it.origin.path, it.status, it.times))
            .collect();
        told.sort_unstable();
        assert_eq!(told, [("/*", 404, 999), ("/direct/site/*", 401, 999)]);
        assert!(
            strangers
                .aggregate(row("2001:db8::3", "/", 404), now)
                .is_some(),
            "a new minute"
        );
    }

    #[test]
    fn the_rows_are_as_few_whatever_strangers_send() {
        let mut strangers = strangers();
        let now = Instant::now();
        let mut rows = 0;
        for number in 0..20_000_u32 {
            for status in [401, 404] {
                let address = Ipv4Addr::from(number).to_string();
                for path in ["/direct", "/api"] {
                    rows += usize::from(
                        strangers
                            .aggregate(row(&address, path, status), now)
                            .is_some(),
                    );
                }
            }
        }
        rows += strangers.counted(true, now).len();
        assert!(rows <= TOLD_APART * 4, "{rows}");
    }
}

//! Limits of open connections, in all and for one address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::base::network::network;

/// Lets connections in.
pub(super) struct Admission {
    places: Arc<Semaphore>,
    per_address: usize,
    open: Arc<Open>,
    is_exempt: Box<dyn Fn(IpAddr) -> bool + Send + Sync>,
}

#[derive(Default)]
struct Open(Mutex<HashMap<IpAddr, usize>>);

/// The right to be open. Dropped with the connection.
pub(super) struct Ticket {
    _place: Option<OwnedSemaphorePermit>,
    counted: Option<(Arc<Open>, IpAddr)>,
}

impl Admission {
    pub(super) fn new(
        connections: usize,
        per_address: usize,
        is_exempt: impl Fn(IpAddr) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self {
            places: Arc::new(Semaphore::new(connections.min(Semaphore::MAX_PERMITS))),
            per_address,
            open: Arc::default(),
            is_exempt: Box::new(is_exempt),
        }
    }

    /// Waits until there is room for one more connection.
    pub(super) async fn place(&self) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed; if it were, there would be no limit to keep.
        Arc::clone(&self.places).acquire_owned().await.ok()
    }

    /// Lets a connection from `address` in, unless it has all of its connections already.
    pub(super) fn admit(
        &self,
        place: Option<OwnedSemaphorePermit>,
        address: IpAddr,
    ) -> Option<Ticket> {
        let address = address.to_canonical();
        if address.is_loopback() || (self.is_exempt)(address) {
            return Some(Ticket {
                _place: place,
                counted: None,
            });
        }
        let address = network(address);
        let mut open = self.open.0.lock();
        let count = open.entry(address).or_default();
        if *count >= self.per_address {
            return None;
        }
        *count += 1;
        Some(Ticket {
            _place: place,
            counted: Some((Arc::clone(&self.open), address)),
        })
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let Some((open, address)) = self.counted.take() else {
            return;
        };
        let mut open = open.0.lock();
        match open.get_mut(&address) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(open.remove(&address)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_address_gets_no_more_than_its_share() {
        let admission = Admission::new(10, 2, |_| false);
        let stranger: IpAddr = "192.0.2.1".parse().unwrap();
        let first = admission.admit(admission.place().await, stranger);
        let second = admission.admit(admission.place().await, stranger);
        assert!(first.is_some() && second.is_some());
        assert!(admission.admit(admission.place().await, stranger).is_none());
        assert!(
            admission
                .admit(admission.place().await, "192.0.2.2".parse().unwrap())
                .is_some()
        );
        assert!(
            admission
                .admit(admission.place().await, "127.0.0.1".parse().unwrap())
                .is_some()
        );
        drop(first);
        assert!(admission.admit(admission.place().await, stranger).is_some());
    }

    #[tokio::test]
    async fn an_ipv6_host_can_not_pose_as_many() {
        let admission = Admission::new(10, 1, |_| false);
        let mut tickets = Vec::new();
        for (address, is_admitted) in [
            ("2001:db8::1", true),
            ("2001:db8::ffff:1", false),
            ("2001:db8:0:1::1", true),
            ("192.0.2.1", true),
            ("::ffff:192.0.2.1", false),
            ("::ffff:127.0.0.1", true),
            ("::1", true),
        ] {
            let ticket = admission.admit(admission.place().await, address.parse().unwrap());
            assert_eq!(ticket.is_some(), is_admitted, "{address}");
            tickets.push(ticket);
        }
    }
}

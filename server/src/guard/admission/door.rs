//! A request at the door: its count, and its way in.

use axum::http::Uri;
use chrono::{DateTime, Utc};
use entity_core::{Caller, Result};
use tokio::task::yield_now;

use super::{
    Admission, ClientKey, Lane, Permit, RateLimitState, RateLimited, RequestPermit, Units,
};
use crate::base::address::ClientAddress;
use crate::base::class::Class;

/// A request that was let in. Its place is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct AdmittedRequest {
    class: Class,
    /// The place that it runs on, and the one for whom that is counted.
    permit: RequestPermit,
    network: ClientKey,
    /// For whom its rate is counted, once that is known.
    counted: Option<Counted>,
    lane: Option<Lane>,
}

/// The one whose rate it is: an account or, without one, of the network.
#[derive(Clone, Copy, Debug)]
struct Counted {
    account: Option<ClientKey>,
}

/// The sender of a request, as far as it is known before anything is looked up.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sender<'a> {
    /// The account with this id.
    Account(&'a str),
    /// Somebody who shows nothing.
    Stranger,
    /// Somebody who shows what is not looked at yet.
    Undecided,
}

impl Admission {
    /// Counts a request of this class, which `sender` sends, as far as it is known whose it is. `asked` is its address
    /// if it only reads.
    pub(crate) fn arrive(
        &self,
        class: Class,
        sender: Sender<'_>,
        arrived: &ClientAddress,
        asked: Option<&Uri>,
        now: DateTime<Utc>,
    ) -> Result<(AdmittedRequest, Option<RateLimitState>), Box<RateLimited>> {
        let network = self.network(arrived.address);
        let account = match sender {
            Sender::Account(id) => Some(self.account(id)),
            Sender::Stranger | Sender::Undecided => None,
        };
        let mut admitted = AdmittedRequest {
            class,
            permit: RequestPermit::new(
                account.unwrap_or(network),
                asked.map(|it| self.key("question", it)),
                self.large(),
            ),
            network,
            counted: None,
            lane: None,
        };
        let quota = match sender {
            Sender::Undecided => None,
            _ => admitted.count(self, account, now)?,
        };
        Ok((admitted, quota))
    }
}

impl AdmittedRequest {
    /// Waits for a place; what has a body to be read waits for it [behind that](Self::begin), but is refused here
    /// if it would find no place. Logins have their turn when their name is known.
    pub(crate) async fn enter(&mut self, admission: &Admission, has_body: bool) -> Result<()> {
        let lane = admission.lane(self.class);
        if self.class == Class::Login {
            // Whoever it is, their name was not tried yet.
            let somebody = ClientKey {
                member: Some(0),
                ..self.network
            };
            return lane.check(somebody);
        }
        self.permit.check()?;
        self.lane = Some(lane.clone());
        match has_body {
            true => lane.check(self.permit.who()),
            false => self.begin().await,
        }
    }

    /// Waits for the place, unless it has one.
    pub(crate) async fn begin(&mut self) -> Result<()> {
        if let Some(lane) = self.lane.take() {
            self.permit.sit(lane.enter(self.permit.who()).await?);
            // All others that have come by now are seen before this one runs: what never waits would otherwise run one
            // after the other, and they would wait where nobody counts them.
            yield_now().await;
        }
        Ok(())
    }

    /// Waits for a place among those that send files. It is given back when the result is dropped.
    pub(crate) async fn enter_upload(&self, admission: &Admission) -> Result<Permit> {
        let lane = admission.lane(Class::Upload);
        lane.enter(self.permit.who()).await
    }

    /// Counts it for `caller`, who was not known before.
    pub(crate) fn settle(
        &mut self,
        admission: &Admission,
        caller: &Caller,
        now: DateTime<Utc>,
    ) -> Result<(), Box<RateLimited>> {
        if self.counted.is_some() {
            return Ok(());
        }
        let account = caller.user.as_ref().map(|it| admission.account(&it.id));
        // The place that it waits for behind its body is its account's, not one of those of its network.
        self.permit.settle(account.unwrap_or(self.network));
        self.count(admission, account, now).map(drop)
    }

    /// The place that it runs on. That is left when all of these are dropped.
    pub(crate) fn permit(&self) -> RequestPermit {
        self.permit.clone()
    }

    /// Counts the parts of a batch, one by one. The batch itself was counted as one.
    pub(crate) fn count_parts(
        &self,
        admission: &Admission,
        units: Units,
        now: DateTime<Utc>,
    ) -> Result<(), Box<RateLimited>> {
        let account = self.counted.and_then(|it| it.account);
        let Units { reads, writes } = units;
        let (reads, writes) = match self.class.may_write() {
            true => (reads, writes.saturating_sub(1)),
            false => (reads.saturating_sub(1), writes),
        };
        let further = [(Class::Read, reads), (Class::Write, writes)];
        admission
            .count(&further, account, self.network, now)
            .map(drop)
    }

    fn count(
        &mut self,
        admission: &Admission,
        account: Option<ClientKey>,
        now: DateTime<Utc>,
    ) -> Result<Option<RateLimitState>, Box<RateLimited>> {
        self.counted = Some(Counted { account });
        admission.count(&[(self.class, 1)], account, self.network, now)
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use futures::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn rel_17_all_who_have_come_are_counted_before_one_of_them_runs() {
        let admission = Admission::for_tests();
        let arrived = ClientAddress {
            peer: None,
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            is_secure: false,
        };
        let arrive = || {
            let sender = Sender::Account("a");
            let admitted =
                admission.arrive(Class::Read, sender, &arrived, None, DateTime::UNIX_EPOCH);
            let Ok((admitted, _quota)) = admitted else {
                panic!("nobody sends too many");
            };
            admitted
        };
        let (mut first, mut second) = (arrive(), arrive());
        let mut enters = Box::pin(first.enter(&admission, false));
        assert!(enters.as_mut().now_or_never().is_none());
        assert!(second.enter(&admission, false).now_or_never().is_none());
        assert_eq!(admission.lane(Class::Read).running(), 2);
        enters.await.unwrap();
    }
}

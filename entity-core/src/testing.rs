//! Support for tests of providers: a context with a clock that stands still, and an authorizer with preset answers.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use parking_lot::Mutex;

use crate::contract::access::{Authorizer, Caller, Decision, Scope};
use crate::contract::context::{Clock, Context, Ids, Services, Shared};
use crate::contract::event::Event;
use crate::contract::event_sink::{Audit, EventSink};
use crate::contract::origin::Origin;
use crate::contract::sanitizer::{Sanitized, Sanitizer};
use crate::primitives::error::Result;
use crate::primitives::read_budget::ReadBudget;
use crate::primitives::unit::{NoStore, Unit};

/// A clock that moves only on request. It begins at 2026-11-21T10:00:00Z.
#[derive(Debug)]
pub struct FixedClock(AtomicI64);

impl Default for FixedClock {
    fn default() -> Self {
        Self(AtomicI64::new(1_795_255_200_000))
    }
}

impl FixedClock {
    /// Moves the clock on.
    pub fn advance(&self, by: TimeDelta) {
        self.0.fetch_add(by.num_milliseconds(), Ordering::SeqCst);
    }
}

impl Clock for FixedClock {
    fn now(&self) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(self.0.load(Ordering::SeqCst)).unwrap_or_default()
    }
}

/// A generator of sequential ids: `id-1`, `id-2` …
#[derive(Debug, Default)]
pub struct CountingIds(AtomicU64);

impl Ids for CountingIds {
    fn new_id(&self, _now: DateTime<Utc>) -> String {
        format!("id-{}", self.0.fetch_add(1, Ordering::SeqCst) + 1)
    }
}

/// An authorizer that grants preset functions to every caller.
#[derive(Debug, Default)]
pub struct ToldAuthorizer {
    granted: HashSet<(String, String)>,
    sites: Vec<String>,
    is_superuser: bool,
}

impl ToldAuthorizer {
    /// Grants `function` in `site`.
    #[must_use]
    pub fn grant(mut self, function: &str, site: &str) -> Self {
        self.granted.insert((function.to_owned(), site.to_owned()));
        self.site(site)
    }

    /// Adds the site `site`.
    #[must_use]
    pub fn site(mut self, site: &str) -> Self {
        if !self.sites.iter().any(|it| it == site) {
            self.sites.push(site.to_owned());
        }
        self
    }

    /// Makes every caller a super user.
    #[must_use]
    pub fn superuser(mut self) -> Self {
        self.is_superuser = true;
        self
    }
}

#[async_trait]
impl Authorizer for ToldAuthorizer {
    async fn decide(&self, _cx: &Context, function: &str, site: &str) -> Result<Decision> {
        Ok(match self.sites.iter().any(|it| it == site) {
            false => Decision::UnknownSite,
            true if self.is_superuser
                || self
                    .granted
                    .contains(&(function.to_owned(), site.to_owned())) =>
            {
                Decision::Granted
            }
            true => Decision::Denied,
        })
    }

    async fn holds(&self, _cx: &Context, _function: &str) -> Result<bool> {
        Ok(self.is_superuser)
    }

    async fn is_superuser(&self, _cx: &Context) -> Result<bool> {
        Ok(self.is_superuser)
    }

    async fn scope(&self, _cx: &Context, function: &str) -> Result<Scope> {
        if self.is_superuser {
            return Ok(Scope::Everything);
        }
        let holds = |site: &&String| {
            self.granted
                .contains(&(function.to_owned(), (*site).clone()))
        };
        Ok(Scope::Sites(
            self.sites.iter().filter(holds).cloned().collect(),
        ))
    }

    fn group_members(&self) -> Option<&'static str> {
        Some("group_member")
    }

    /// Returns no group, as if every group were one of every site.
    async fn unknown_group(
        &self,
        _cx: &Context,
        _site: &str,
        _groups: &[String],
    ) -> Result<Option<String>> {
        Ok(None)
    }
}

/// An event sink that keeps the published events.
#[derive(Debug, Default)]
pub struct KeptEvents(Mutex<Vec<Event>>);

impl KeptEvents {
    /// Returns the events published so far.
    pub fn all(&self) -> Vec<Event> {
        self.0.lock().clone()
    }
}

#[async_trait]
impl EventSink for KeptEvents {
    async fn record(&self, _cx: &Context, _events: &[Event], _audit: Audit) -> Result<()> {
        Ok(())
    }

    fn published(&self, events: &[Event]) {
        self.0.lock().extend_from_slice(events);
    }
}

/// A sanitizer that leaves HTML unchanged.
#[derive(Debug)]
pub struct AsItComes;

#[async_trait]
impl Sanitizer for AsItComes {
    fn takes_long(&self, _text: &str) -> bool {
        false
    }

    fn sanitize(&self, html: &str) -> Sanitized {
        Ok(html.to_owned())
    }

    async fn sanitize_apart(&self, _caller: &Caller, html: &str) -> Result<Sanitized> {
        Ok(self.sanitize(html))
    }
}

/// Creates the parts that units of work share in a test: this authorizer, a clock that stands still, sequential ids and
/// a sanitizer that leaves HTML unchanged.
pub fn shared(authorizer: impl Authorizer + 'static) -> Shared {
    Shared {
        clock: Arc::new(FixedClock::default()),
        ids: Arc::new(CountingIds::default()),
        authorizer: Arc::new(authorizer),
        services: Services::default(),
        base_url: Arc::from("http://localhost"),
        answer_bytes: 8 << 20,
        sanitizer: Arc::new(AsItComes),
    }
}

/// Creates the origin of a request of `caller` from the loopback address.
pub fn origin(caller: Caller) -> Origin {
    Origin {
        caller,
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        request_id: "test".into(),
        method: "GET".into(),
        path: "/".into(),
        read_budget: ReadBudget::default(),
    }
}

/// Creates a context of `caller` without a database.
pub fn context(authorizer: impl Authorizer + 'static, caller: Caller) -> Context {
    context_on(Box::new(NoStore), authorizer, caller)
}

/// Creates a context of `caller` on `unit`.
pub fn context_on(
    unit: Box<dyn Unit>,
    authorizer: impl Authorizer + 'static,
    caller: Caller,
) -> Context {
    Context::new(shared(authorizer), origin(caller), unit)
}

/// Creates a database whose readers and writers share `connection`.
#[cfg(feature = "sea-orm")]
pub fn database_on(connection: sea_orm::DatabaseConnection) -> crate::db::Db {
    crate::db::Db {
        reader: connection.clone(),
        writer: connection,
        file: None,
        query_pools: crate::db::QueryPools::default(),
        faults: crate::db::Faults::default(),
        stops: None,
    }
}

//! A running service, as its requests see it.

use std::ops::Deref;
use std::sync::{Arc, OnceLock, Weak};

use entity_core::format::Formats;
use entity_formats::openapi::Document;
use tokio::sync::Semaphore;

use crate::guard::admission::Admission;
use crate::guard::audit::AuditLog;
use crate::guard::auth::login::Login;
use crate::guard::auth::password::Passwords;
use crate::guard::csrf::CsrfOptions;
use crate::guard::rate_limiter::RateLimiter;
use crate::guard::session::SessionCookie;
use crate::operate::node::Node;
use crate::web::answers::ResponseBudget;
use crate::web::api::Endpoints;
use crate::web::descriptions::Descriptions;
use crate::web::direct::upload::Underway;

/// A running service. Cloning it is cheap; all clones are the same service.
#[derive(Clone, Debug)]
pub struct App(Arc<Inner>);

/// The parts of a service, besides those of its [node](Node).
#[derive(derive_more::Debug)]
#[debug("Inner {{ node: {:?} }}", self.node)]
pub struct Inner {
    /// The node.
    pub(crate) node: Node,
    /// The endpoints of `/api`.
    pub endpoints: Arc<Endpoints>,
    /// The formats it speaks.
    pub formats: Arc<Formats>,
    /// The OpenAPI document, once somebody has asked for it.
    pub(crate) description: OnceLock<Document>,
    /// The same as it was written.
    pub(crate) descriptions: Descriptions,
    /// Logs people in and out.
    pub login: Login,
    /// Hashes passwords.
    pub passwords: Passwords,
    /// The session cookie.
    pub cookie: SessionCookie,
    /// Takes the audit rows of reads.
    pub audit: AuditLog,
    /// The memory that large answers share.
    pub(crate) answers: ResponseBudget,
    /// Limits and queues requests.
    pub(crate) admission: Arc<Admission>,
    /// Limits the rate of reads of each private feed.
    pub(crate) feed_limiter: RateLimiter,
    /// The places of answers that are made piece by piece while they are sent.
    pub(crate) streams: Arc<Semaphore>,
    /// The bytes of uploads under way.
    pub(crate) underway: Underway,
    pub(crate) csrf: CsrfOptions,
}

impl From<Arc<Inner>> for App {
    fn from(inner: Arc<Inner>) -> Self {
        Self(inner)
    }
}

impl From<Inner> for App {
    fn from(inner: Inner) -> Self {
        Self(Arc::new(inner))
    }
}

impl Deref for App {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl Deref for Inner {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.node
    }
}

impl App {
    /// Returns a weak reference to the service.
    pub(crate) fn downgrade(&self) -> Weak<Inner> {
        Arc::downgrade(&self.0)
    }
}

//! The sender of a request.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;

use crate::contract::access::Caller;
use crate::primitives::read_budget::ReadBudget;

/// The sender of a request and the way by which it came in, as the audit log records it. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The caller on whose behalf the request runs.
    pub caller: Caller,
    /// The network address that the request came from.
    pub address: IpAddr,
    /// The request's id in logs and in error bodies.
    pub request_id: Arc<str>,
    /// The effective method, after any override.
    pub method: Cow<'static, str>,
    /// The path without its query.
    pub path: Arc<str>,
    /// The counter of the data that was read for the reply.
    pub read_budget: ReadBudget,
}

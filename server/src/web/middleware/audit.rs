//! Marks of an answer for the audit log.

use http::StatusCode;

/// Marks an answer whose audit row was committed together with what it did.
#[derive(Clone, Copy, Debug)]
pub struct Audited;

/// The status for the audit log of an answer whose own one does not say the outcome of the request.
#[derive(Clone, Copy, Debug)]
pub struct AuditedAs(pub StatusCode);

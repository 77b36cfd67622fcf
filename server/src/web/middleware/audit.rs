//! Marks of an answer for the audit log.

use http::StatusCode;

/// Marks an answer whose audit row was committed together with what it did.
#[derive(Clone, Copy, Debug)]
pub struct Audited;

/// The status that the audit log is told of an answer whose own one does not say what became of the request.
#[derive(Clone, Copy, Debug)]
pub struct AuditedAs(pub StatusCode);

//! The mark of answers that are in the audit log already.

/// Marks an answer whose audit row was committed together with what it did.
#[derive(Clone, Copy, Debug)]
pub struct Audited;

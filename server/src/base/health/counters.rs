//! Counters of failures, for those who monitor the service.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::base::telemetry;

/// The counters of failures since the service started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// The number of times that a task in the background failed and was started again.
    pub restarts: u64,
    /// The number of requests that were refused because the audit log had no room for them.
    pub audit_refused: u64,
    /// The number of audit rows that were left out because there was no room for them.
    pub audit_lost: u64,
    /// The number of log lines that were counted instead of written, because too many were like them.
    pub lines_repeated: u64,
    /// The number of log lines that could not be written.
    pub lines_lost: u64,
}

/// The same while it is counted.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) restarts: AtomicU64,
    pub(super) audit_refused: AtomicU64,
    pub(super) audit_lost: AtomicU64,
}

impl Counts {
    pub(super) fn read(&self) -> Counters {
        let lines = telemetry::lines();
        Counters {
            restarts: self.restarts.load(Ordering::Relaxed),
            audit_refused: self.audit_refused.load(Ordering::Relaxed),
            audit_lost: self.audit_lost.load(Ordering::Relaxed),
            lines_repeated: lines.repeated,
            lines_lost: lines.lost,
        }
    }
}

//! File descriptors: the limit of the process, and the connections for which that leaves room: those of clients, and those
//! to the database.
//!
//! Each connection takes one, and so do the files of the database. Without a reserve for these, clients who only hold
//! connections would make reads and writes of all others fail.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::base::capacity::Capacity;
use crate::base::config::Config;

/// The number of files the service itself may need at least: databases, their connections, the log, and listeners.
const RESERVE: usize = 128;
/// The number of these that have nothing to do with the database.
const OTHERS: usize = 16;

/// Raises the limit of open files to what `config` asks for, as far as that is allowed. Where it is not, `config` then
/// asks for fewer connections, and the log says so.
pub(crate) fn provide(config: &mut Config) {
    let (clients, capacity) = (config.limits.connections, Capacity::of(config));
    let needed = clients.saturating_add(reserve(capacity));
    let files = raise(u64::try_from(needed).unwrap_or(u64::MAX));
    let (allowed, within) = plan(
        clients,
        capacity,
        usize::try_from(files).unwrap_or(usize::MAX),
    );
    if allowed < clients {
        tracing::warn!(
            "only {allowed} connections may be open instead of {clients}, because the process may have {files} files \
             open: raise its limit (`ulimit -n`) to {needed} or lower `limits.connections`"
        );
    }
    if within != capacity {
        tracing::warn!(
            "only {} and {} connections read from the database instead of {} and {} (`pool.readers`, `pool.scans`), and \
             {} searches run at once, because the process may have {files} files open: raise its limit (`ulimit -n`) to \
             {needed}",
            within.readers,
            within.scans,
            capacity.readers,
            capacity.scans,
            within.searches,
        );
        within.tell(config);
    }
    config.limits.connections = allowed;
}

/// Returns the number of files the service itself may need.
fn reserve(capacity: Capacity) -> usize {
    capacity.files().saturating_add(OTHERS).max(RESERVE)
}

/// The connections of so many `clients` that there may be, and those to the database, if so many files may be open.
fn plan(clients: usize, capacity: Capacity, files: usize) -> (usize, Capacity) {
    // Where files are few, the service does with fewer, but connections have what is left of them.
    let few = RESERVE.min(files / 4 * 3);
    let own = reserve(capacity).min(few.max(files / 4));
    let clients = clients.min(files.saturating_sub(own)).max(1);
    (clients, capacity.within_files(own.saturating_sub(OTHERS)))
}

/// Raises the limit to `needed` if it is lower; answers the limit that holds then.
fn raise(needed: u64) -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let (soft, hard) = (
        limit.current.unwrap_or(u64::MAX),
        limit.maximum.unwrap_or(u64::MAX),
    );
    if soft >= needed {
        return soft;
    }
    let raised = needed.min(hard).max(soft);
    let done = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: Some(raised),
            ..limit
        },
    );
    match done {
        Ok(()) => raised,
        Err(_refused) => soft,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_service_keeps_files_for_itself() {
        let config = Config::with(&[]);
        let capacity = Capacity::on(2, &config);
        for (wanted, files, expected) in [
            (12_000, 20_000, 12_000),
            (12_000, 12_128, 12_000),
            (12_000, 4_096, 3_968),
            (12_000, 1_024, 896),
            (12_000, 64, 16),
            (8, 64, 8),
            (12_000, 0, 1),
        ] {
            let (clients, within) = plan(wanted, capacity, files);
            assert_eq!(clients, expected, "{wanted} of {files}");
            assert_eq!(within == capacity, files >= 1_024, "{files}");
            // There are never fewer than two of each.
            let taken = clients + within.files() + OTHERS;
            assert!(taken <= files || files < 64, "{taken} of {files}");
        }
        let large = Capacity::on(64, &config);
        assert!(large.files() > RESERVE);
        assert_eq!(plan(12_000, large, 65_536), (12_000, large));
        let (clients, within) = plan(12_000, large, 4_096);
        assert!(within == large && clients + large.files() + OTHERS <= 4_096);
        let (clients, within) = plan(12_000, large, 1_024);
        assert!(within.scans < large.scans && within.searches < within.scans);
        assert!(clients + within.files() + OTHERS <= 1_024);
    }
}

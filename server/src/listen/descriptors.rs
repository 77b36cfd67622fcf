//! How many files the process may have open, and how many connections that leaves room for.
//!
//! Each connection takes one, and so do the files of the database. Without a reserve for these, clients who only hold
//! connections would make reads and writes of all others fail.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// How many files the service itself may need: databases, their connections, the log, and listeners.
const RESERVE: u64 = 128;

/// Raises the limit of open files to what so many connections need, as far as that is allowed; answers how many
/// connections there may be, and says so if it is fewer.
pub fn provide(connections: usize) -> usize {
    let wanted = u64::try_from(connections).unwrap_or(u64::MAX);
    let files = raise(wanted.saturating_add(RESERVE));
    let allowed = allowed(wanted, files);
    if allowed < wanted {
        tracing::warn!(
            "only {allowed} connections may be open instead of {wanted}, because the process may have {files} files \
             open: raise its limit (`ulimit -n`) to {} or lower `limits.connections`",
            wanted.saturating_add(RESERVE)
        );
    }
    usize::try_from(allowed).unwrap_or(connections)
}

/// How many of the `wanted` connections there may be if so many files may be open.
fn allowed(wanted: u64, files: u64) -> u64 {
    // Where files are few, the service does with fewer, but connections have what is left of them.
    let reserve = RESERVE.min(files / 4 * 3);
    wanted.min(files.saturating_sub(reserve)).max(1)
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
        for (wanted, files, expected) in [
            (12_000, 20_000, 12_000),
            (12_000, 12_128, 12_000),
            (12_000, 4_096, 3_968),
            (12_000, 1_024, 896),
            (12_000, 64, 16),
            (8, 64, 8),
            (12_000, 0, 1),
        ] {
            assert_eq!(allowed(wanted, files), expected, "{wanted} of {files}");
        }
    }
}

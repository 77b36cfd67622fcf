//! The memory that the service may have, and its plan where that is little.
//!
//! The defaults fit into half a gigabyte, whatever clients ask for at once. A container with less would be killed, and
//! everybody's work with it; so large answers become smaller there, and fewer requests run at once.

use std::fs;
use std::path::{Path, PathBuf};

use crate::base::capacity::Capacity;
use crate::base::config::Config;

/// The memory that the defaults are made for.
const USUAL: u64 = 512 << 20;
/// The least that is planned with: below that, the service itself has no room.
const LEAST: u64 = 64 << 20;
/// The memory of which a login may have a place: the hash of its password takes 19 MiB, which are given back a while later.
const LOGIN: usize = 192 << 20;
/// The paths of control groups, of their first version and of their second, and the names of their limits.
const GROUPS: [(&str, &str); 2] = [
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
    ("/sys/fs/cgroup", "memory.max"),
];

/// Returns whether there is less than the defaults are made for.
pub(crate) fn is_scarce() -> bool {
    scarce().is_some()
}

/// The memory that there is, if it is less than the defaults are made for.
fn scarce() -> Option<u64> {
    available().filter(|it| *it < USUAL)
}

/// Lets `config` ask for no more than the memory that there is has room for, and says so if that is less than it says.
pub(crate) fn fit(config: &mut Config) {
    let Some(bytes) = scarce() else {
        return;
    };
    if shrink(config, bytes) {
        tracing::warn!(
            "there are only {} MiB of memory: answers take up to {} KiB and together {} MiB, {} reads, {} searches and {} logins \
             run at once, and {} and {} connections read from the database",
            bytes >> 20,
            config.limits.answer_bytes.0 >> 10,
            config.limits.answer_memory.0 >> 20,
            config.admission.reads.unwrap_or_default(),
            config.admission.scans.unwrap_or_default(),
            config.admission.logins.unwrap_or_default(),
            config.pool.readers.unwrap_or_default(),
            config.pool.scans.unwrap_or_default(),
        );
    }
}

/// Lowers the limits of `config` to those for which `bytes` of memory have room; answers whether any is lower than before.
fn shrink(config: &mut Config, bytes: u64) -> bool {
    let Config {
        limits, admission, ..
    } = config;
    let bytes = usize::try_from(bytes.max(LEAST)).unwrap_or(usize::MAX);
    let lower = |limit: &mut usize, most: usize| {
        let is_lower = *limit > most;
        *limit = most.min(*limit);
        is_lower
    };
    let mut is_lower = lower(&mut limits.answer_bytes.0, bytes / 128);
    is_lower |= lower(&mut limits.answer_memory.0, bytes / 8);
    for (limit, most) in [
        (&mut admission.reads, bytes / (64 << 20)),
        (&mut admission.logins, bytes / LOGIN),
    ] {
        is_lower |= lower(limit.get_or_insert(usize::MAX), most.max(1));
    }
    let capacity = Capacity::of(config);
    let within = capacity.within_memory(bytes);
    within.tell(config);
    is_lower || within != capacity
}

/// The memory of the machine, or of the control group of this process if that is less.
fn available() -> Option<u64> {
    let read = |path: &Path| fs::read_to_string(path).ok();
    let machine = read(Path::new("/proc/meminfo")).and_then(|it| of_machine(&it));
    let groups = read(Path::new("/proc/self/cgroup")).unwrap_or_default();
    machine.into_iter().chain(of_groups(&groups, read)).min()
}

/// The memory of the machine, as `/proc/meminfo` tells it.
fn of_machine(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|it| it.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// The lowest limit of the groups that `/proc/self/cgroup` tells, and of those around them. In a container the root of
/// what is mounted may be the group itself.
fn of_groups(text: &str, read: impl Fn(&Path) -> Option<String>) -> Option<u64> {
    let mut limits = Vec::new();
    for line in text.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        let (root, file) = match controllers {
            "" => GROUPS[1],
            it if it.split(',').any(|it| it == "memory") => GROUPS[0],
            _ => continue,
        };
        let own = PathBuf::from(path);
        for group in own.ancestors() {
            let inner = group.strip_prefix("/").unwrap_or(group);
            let told = read(&Path::new(root).join(inner).join(file));
            limits.extend(told.and_then(|it| it.trim().parse::<u64>().ok()));
        }
    }
    limits.into_iter().min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_limit_of_all_groups_holds() {
        let read = |path: &Path| {
            let text = match path.to_str()? {
                "/sys/fs/cgroup/memory/a/memory.limit_in_bytes" => "300",
                "/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes" => "9223372036854771712",
                "/sys/fs/cgroup/memory.max" | "/sys/fs/cgroup/d/memory.max" => "max\n",
                "/sys/fs/cgroup/d/e/memory.max" => "200\n",
                _ => return None,
            };
            Some(text.to_owned())
        };
        for (text, expected) in [
            ("5:cpu:/x\n4:memory:/a/b\n0::/none", Some(300)),
            ("0::/d/e\n", Some(200)),
            ("0::/d\n", None),
            ("4:hugetlb,memory:/a\n0::/d/e", Some(200)),
            ("", None),
            ("nonsense", None),
        ] {
            assert_eq!(of_groups(text, read), expected, "{text}");
        }
        assert_eq!(
            of_machine("MemTotal:       12 kB\nMemFree: 1 kB"),
            Some(12_288)
        );
    }

    #[test]
    fn little_memory_lowers_what_is_asked_for_and_raises_nothing() {
        let mut config = Config::with(&[("limits.answerBytes", "1MiB"), ("admission.reads", "2")]);
        assert!(shrink(&mut config, 256 << 20));
        assert_eq!(config.limits.answer_bytes.0, 1 << 20);
        assert_eq!(config.limits.answer_memory.0, 32 << 20);
        assert_eq!(
            (config.admission.reads, config.admission.scans),
            (Some(2), Some(2))
        );
        assert!(!shrink(&mut config, 256 << 20));
        assert!(shrink(&mut config, 0));
        assert_eq!(
            (config.admission.reads, config.admission.scans),
            (Some(1), Some(1))
        );
        assert_eq!(config.admission.logins, Some(1));
    }
}

//! A limit of memory, as containers have it: a control group of Linux, of its first or second version.
//!
//! It takes root. Where no group can be made, the tests say so in a line and do nothing, unless `REQUIRE_FAULTS` demands
//! them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::fault::skip;

const FIRST: &str = "/sys/fs/cgroup/memory";
const SECOND: &str = "/sys/fs/cgroup";

static NUMBER: AtomicUsize = AtomicUsize::new(0);

/// A group of processes. It is gone when this is dropped, by when its processes must have ended.
#[derive(Debug)]
pub struct MemoryGroup {
    folder: PathBuf,
    is_first: bool,
}

impl MemoryGroup {
    /// One whose processes may have this many bytes together; `None` where this process may not make any.
    pub fn new(bytes: u64) -> Option<Self> {
        let is_first = Path::new(FIRST).join("memory.limit_in_bytes").exists();
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("lectern-test-{}-{number}", process::id());
        let folder = Path::new(if is_first { FIRST } else { SECOND }).join(name);
        let group = Self { folder, is_first };
        if !is_first {
            // Groups below the root have a limit only if it says so.
            drop(fs::write(
                Path::new(SECOND).join("cgroup.subtree_control"),
                "+memory",
            ));
        }
        if fs::create_dir(&group.folder).is_err() || !group.limit(bytes) {
            skip("a control group for memory can't be made here");
            return None;
        }
        Some(group)
    }

    fn limit(&self, bytes: u64) -> bool {
        let limits = match self.is_first {
            true => ["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"],
            false => ["memory.max", "memory.swap.max"],
        };
        let swap = if self.is_first { bytes } else { 0 };
        let set = |file: &str, value: u64| fs::write(self.folder.join(file), value.to_string());
        let is_limited = set(limits[0], bytes).is_ok();
        // Not every kernel counts what is swapped.
        drop(set(limits[1], swap));
        is_limited
    }

    /// A program in `folder` that becomes `program` in this group, from its first byte of memory on.
    ///
    /// # Panics
    /// It can't be written.
    pub fn enter(&self, program: &Path, folder: &Path) -> PathBuf {
        let path = folder.join("inside");
        let text = format!(
            "#!/bin/sh\necho $$ >'{}' && exec '{}' \"$@\"\n",
            self.folder.join("cgroup.procs").display(),
            program.display()
        );
        fs::write(&path, text).expect("a folder of ours");
        fs::set_permissions(&path, Permissions::from_mode(0o700)).expect("a file of ours");
        path
    }

    /// The most bytes that its processes had, as far as the kernel tells.
    pub fn peak(&self) -> Option<u64> {
        let file = match self.is_first {
            true => "memory.max_usage_in_bytes",
            false => "memory.peak",
        };
        self.read(file).trim().parse().ok()
    }

    /// Returns the number of its processes that the OOM killer ended.
    ///
    /// # Panics
    /// The kernel does not tell.
    pub fn kills(&self) -> u64 {
        let file = match self.is_first {
            true => "memory.oom_control",
            false => "memory.events",
        };
        let text = self.read(file);
        let line = text.lines().find_map(|it| it.strip_prefix("oom_kill "));
        line.and_then(|it| it.parse().ok())
            .expect("a kernel that counts what it kills")
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.folder.join(file)).unwrap_or_default()
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        // The kernel takes a moment to see that the last process has gone.
        for _ in 0..50 {
            if fs::remove_dir(&self.folder).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

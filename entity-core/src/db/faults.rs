//! The known faults of a database: shared by all its connections, and reported to the operator once.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::channel::oneshot;
use futures::future::Shared;
use parking_lot::Mutex;
use rustix::fs::{StatVfsMountFlags, statvfs};
use sea_orm::{DbErr, sqlx};

use super::failure::{self, Fault};
use crate::primitives::error::Result;

/// The faults of one database. All clones share the same state.
#[derive(Clone, Debug)]
pub struct Faults(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// The file that holds the database, if a file does.
    file: Option<PathBuf>,
    /// True if a write or a sync has failed such that only a restart can tell what is stored.
    is_broken: AtomicBool,
    /// Notifies those who wait for such a failure, once.
    bell: Mutex<Option<oneshot::Sender<()>>>,
    rung: Shared<oneshot::Receiver<()>>,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// The fault that was last reported to the operator, unless writing has succeeded since.
    told: Option<Fault>,
    /// The time at which a connection to a server was last found to be lost.
    lost: Option<Instant>,
}

impl Default for Faults {
    fn default() -> Self {
        Self::new(None)
    }
}

impl Faults {
    /// Creates the record of the faults of a database in the file `file`; without a file, of one on a server.
    pub fn new(file: Option<PathBuf>) -> Self {
        let (bell, rung) = oneshot::channel();
        Self(Arc::new(Inner {
            file,
            is_broken: AtomicBool::new(false),
            bell: Mutex::new(Some(bell)),
            rung: rung.shared(),
            seen: Mutex::default(),
        }))
    }

    /// Waits until a write or a sync has failed such that nothing more may be acknowledged before another process has
    /// opened the database anew.
    pub async fn broken(&self) {
        // The bell is there as long as this is, so that waiting ends with the fault only.
        let _ = self.0.rung.clone().await;
    }

    /// Checks that there is no failure for which [`broken`](Self::broken) waits.
    pub(super) fn check(&self) -> Result<()> {
        if self.0.is_broken.load(Ordering::SeqCst) {
            return Err(failure::broken());
        }
        Ok(())
    }

    /// Records an error of the driver, and tells the operator what to do about it.
    pub(super) fn see(&self, error: &sqlx::Error) {
        if failure::is_lost(error) && !failure::is_crowded(error) {
            self.0.seen.lock().lost = Some(Instant::now());
        }
        let Some(fault) = Fault::of(error) else {
            return;
        };
        let fault = match fault {
            Fault::Broken if self.is_read_only() => Fault::ReadOnly,
            fault => fault,
        };
        if self.0.seen.lock().told.replace(fault) != Some(fault) {
            self.tell(fault, error);
        }
        if fault == Fault::Broken {
            self.0.is_broken.store(true, Ordering::SeqCst);
            let bell = self.0.bell.lock().take();
            if let Some(bell) = bell {
                // It is heard by whoever waits, which may be nobody.
                let _ = bell.send(());
            }
        }
    }

    /// Records the driver's error within `error`, if there is one.
    pub(super) fn see_in(&self, error: &DbErr) {
        if let Some(error) = failure::driver_error(error) {
            self.see(error);
        }
    }

    /// Records that something was written and synced.
    pub(super) fn see_success(&self) {
        if self.0.seen.lock().told.take().is_some() {
            tracing::info!(file = %self.name().display(), "the database can be written again");
        }
    }

    /// Returns whether a connection of this age was opened before another one was last found to be lost: its server may
    /// have restarted since.
    pub fn outdate(&self, age: Duration) -> bool {
        let lost = self.0.seen.lock().lost;
        lost.is_some_and(|it| it.elapsed() <= age)
    }

    fn tell(&self, fault: Fault, error: &sqlx::Error) {
        let file = self.name().display();
        match fault {
            Fault::Full => tracing::error!(
                %file, %error,
                "the disk is full: make room on the file system of this file; writes are refused until then"
            ),
            Fault::ReadOnly => tracing::error!(
                %file, %error,
                "the file system is read-only: see the kernel's log for the reason, and mount it for writing again"
            ),
            Fault::Broken => tracing::error!(
                %file, %error,
                "the disk failed to write or to sync: the service stops, so that the next start recovers what is stored; check the disk"
            ),
            Fault::Failing => tracing::error!(
                %file, %error,
                "the file can't be used: check it with `lectern doctor`, and the disk, the permissions, the limits of memory and open files"
            ),
        }
    }

    fn is_read_only(&self) -> bool {
        let Some(file) = &self.0.file else {
            return false;
        };
        statvfs(file).is_ok_and(|it| it.f_flag.contains(StatVfsMountFlags::RDONLY))
    }

    fn name(&self) -> &Path {
        self.0.file.as_deref().unwrap_or(Path::new("the server"))
    }
}

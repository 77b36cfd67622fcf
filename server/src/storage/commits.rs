//! Commits that units of work share, for a database with one writer.
//!
//! A commit waits for the disk, which takes longer than most units of work. Units that wait for the writer meanwhile
//! go into one transaction, one after the other, and are acknowledged by one commit. Each but the first has a
//! savepoint: one that fails gives up what it wrote and nothing else. If the commit itself fails, each is run again.
//! Nobody waits for company: when no further unit waits, the commit comes at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use entity_core::db::{Db, Part, Session, Whole, begin_write};
use entity_core::unit::{Mode, Store, Unit};
use entity_core::{Error, Result};
use sea_orm::{DatabaseTransaction, TransactionTrait as _};
use tokio::sync::{Mutex, OwnedMutexGuard, oneshot};
use tokio::time::{Instant, timeout};

/// A unit of work that does not get its turn for this long is refused.
const PATIENCE: Duration = Duration::from_secs(1);
/// Most units in one commit.
const MOST: usize = 64;
/// How long after its first unit was ready a transaction takes further ones in.
const WINDOW: Duration = Duration::from_millis(5);

/// A database whose writers share commits. Cloning it is cheap; all clones share.
#[derive(Clone, Debug)]
pub struct SharedCommits {
    db: Db,
    shared: Arc<Shared>,
    patience: Duration,
    window: Duration,
}

#[derive(Debug, Default)]
struct Shared {
    /// The open transaction, if there is one. Whoever holds this writes; the others wait in their order.
    open: Arc<Mutex<Option<Group>>>,
    /// How many units of work wait.
    waiting: AtomicUsize,
}

/// A transaction that is not committed yet, with who waits for that.
struct Group {
    whole: DatabaseTransaction,
    /// When it takes nobody in any more.
    closes: Instant,
    members: Vec<oneshot::Sender<Outcome>>,
}

/// How a commit went. The error is everybody's.
type Outcome = std::result::Result<(), Arc<Error>>;

impl SharedCommits {
    /// Shares the commits of `db`, which has one connection that writes.
    pub fn new(db: Db) -> Self {
        Self {
            db,
            shared: Arc::default(),
            patience: PATIENCE,
            window: WINDOW,
        }
    }

    async fn begin_part(&self) -> Result<Session> {
        let turn = Turn {
            group: self.turn().await?,
            shared: Arc::clone(&self.shared),
            window: self.window,
        };
        let part = match turn.group.as_ref() {
            Some(group) => group.whole.begin().await?,
            None => begin_write(&self.db.writer).await?,
        };
        Ok(Session::Part(Part::new(part, Box::new(turn))))
    }

    async fn turn(&self) -> Result<OwnedMutexGuard<Option<Group>>> {
        let open = Arc::clone(&self.shared.open);
        if let Ok(turn) = Arc::clone(&open).try_lock_owned() {
            return Ok(turn);
        }
        let _waiting = Waiting::among(&self.shared.waiting);
        let turn = timeout(self.patience, open.lock_owned()).await;
        turn.map_err(|elapsed| {
            Error::unavailable("the database is busy: try again", 1).with_source(elapsed)
        })
    }
}

#[async_trait]
impl Store for SharedCommits {
    async fn begin(&self, mode: Mode) -> Result<Box<dyn Unit>> {
        match mode {
            Mode::Read => self.db.begin(mode).await,
            Mode::Write => Ok(Box::new(self.begin_part().await?)),
        }
    }
}

/// Counts a unit of work among those that wait, until it is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn among(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::AcqRel);
        Self(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The right to write: one unit of work has it at a time.
struct Turn {
    group: OwnedMutexGuard<Option<Group>>,
    shared: Arc<Shared>,
    window: Duration,
}

#[async_trait]
impl Whole for Turn {
    async fn add(mut self: Box<Self>, part: DatabaseTransaction) -> Result<()> {
        let (sender, outcome) = oneshot::channel();
        match self.group.as_mut() {
            None => {
                *self.group = Some(Group {
                    whole: part,
                    closes: Instant::now() + self.window,
                    members: vec![sender],
                });
            }
            Some(group) => {
                if let Err(error) = part.commit().await {
                    // The savepoint is gone, so the database has given up the whole: nobody's part is left.
                    drop(self.group.take());
                    return Err(error.into());
                }
                group.members.push(sender);
            }
        }
        (*self).pass_on();
        match outcome.await {
            Ok(outcome) => outcome.map_err(|error| told(&error)),
            Err(closed) => Err(Error::unavailable(
                "others' changes could not be kept, and this with them: try again",
                1,
            )
            .with_source(closed)
            .transient()),
        }
    }
}

impl Turn {
    /// Lets the next unit of work go on, and sees to it that the group is committed, whoever still waits for it.
    fn pass_on(self) {
        let Some(group) = self.group.as_ref() else {
            return;
        };
        let is_awaited = self.shared.waiting.load(Ordering::Acquire) > 0;
        let has_room = group.members.len() < MOST && Instant::now() < group.closes;
        if !(is_awaited && has_room) {
            tokio::spawn(self.commit());
        } else if group.members.len() == 1 {
            // Whoever waits at this moment comes before the commit, and goes into it.
            let (shared, window) = (Arc::clone(&self.shared), self.window);
            drop(self);
            tokio::spawn(async move {
                let group = Arc::clone(&shared.open).lock_owned().await;
                let turn = Self {
                    group,
                    shared,
                    window,
                };
                turn.commit().await;
            });
        }
    }

    /// Commits the open group, unless somebody did that already.
    async fn commit(mut self) {
        let Some(group) = self.group.take() else {
            return;
        };
        let is_shared = group.members.len() > 1;
        let done = group.whole.commit().await.map_err(Error::from);
        let outcome = done.map_err(|error| match is_shared {
            // It may be one member's fault: each is run again.
            true => Arc::new(error.transient()),
            false => Arc::new(error),
        });
        for member in group.members {
            // Who does not wait any more was cut off: the answer would be lost anyway.
            drop(member.send(outcome.clone()));
        }
    }
}

/// The same error for one of those whom it concerns.
fn told(error: &Arc<Error>) -> Error {
    let message = error.message().to_owned();
    let told = match error.retry_after() {
        Some(seconds) => Error::unavailable(message, seconds),
        None => Error::new(error.kind(), message),
    };
    let is_transient = error.is_transient();
    let told = told.with_source(Arc::clone(error));
    if is_transient { told.transient() } else { told }
}

impl std::fmt::Debug for Group {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Group({})", self.members.len())
    }
}

impl std::fmt::Debug for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Turn({:?})", self.group)
    }
}

#[cfg(test)]
mod tests;

//! Commits that units of work share, for a database with one writer.
//!
//! A commit waits for the disk, which takes longer than most units of work. Units that wait for the writer meanwhile
//! go into one transaction, one after the other, each in a savepoint, and are acknowledged by one commit. A unit that
//! fails gives up its savepoint and nothing else; if the commit itself fails, each is run again. Nobody waits for
//! company: when no further unit waits, the commit comes at once.

use std::sync::Arc;
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
/// How long after its first unit a transaction takes further ones in.
const WINDOW: Duration = Duration::from_millis(5);

/// A database whose writers share commits. Cloning it is cheap; all clones share.
#[derive(Clone, Debug)]
pub struct SharedCommits {
    db: Db,
    open: Arc<Mutex<Option<Group>>>,
    patience: Duration,
    window: Duration,
}

/// A transaction, with who waits for its commit.
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
            open: Arc::default(),
            patience: PATIENCE,
            window: WINDOW,
        }
    }

    async fn begin_part(&self) -> Result<Session> {
        let turn = timeout(self.patience, Arc::clone(&self.open).lock_owned());
        let turn = turn.await.map_err(|elapsed| {
            Error::unavailable("the database is busy: try again", 1).with_source(elapsed)
        })?;
        let mut turn = Turn {
            open: Arc::clone(&self.open),
            group: turn,
        };
        let group = match &mut *turn.group {
            Some(group) => group,
            none => none.insert(Group {
                whole: begin_write(&self.db.writer).await?,
                closes: Instant::now() + self.window,
                members: Vec::new(),
            }),
        };
        let part = group.whole.begin().await?;
        Ok(Session::Part(Part::new(part, Box::new(turn))))
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

/// The right to write in the open transaction, or to begin one. One unit of work has it at a time; the others wait
/// in the order in which they came.
struct Turn {
    group: OwnedMutexGuard<Option<Group>>,
    open: Arc<Mutex<Option<Group>>>,
}

#[async_trait]
impl Whole for Turn {
    async fn settle(mut self: Box<Self>, added: Result<()>) -> Result<()> {
        if let Err(error) = added {
            // The savepoint is gone, so the database has given up the whole: nobody's part is left.
            drop(self.group.take());
            return Err(error);
        }
        let (sender, outcome) = oneshot::channel();
        (*self).add(sender)?;
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
    fn add(mut self, member: oneshot::Sender<Outcome>) -> Result<()> {
        let Some(group) = self.group.as_mut() else {
            return Err(Error::internal("a unit of work has lost its transaction"));
        };
        group.members.push(member);
        if group.members.len() >= MOST || Instant::now() >= group.closes {
            tokio::spawn(self.commit());
        } else if group.members.len() == 1 {
            // Whoever waits at this moment comes before the commit, and goes into it.
            let open = Arc::clone(&self.open);
            drop(self);
            tokio::spawn(async move {
                let group = Arc::clone(&open).lock_owned().await;
                Self { group, open }.commit().await;
            });
        }
        Ok(())
    }

    /// Commits the open group, unless somebody did that already.
    async fn commit(mut self) {
        let Some(group) = self.group.take() else {
            return;
        };
        let done = group.whole.commit().await;
        let is_shared = group.members.len() > 1;
        let outcome = done.map_err(|error| match (Error::from(error), is_shared) {
            // It may be one member's fault: each is run again.
            (error, true) => Arc::new(error.transient()),
            (error, false) => Arc::new(error),
        });
        for member in group.members {
            // Who does not wait any more was cut off: the answer would be lost anyway.
            drop(member.send(outcome.clone()));
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // Nobody comes to commit a transaction that only failed units were in.
        if self.group.as_ref().is_some_and(|it| it.members.is_empty()) {
            drop(self.group.take());
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
        write!(f, "Turn({:?})", *self.group)
    }
}

#[cfg(test)]
mod tests;

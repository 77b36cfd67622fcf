//! Group commit on SQLite: several units of work share one COMMIT, because a COMMIT costs a sync of the disk and only
//! one unit of work writes at a time.
//!
//! A unit of work that is done while others wait for their turn does not commit: it leaves its transaction to the next
//! one, and waits. Each has a savepoint of its own, so that one that fails does not undo the others. The COMMIT comes
//! when nobody waits any more, when the first one has waited for long enough, or when there are enough of them; then
//! all of them are notified at once.
//!
//! Invariants: the result of a unit of work depends on those before it, so none is disclosed before the COMMIT, not
//! even a refusal. If the transaction is lost, certainly nothing of it was kept, and each unit of work is run again by
//! itself. A group belongs to whoever handles it at the moment; if it is dropped, its members are notified.

use std::fmt;
use std::mem::take;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::channel::oneshot;
use futures::future::Shared;
use sea_orm::DbErr;
use sea_orm::sqlx::Sqlite;
use sqlx_core::rt::{sleep, spawn};

use super::transaction::Open;
use crate::primitives::error::{Error, OUTCOME_UNKNOWN, Result};
use crate::primitives::unit::{CommitOutcome, End};

/// The time for which the first unit of work that is done waits for others.
const LONGEST: Duration = Duration::from_millis(5);
/// The maximum number of units of work that share a COMMIT.
const MOST: usize = 64;

/// The outcome of a transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Outcome {
    /// Nothing of the transaction was kept.
    #[default]
    Lost,
    /// It is unknown whether anything was kept.
    Unknown,
    Kept,
}

/// Units of work that are done and wait for the outcome of their transaction. Dropping this notifies them.
#[derive(Debug, Default)]
struct Waiters {
    bells: Vec<oneshot::Sender<Outcome>>,
    /// The time at which the first of them was done.
    since: Option<Instant>,
    outcome: Outcome,
}

/// A transaction between two units of work, and the units of work that it belongs to.
#[derive(Debug)]
struct Group {
    /// Declared first and therefore dropped first: a member that is notified of a loss relies on the transaction being
    /// over.
    open: Open<Sqlite>,
    waiters: Waiters,
}

/// The group commit of one database: its writer leaves its transaction here to the next unit of work. All clones share
/// it.
#[derive(Clone)]
pub struct GroupCommit {
    slot: Arc<Mutex<Slot>>,
    longest: Duration,
    most: usize,
}

#[derive(Default)]
struct Slot {
    left: Option<Group>,
    /// The number of groups that were left here so far.
    count: u64,
    /// Completes when the transaction that was committed last is over.
    closed: Option<Shared<oneshot::Receiver<()>>>,
}

/// A unit of work on SQLite, in a transaction that it may share with others.
#[derive(Debug)]
pub(super) struct SharedTransaction {
    /// The connection with the transaction; `None` after the unit of work has ended.
    open: Option<Open<Sqlite>>,
    /// The earlier units of work in the same transaction.
    before: Waiters,
    /// The place where the unit of work may leave the transaction, if it shares the transaction.
    groups: Option<GroupCommit>,
}

impl Default for GroupCommit {
    fn default() -> Self {
        Self::new(LONGEST, MOST)
    }
}

impl GroupCommit {
    /// Creates a group commit of its own. The first unit of work that is done waits `longest` for others, and at most
    /// `most` of them share a COMMIT.
    pub fn new(longest: Duration, most: usize) -> Self {
        Self {
            slot: Arc::default(),
            longest,
            most,
        }
    }

    /// Continues the transaction that another unit of work left, if there is one. Otherwise waits until a transaction
    /// that is being committed is over.
    pub(super) async fn join(&self) -> Option<SharedTransaction> {
        let (left, closed) = {
            let mut slot = self.slot();
            (slot.left.take(), slot.closed.clone())
        };
        if let Some(group) = left {
            return Some(SharedTransaction {
                open: Some(group.open),
                before: group.waiters,
                groups: Some(self.clone()),
            });
        }
        if let Some(closed) = closed {
            // It ends by being dropped.
            let _ = closed.await;
        }
        None
    }

    /// Returns the first unit of work in `open`, whose transaction others may continue.
    pub(super) fn found(&self, open: Open<Sqlite>) -> SharedTransaction {
        SharedTransaction {
            open: Some(open),
            before: Waiters::default(),
            groups: Some(self.clone()),
        }
    }

    /// Commits the transaction that was left here, if there is one, and waits until it is over, for a unit of work that
    /// does not share its transaction.
    pub(super) async fn end(&self) {
        let left = self.slot().left.take();
        if let Some(group) = left {
            self.close(group, false);
        }
        let closed = self.slot().closed.clone();
        if let Some(closed) = closed {
            let _ = closed.await;
        }
    }

    /// Commits `group` in a task of its own, whoever goes away meanwhile. If `is_dropped`, a unit of work was dropped
    /// in the middle: it is rolled back first.
    fn close(&self, group: Group, is_dropped: bool) {
        let (bell, closed) = oneshot::channel();
        self.slot().closed = Some(closed.shared());
        drop(spawn(async move {
            group.commit(is_dropped).await;
            drop::<oneshot::Sender<()>>(bell);
        }));
    }

    /// Leaves `group` to the next unit of work. If none takes it in time, it is committed.
    fn leave(&self, group: Group) {
        let waits = group.waiters.since.map_or(Duration::ZERO, |it| {
            (it + self.longest).saturating_duration_since(Instant::now())
        });
        let (before, count) = {
            let mut slot = self.slot();
            slot.count += 1;
            (slot.left.replace(group), slot.count)
        };
        // There is one transaction at a time: this is nothing.
        drop(before);
        let groups = self.clone();
        drop(spawn(async move {
            sleep(waits).await;
            let left = groups.take_if(count);
            if let Some(group) = left {
                groups.close(group, false);
            }
        }));
    }

    /// Returns whether a unit of work that joins `waiters` may wait for further ones.
    fn may_wait(&self, waiters: &Waiters) -> bool {
        let is_early = waiters.since.is_none_or(|it| it.elapsed() < self.longest);
        is_early && waiters.bells.len() + 1 < self.most
    }

    /// Takes the group that was left here as the `count`th, if it is still here.
    fn take_if(&self, count: u64) -> Option<Group> {
        let mut slot = self.slot();
        match slot.count == count {
            true => slot.left.take(),
            false => None,
        }
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for GroupCommit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.slot().count;
        f.debug_struct("GroupCommit")
            .field("count", &count)
            .finish_non_exhaustive()
    }
}

impl Waiters {
    /// Adds a member, and returns the receiver of its notification.
    fn add(&mut self) -> oneshot::Receiver<Outcome> {
        let (bell, told) = oneshot::channel();
        self.bells.push(bell);
        self.since.get_or_insert_with(Instant::now);
        told
    }

    fn is_empty(&self) -> bool {
        self.bells.is_empty()
    }
}

impl Drop for Waiters {
    fn drop(&mut self) {
        for bell in take(&mut self.bells) {
            // A receiver that is gone need not be notified.
            let _ = bell.send(self.outcome);
        }
    }
}

impl Group {
    async fn commit(self, is_dropped: bool) {
        let Self {
            mut open,
            mut waiters,
        } = self;
        if is_dropped && open.give_up().await.is_err() {
            // Comes first: whoever is told relies on it.
            drop(open);
            return;
        }
        waiters.outcome = Outcome::Unknown;
        waiters.outcome = match open.commit().await {
            Ok(()) => Outcome::Kept,
            Err(error) if error.code() == Some(OUTCOME_UNKNOWN) => Outcome::Unknown,
            Err(error) => {
                tracing::debug!(%error, "a COMMIT was refused");
                Outcome::Lost
            }
        };
    }
}

impl SharedTransaction {
    /// Creates the only unit of work in `open`.
    pub(super) fn alone(open: Open<Sqlite>) -> Self {
        Self {
            open: Some(open),
            before: Waiters::default(),
            groups: None,
        }
    }

    /// Returns the connection of the unit of work.
    ///
    /// # Errors
    /// Returns an error if the unit of work has ended.
    pub(super) fn open(&mut self) -> Result<&mut Open<Sqlite>, DbErr> {
        let open = self.open.as_mut();
        open.ok_or_else(|| DbErr::Custom("a unit of work goes on after its end".to_owned()))
    }

    /// Returns whether earlier units of work wait for the same COMMIT.
    pub(super) fn is_joined(&self) -> bool {
        !self.before.is_empty()
    }

    /// Ends the unit of work. If another one waits (`is_awaited`), the transaction may be left to it.
    ///
    /// # Errors
    /// Returns an error if nothing was written or if the outcome is unknown.
    pub(super) async fn end(mut self, end: End, is_awaited: bool) -> Result<CommitOutcome> {
        let groups = self.groups.clone();
        let leaves = is_awaited && groups.as_ref().is_some_and(|it| it.may_wait(&self.before));
        match groups {
            Some(groups) if self.is_joined() || (leaves && end == End::Keep) => {
                self.end_within(&groups, end, leaves).await
            }
            _ => {
                let open = self.open.take();
                if let (Some(open), End::Keep) = (open, end) {
                    open.commit().await?;
                }
                Ok(CommitOutcome::Now)
            }
        }
    }

    /// Ends the unit of work but not its transaction, which is left in `groups` to the next one, or committed.
    async fn end_within(
        mut self,
        groups: &GroupCommit,
        end: End,
        leaves: bool,
    ) -> Result<CommitOutcome> {
        let settled = match end {
            End::Keep => self.open()?.keep().await,
            End::GiveUp => self.open()?.give_up().await,
        };
        let open = match (self.open.take(), settled) {
            (Some(open), Ok(())) => open,
            (_lost, Ok(())) => return Err(Error::internal("a unit of work ends twice")),
            // Those before it are told when this is dropped.
            (_lost, Err(error)) if self.is_joined() => {
                return Err(Error::run_apart().with_source(error));
            }
            (_lost, Err(error)) => return Err(error),
        };
        let mut waiters = take(&mut self.before);
        let told = waiters.add().map(move |it| to_result(end, it));
        let group = Group { open, waiters };
        if leaves {
            groups.leave(group);
            return Ok(CommitOutcome::Later(told.boxed()));
        }
        groups.close(group, false);
        told.await.map(|()| CommitOutcome::Now)
    }
}

impl Drop for SharedTransaction {
    fn drop(&mut self) {
        let (Some(open), true, Some(groups)) =
            (self.open.take(), self.is_joined(), self.groups.take())
        else {
            return;
        };
        let waiters = take(&mut self.before);
        groups.close(Group { open, waiters }, true);
    }
}

/// Returns the result of a unit of work that ended with `end`, from the outcome that it was notified of.
fn to_result(end: End, told: Result<Outcome, oneshot::Canceled>) -> Result<()> {
    match (told.unwrap_or(Outcome::Unknown), end) {
        (Outcome::Kept, _) => Ok(()),
        // A unit of work that is given up does no harm when it runs again.
        (Outcome::Lost, _) | (Outcome::Unknown, End::GiveUp) => Err(Error::run_apart()),
        (Outcome::Unknown, End::Keep) => Err(Error::outcome_unknown()),
    }
}

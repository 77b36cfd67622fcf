//! One COMMIT for several units of work, on SQLite: a COMMIT costs a sync of the disk, and one writes at a time.
//!
//! A unit of work that is done while others wait for their turn leaves its transaction to the next one in place of
//! committing it, and waits. Each has a savepoint of its own, so that one that fails takes nothing of the others with
//! it. The COMMIT comes when nobody waits any more, when the first one has waited for long enough, or when there are
//! enough of them; then all of them are told at once.
//!
//! Invariants: whatever a unit of work comes to rests on those before it, so nothing of it is told before the COMMIT,
//! not even that it is refused. Where the transaction is lost, surely nothing of it was kept, and each is run again by
//! itself. A group belongs to whoever has it in hand; if that is dropped, its members are told.

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
use crate::error::{Error, OUTCOME_UNKNOWN, Result};
use crate::unit::{End, Ended};

/// For how long the first unit of work that is done waits for others.
const LONGEST: Duration = Duration::from_millis(5);
/// How many units of work share a COMMIT, at most.
const MOST: usize = 64;

/// What came of a transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Outcome {
    /// Nothing of it was kept.
    #[default]
    Lost,
    /// Nobody knows.
    Unknown,
    Kept,
}

/// Units of work that are done, and wait for the outcome. Dropping this tells them.
#[derive(Debug, Default)]
struct Members {
    bells: Vec<oneshot::Sender<Outcome>>,
    /// When the first of them was done.
    since: Option<Instant>,
    outcome: Outcome,
}

/// A transaction between two units of work, and whose it is.
#[derive(Debug)]
struct Group {
    /// Comes first: whoever is told that everything is lost can rely on it.
    open: Open<Sqlite>,
    members: Members,
}

/// Where the writer of one database leaves its transaction to the next unit of work. All clones are the same place.
#[derive(Clone)]
pub struct Groups {
    place: Arc<Mutex<Place>>,
    longest: Duration,
    most: usize,
}

#[derive(Default)]
struct Place {
    left: Option<Group>,
    /// How often something was left here.
    count: u64,
    /// Completes when the transaction that was committed last is over.
    closed: Option<Shared<oneshot::Receiver<()>>>,
}

/// A unit of work on SQLite.
#[derive(Debug)]
pub(super) struct Member {
    /// There until it ends.
    open: Option<Open<Sqlite>>,
    /// Those before it in the same transaction.
    before: Members,
    /// Where it may leave the transaction, if it shares it.
    groups: Option<Groups>,
}

impl Default for Groups {
    fn default() -> Self {
        Self::new(LONGEST, MOST)
    }
}

impl Groups {
    /// A place of its own. The first unit of work that is done waits `longest` for others, and up to `most` of them share
    /// a COMMIT.
    pub fn new(longest: Duration, most: usize) -> Self {
        Self {
            place: Arc::default(),
            longest,
            most,
        }
    }

    /// Goes on with the transaction that somebody left, if there is one. One that is being committed is over when this
    /// returns.
    pub(super) async fn join(&self) -> Option<Member> {
        let (left, closed) = {
            let mut place = self.place();
            (place.left.take(), place.closed.clone())
        };
        if let Some(group) = left {
            return Some(Member {
                open: Some(group.open),
                before: group.members,
                groups: Some(self.clone()),
            });
        }
        if let Some(closed) = closed {
            // It ends by being dropped.
            let _ = closed.await;
        }
        None
    }

    /// The first unit of work in `open`, which others may go on with.
    pub(super) fn found(&self, open: Open<Sqlite>) -> Member {
        Member {
            open: Some(open),
            before: Members::default(),
            groups: Some(self.clone()),
        }
    }

    /// Commits what somebody left, if there is something, for whoever writes by itself.
    pub(super) async fn end(&self) {
        let left = self.place().left.take();
        if let Some(group) = left {
            self.close(group, false);
        }
        let closed = self.place().closed.clone();
        if let Some(closed) = closed {
            let _ = closed.await;
        }
    }

    /// Commits `group`, whoever goes away meanwhile. A unit of work that was dropped in the middle is given up before.
    fn close(&self, group: Group, is_dropped: bool) {
        let (bell, closed) = oneshot::channel();
        self.place().closed = Some(closed.shared());
        drop(spawn(async move {
            group.commit(is_dropped).await;
            drop::<oneshot::Sender<()>>(bell);
        }));
    }

    /// Leaves `group` to the next one. If there is none in time, it is committed.
    fn leave(&self, group: Group) {
        let waits = group.members.since.map_or(Duration::ZERO, |it| {
            (it + self.longest).saturating_duration_since(Instant::now())
        });
        let (before, count) = {
            let mut place = self.place();
            place.count += 1;
            (place.left.replace(group), place.count)
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

    /// Whether one that comes after `members` may wait for further ones.
    fn may_wait(&self, members: &Members) -> bool {
        let is_early = members.since.is_none_or(|it| it.elapsed() < self.longest);
        is_early && members.bells.len() + 1 < self.most
    }

    /// What was left here as the `count`th, if it still is.
    fn take_if(&self, count: u64) -> Option<Group> {
        let mut place = self.place();
        match place.count == count {
            true => place.left.take(),
            false => None,
        }
    }

    fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Groups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.place().count;
        f.debug_struct("Groups")
            .field("count", &count)
            .finish_non_exhaustive()
    }
}

impl Members {
    /// One more, who is told by what this answers.
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

impl Drop for Members {
    fn drop(&mut self) {
        for bell in take(&mut self.bells) {
            // Whoever has gone need not be told.
            let _ = bell.send(self.outcome);
        }
    }
}

impl Group {
    async fn commit(self, is_dropped: bool) {
        let Self {
            mut open,
            mut members,
        } = self;
        if is_dropped && open.give_up().await.is_err() {
            // Comes first: whoever is told relies on it.
            drop(open);
            return;
        }
        members.outcome = Outcome::Unknown;
        members.outcome = match open.commit().await {
            Ok(()) => Outcome::Kept,
            Err(error) if error.code() == Some(OUTCOME_UNKNOWN) => Outcome::Unknown,
            Err(error) => {
                tracing::debug!(%error, "a COMMIT was refused");
                Outcome::Lost
            }
        };
    }
}

impl Member {
    /// The only unit of work in `open`.
    pub(super) fn alone(open: Open<Sqlite>) -> Self {
        Self {
            open: Some(open),
            before: Members::default(),
            groups: None,
        }
    }

    /// Its connection.
    ///
    /// # Errors
    /// It has ended.
    pub(super) fn open(&mut self) -> Result<&mut Open<Sqlite>, DbErr> {
        let open = self.open.as_mut();
        open.ok_or_else(|| DbErr::Custom("a unit of work goes on after its end".to_owned()))
    }

    /// Whether others before it wait for the same COMMIT.
    pub(super) fn is_joined(&self) -> bool {
        !self.before.is_empty()
    }

    /// Ends it. If somebody waits, the transaction may be left to them.
    ///
    /// # Errors
    /// Nothing was written; or the outcome is unknown.
    pub(super) async fn end(mut self, end: End, is_awaited: bool) -> Result<Ended> {
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
                Ok(Ended::Now)
            }
        }
    }

    /// Ends it and goes on with the transaction: it is left in `groups` to the next one, or committed.
    async fn end_within(mut self, groups: &Groups, end: End, leaves: bool) -> Result<Ended> {
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
        let mut members = take(&mut self.before);
        let told = members.add().map(move |it| to_result(end, it));
        let group = Group { open, members };
        if leaves {
            groups.leave(group);
            return Ok(Ended::Later(told.boxed()));
        }
        groups.close(group, false);
        told.await.map(|()| Ended::Now)
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let (Some(open), true, Some(groups)) =
            (self.open.take(), self.is_joined(), self.groups.take())
        else {
            return;
        };
        let members = take(&mut self.before);
        groups.close(Group { open, members }, true);
    }
}

/// What a unit of work that ended so comes to.
fn to_result(end: End, told: Result<Outcome, oneshot::Canceled>) -> Result<()> {
    match (told.unwrap_or(Outcome::Unknown), end) {
        (Outcome::Kept, _) => Ok(()),
        // What is given up does no harm when it is done again.
        (Outcome::Lost, _) | (Outcome::Unknown, End::GiveUp) => Err(Error::run_apart()),
        (Outcome::Unknown, End::Keep) => Err(Error::outcome_unknown()),
    }
}

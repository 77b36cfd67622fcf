//! Whose turn it is to write to a file of SQLite: one unit of work can do so at a time.
//!
//! The turn goes to whoever held the right to write for the shortest time lately. Somebody who holds it for as long as
//! one may keeps others waiting for it once; who needs it for some milliseconds now and then comes before them from
//! then on, however many requests they send.
//!
//! Clients that are brief share one COMMIT. One that took long lately has a COMMIT of its own, so that nobody waits for it
//! twice.
//!
//! A batch is expected to take long, so that it comes after the single operations of those who held the right as
//! briefly. After somebody took very long, for as long again only single operations are written, of those who are not
//! known to take long: many who take long, each for the first time, would otherwise keep the others waiting one after
//! the other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use entity_core::engine::{Origin, Turn, WritePermit, WriteQueue};
use entity_core::{Error, Result};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::Admission;

/// After how long a time counts half that somebody held the right to write.
const HALF: Duration = Duration::from_secs(10);
/// Of how many that is remembered. Those who held it for next to no time are forgotten then.
const REMEMBERED: usize = 10_000;
const NEXT_TO_NONE: Duration = Duration::from_millis(1);
/// The longest work at a time, on average lately, of a client that shares a COMMIT with others.
const BRIEF: Duration = Duration::from_millis(20);
/// The longest work after which single operations need not go first, for as long again. A batch is expected to take so
/// long.
const LONG: Duration = Duration::from_millis(250);

/// The turns of one file. All clones are the same turns.
#[derive(Clone)]
pub(crate) struct WriteScheduler(Arc<Inner>);

struct Inner {
    admission: Arc<Admission>,
    book: Mutex<State<oneshot::Sender<Guard>>>,
}

/// The holder of the permit, the clients that wait for it, and those that had it.
struct State<T> {
    is_taken: bool,
    /// The waiters, the first one first.
    waiters: Vec<Waiter<T>>,
    held: HashMap<u64, Held>,
    /// Until when only single operations are written, of those who are brief.
    pause: Option<Instant>,
    /// True if somebody will look who is next when that is over.
    is_timed: bool,
}

/// Somebody who waits.
#[derive(Debug, PartialEq, Eq)]
struct Waiter<T> {
    who: u64,
    ticket: T,
    /// True if they may share a COMMIT with the one before them: it is a single operation.
    shares: bool,
}

/// For how long somebody held the right, as it counted at an instant.
#[derive(Clone, Copy)]
struct Held {
    /// All in all.
    time: Duration,
    /// Without what the store took for the COMMIT.
    work: Duration,
    /// The number of times.
    times: f64,
    at: Instant,
}

/// The right to write.
struct Guard {
    turns: WriteScheduler,
    who: u64,
    since: Instant,
    /// The time that the work took, once it is done.
    worked: Option<Duration>,
}

impl WriteScheduler {
    /// New turns whose waiters are told apart as `admission` does.
    pub(crate) fn new(admission: Arc<Admission>) -> Self {
        Self(Arc::new(Inner {
            admission,
            book: Mutex::new(State::new()),
        }))
    }

    fn guard(&self, who: u64) -> Guard {
        Guard {
            turns: self.clone(),
            who,
            since: Instant::now(),
            worked: None,
        }
    }

    /// Gives the right, which nobody has, to whoever is next.
    fn hand_on(&self, mut book: MutexGuard<'_, State<oneshot::Sender<Guard>>>) {
        let now = Instant::now();
        let next = book.next(now);
        let pause = book.time(now);
        drop(book);
        if let Some(Waiter { who, ticket, .. }) = next {
            // Whoever has gone gives it back by dropping it, and so it goes on.
            drop(ticket.send(self.guard(who)));
        }
        if let Some(pause) = pause {
            self.resume_after(pause);
        }
    }

    /// Looks once more who is next when the pause is over.
    fn resume_after(&self, pause: Duration) {
        let turns = self.clone();
        let resume = async move {
            sleep(pause).await;
            turns.resume();
        };
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(resume)),
            // The service ends.
            Err(_no_runtime) => {
                self.book().pause = None;
                self.resume();
            }
        }
    }

    fn resume(&self) {
        let mut book = self.book();
        book.is_timed = false;
        if !book.is_taken {
            self.hand_on(book);
        }
    }

    fn book(&self) -> MutexGuard<'_, State<oneshot::Sender<Guard>>> {
        self.0.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl WriteQueue for WriteScheduler {
    async fn wait(&self, origin: &Origin, shares: bool) -> Result<Turn> {
        let who = self.0.admission.sender(origin).group;
        let (ticket, turn) = oneshot::channel();
        let waiter = Waiter {
            who,
            ticket,
            shares,
        };
        let now = Instant::now();
        let (is_taken, pause) = {
            let mut book = self.book();
            (book.take(waiter, now), book.time(now))
        };
        if is_taken {
            return Ok(Turn::of(self.guard(who)));
        }
        if let Some(pause) = pause {
            self.resume_after(pause);
        }
        turn.await.map(Turn::of).map_err(Error::internal)
    }
}

impl WritePermit for Guard {
    fn is_shared(&self) -> bool {
        self.turns.book().is_brief(self.who, Instant::now())
    }

    fn is_awaited(&self) -> bool {
        self.turns.book().is_awaited(Instant::now())
    }

    fn rest(&mut self) {
        self.worked = Some(self.since.elapsed());
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let now = Instant::now();
        let held = now.saturating_duration_since(self.since);
        let worked = self.worked.unwrap_or(held);
        let mut book = self.turns.book();
        book.note(self.who, held, worked, now);
        self.turns.hand_on(book);
    }
}

impl<T> State<T> {
    fn new() -> Self {
        Self {
            is_taken: false,
            waiters: Vec::new(),
            held: HashMap::new(),
            pause: None,
            is_timed: false,
        }
    }

    /// Takes the right for `waiter`, or lets them wait if somebody has it or comes before them.
    fn take(&mut self, waiter: Waiter<T>, now: Instant) -> bool {
        if self.is_taken || !self.may(&waiter, now) {
            self.waiters.push(waiter);
            return false;
        }
        self.is_taken = true;
        true
    }

    /// Notes that `who` held the right for so long, and worked for so long of it.
    fn note(&mut self, who: u64, time: Duration, worked: Duration, now: Instant) {
        let mut held = Held {
            time,
            work: worked,
            times: 1.0,
            at: now,
        };
        if let Some(before) = self.held.get(&who).map(|it| it.at(now)) {
            held.time = held.time.saturating_add(before.time);
            held.work = held.work.saturating_add(before.work);
            held.times += before.times;
        }
        self.held.insert(who, held);
        if worked > LONG && self.has_brief_beside(who, now) {
            self.pause = Some(now + worked);
        }
        if self.held.len() > REMEMBERED {
            self.held.retain(|_, it| it.at(now).time > NEXT_TO_NONE);
        }
    }

    /// The one whose turn it is; the right is free if nobody waits.
    fn next(&mut self, now: Instant) -> Option<Waiter<T>> {
        let next = self.place_of_next(now);
        self.is_taken = next.is_some();
        next.map(|at| self.waiters.remove(at))
    }

    fn place_of_next(&self, now: Instant) -> Option<usize> {
        let waiters = self.waiters.iter().enumerate();
        let eligible = waiters.filter(|(_, it)| self.may(it, now));
        let next = eligible.min_by_key(|(_, it)| self.cost(it, now));
        next.map(|(at, _)| at)
    }

    /// Returns whether it may be the turn of `waiter`.
    fn may(&self, waiter: &Waiter<T>, now: Instant) -> bool {
        let is_over = self.pause.is_none_or(|it| it <= now);
        is_over || (waiter.shares && self.is_brief(waiter.who, now))
    }

    /// For how long `waiter` held the right lately, with what is expected of a batch.
    fn cost(&self, waiter: &Waiter<T>, now: Instant) -> Duration {
        let held = self.held.get(&waiter.who);
        let lately = held.map_or(Duration::ZERO, |it| it.at(now).time);
        let expected = if waiter.shares { Duration::ZERO } else { LONG };
        lately + expected
    }

    /// Returns whether others than `who` wrote lately, who are brief.
    fn has_brief_beside(&self, who: u64, now: Instant) -> bool {
        let mut others = self.held.iter().filter(|(it, _)| **it != who);
        others.any(|(it, held)| held.at + HALF > now && self.is_brief(*it, now))
    }

    /// Returns the time for which the pause is still, if somebody waits for nothing else and nobody has noted that yet.
    fn time(&mut self, now: Instant) -> Option<Duration> {
        let pause = self.pause?.saturating_duration_since(now);
        if self.is_taken || self.is_timed || self.waiters.is_empty() {
            return None;
        }
        self.is_timed = true;
        Some(pause)
    }

    /// Returns whether the one whose turn it is next shares a COMMIT with the one before.
    fn is_awaited(&self, now: Instant) -> bool {
        let next = self.place_of_next(now).and_then(|at| self.waiters.get(at));
        next.is_some_and(|it| it.shares && self.is_brief(it.who, now))
    }

    /// Returns whether `who` did not work for long at a time lately.
    fn is_brief(&self, who: u64, now: Instant) -> bool {
        let held = self.held.get(&who).map(|it| it.at(now));
        held.is_none_or(|it| it.work <= BRIEF.mul_f64(it.times.max(1.0)))
    }
}

impl Held {
    /// The same as it counts `now`.
    fn at(self, now: Instant) -> Self {
        let past = now.saturating_duration_since(self.at);
        let factor = 0.5_f64.powf(past.as_secs_f64() / HALF.as_secs_f64());
        Self {
            time: self.time.mul_f64(factor),
            work: self.work.mul_f64(factor),
            times: self.times * factor,
            at: now,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiter(who: u64, ticket: &'static str) -> Waiter<&'static str> {
        Waiter {
            who,
            ticket,
            shares: true,
        }
    }

    fn batch(who: u64, ticket: &'static str) -> Waiter<&'static str> {
        Waiter {
            shares: false,
            ..waiter(who, ticket)
        }
    }

    #[test]
    fn who_held_it_least_lately_is_next_and_of_equals_the_first() {
        let mut book = State::new();
        let begin = Instant::now();
        let after = |millis| begin + Duration::from_millis(millis);
        let note = |book: &mut State<_>, who, millis, now| {
            let time = Duration::from_millis(millis);
            book.note(who, time, time, after(now));
        };
        assert!(book.take(waiter(1, "first"), begin));
        for (who, ticket) in [(1, "again"), (2, "other"), (3, "third"), (2, "other again")] {
            assert!(!book.take(waiter(who, ticket), begin));
        }
        note(&mut book, 1, 1_000, 1_000);
        assert_eq!(book.next(after(1_000)), Some(waiter(2, "other")));
        note(&mut book, 2, 5, 1_005);
        assert_eq!(book.next(after(1_005)), Some(waiter(3, "third")));
        note(&mut book, 3, 50, 1_055);
        assert_eq!(book.next(after(1_055)), Some(waiter(2, "other again")));
        assert_eq!(book.next(after(1_060)), Some(waiter(1, "again")));
        assert_eq!(book.next(after(2_060)), None);
        assert!(book.take(waiter(1, "alone"), after(3_000)));
    }

    #[test]
    fn who_took_long_lately_shares_nothing_and_a_slow_disk_is_nobodys_fault() {
        let mut book = State::new();
        let begin = Instant::now();
        let second = Duration::from_secs(1);
        book.note(1, second, second, begin);
        book.note(2, second, BRIEF, begin);
        assert!(!book.is_brief(1, begin));
        assert!(book.is_brief(2, begin) && book.is_brief(3, begin));
        assert!(book.is_brief(1, begin + 6 * HALF));

        assert!(!book.is_awaited(begin));
        assert!(book.take(waiter(3, "writes"), begin));
        assert!(!book.take(waiter(1, "takes long"), begin));
        assert!(!book.is_awaited(begin));
        assert!(!book.take(batch(4, "a batch"), begin));
        assert!(!book.is_awaited(begin));
        book.note(4, second, BRIEF, begin);
        assert!(!book.take(waiter(5, "brief"), begin));
        assert!(book.is_awaited(begin));
    }

    #[test]
    fn dos_7_who_is_brief_waits_for_one_who_takes_long_and_not_for_the_next_one() {
        let mut book = State::new();
        let begin = Instant::now();
        let after = |millis| begin + Duration::from_millis(millis);
        let millis = Duration::from_millis;
        // Whoever writes alone never waits.
        book.note(1, millis(1_000), millis(1_000), begin);
        assert!(book.take(waiter(1, "again"), begin));
        book.note(2, millis(5), millis(5), begin);
        for (who, ticket) in [(3, "newcomer"), (4, "another")] {
            assert!(!book.take(batch(who, ticket), begin));
        }
        book.note(1, millis(1_000), millis(1_000), after(1_000));
        assert_eq!(book.next(after(1_000)), None);
        assert_eq!(book.time(after(1_000)), Some(millis(1_000)));
        assert_eq!(book.time(after(1_000)), None);
        assert!(book.take(waiter(2, "brief"), after(1_200)));
        assert!(!book.take(waiter(2, "brief again"), after(1_200)));
        assert_eq!(book.next(after(1_210)), Some(waiter(2, "brief again")));
        assert_eq!(book.next(after(1_220)), None);
        assert_eq!(book.next(after(2_000)), Some(batch(3, "newcomer")));
        assert!(!book.take(waiter(2, "brief"), after(2_000)));
    }

    #[test]
    fn dos_7_a_single_operation_comes_before_batches_of_those_who_held_the_right_as_briefly() {
        let mut book = State::new();
        let begin = Instant::now();
        let after = |millis| begin + Duration::from_millis(millis);
        let second = Duration::from_secs(1);
        // Attackers who wrote briefly before they begin.
        (1..=3).for_each(|it| book.note(it, NEXT_TO_NONE, NEXT_TO_NONE, begin));
        book.note(4, BRIEF, BRIEF, begin);
        assert!(book.take(batch(1, "first"), begin));
        for (who, ticket) in [(2, "second"), (3, "third")] {
            assert!(!book.take(batch(who, ticket), begin));
        }
        assert!(!book.take(waiter(4, "single"), begin));
        book.note(1, second, second, after(1_000));
        assert_eq!(book.next(after(1_000)), Some(waiter(4, "single")));
        // In the pause there are single operations only, also of somebody who is not known.
        assert_eq!(book.next(after(1_020)), None);
        assert!(book.take(waiter(5, "newcomer"), after(1_500)));
        assert_eq!(book.next(after(1_510)), None);
        // A client that writes for long all in all comes after a batch, however briefly at a time.
        for _ in 0..20 {
            book.note(4, BRIEF, BRIEF, after(2_000));
        }
        assert_eq!(book.next(after(2_000)), Some(batch(2, "second")));
        assert!(!book.take(waiter(4, "once more"), after(2_001)));
        assert_eq!(book.next(after(2_010)), Some(batch(3, "third")));
        assert_eq!(book.next(after(2_020)), Some(waiter(4, "once more")));
    }

    #[test]
    fn what_was_held_is_forgotten_by_and_by() {
        let mut book = State::<()>::new();
        let begin = Instant::now();
        book.note(1, Duration::from_secs(1), Duration::ZERO, begin);
        let lately = |book: &State<()>, now| book.held.get(&1).map(|it| it.at(now).time);
        let half = lately(&book, begin + HALF).unwrap();
        assert!((Duration::from_millis(499)..=Duration::from_millis(501)).contains(&half));
        let most = u64::try_from(REMEMBERED).unwrap();
        let none = Duration::ZERO;
        (0..most).for_each(|it| book.note(it, none, none, begin + HALF));
        assert_eq!(book.held.len(), REMEMBERED);
        book.note(most, none, none, begin + HALF);
        assert_eq!(book.held.len(), 1);
        assert_eq!(lately(&book, begin + HALF), Some(half));
    }
}

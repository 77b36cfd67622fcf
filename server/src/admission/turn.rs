//! Whose turn it is to write to a file of SQLite: one unit of work can do so at a time.
//!
//! The turn goes to whoever held the right to write for the shortest time lately. Somebody who holds it for as long as
//! one may keeps others waiting for it once; who needs it for some milliseconds now and then comes before them from
//! then on, however many requests they send.
//!
//! Those who are brief share one COMMIT. Who took long lately has one of their own, so that nobody waits for them twice.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use entity_core::{Error, Origin, Result, Right, Turn, Turns};
use tokio::sync::oneshot;

use super::Admission;

/// After how long a time counts half that somebody held the right to write.
const HALF: Duration = Duration::from_secs(10);
/// Of how many that is remembered. Those who held it for next to no time are forgotten then.
const REMEMBERED: usize = 10_000;
const NEXT_TO_NONE: Duration = Duration::from_millis(1);
/// Who worked for no longer than this at a time lately, on average, shares a COMMIT with others.
const BRIEF: Duration = Duration::from_millis(20);

/// The turns of one file. All clones are the same turns.
#[derive(Clone)]
pub(crate) struct WriteTurns(Arc<Inner>);

struct Inner {
    admission: Arc<Admission>,
    book: Mutex<Book<oneshot::Sender<Guard>>>,
}

/// Who has the right, who waits for it, and who had it.
struct Book<T> {
    is_taken: bool,
    /// Those who wait, the first one first.
    waiters: Vec<Waiter<T>>,
    held: HashMap<u64, Held>,
}

/// Somebody who waits.
#[derive(Debug, PartialEq, Eq)]
struct Waiter<T> {
    who: u64,
    ticket: T,
    /// Whether they may share a COMMIT with the one before them.
    shares: bool,
}

/// For how long somebody held the right, as it counted at an instant.
#[derive(Clone, Copy)]
struct Held {
    /// All in all.
    time: Duration,
    /// Without what the store took for the COMMIT.
    work: Duration,
    /// How often.
    times: f64,
    at: Instant,
}

/// The right to write.
struct Guard {
    turns: WriteTurns,
    who: u64,
    since: Instant,
    /// How long the work took, once it is done.
    worked: Option<Duration>,
}

impl WriteTurns {
    /// Those that wait are told apart as `admission` tells them.
    pub(crate) fn new(admission: Arc<Admission>) -> Self {
        Self(Arc::new(Inner {
            admission,
            book: Mutex::new(Book::new()),
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

    /// Gives the right to whoever is next.
    fn hand_on(&self) {
        let next = self.book().next(Instant::now());
        if let Some(Waiter { who, ticket, .. }) = next {
            // Whoever has gone gives it back by dropping it, and so it goes on.
            drop(ticket.send(self.guard(who)));
        }
    }

    fn book(&self) -> MutexGuard<'_, Book<oneshot::Sender<Guard>>> {
        self.0.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Turns for WriteTurns {
    async fn wait(&self, origin: &Origin, shares: bool) -> Result<Turn> {
        let who = self.0.admission.sender(origin).group;
        let (ticket, turn) = oneshot::channel();
        let waiter = Waiter {
            who,
            ticket,
            shares,
        };
        if self.book().take(waiter) {
            return Ok(Turn::of(self.guard(who)));
        }
        turn.await.map(Turn::of).map_err(Error::internal)
    }
}

impl Right for Guard {
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
        self.turns.book().note(self.who, held, worked, now);
        self.turns.hand_on();
    }
}

impl<T> Book<T> {
    fn new() -> Self {
        Self {
            is_taken: false,
            waiters: Vec::new(),
            held: HashMap::new(),
        }
    }

    /// Takes the right for `waiter`, or lets them wait if somebody has it.
    fn take(&mut self, waiter: Waiter<T>) -> bool {
        if self.is_taken {
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
        let times = self.waiters.iter().map(|it| self.lately(it.who, now));
        let next = times.enumerate().min_by_key(|(_, time)| *time);
        next.map(|(at, _)| at)
    }

    /// Whether the one whose turn it is next shares a COMMIT with the one before.
    fn is_awaited(&self, now: Instant) -> bool {
        let next = self.place_of_next(now).and_then(|at| self.waiters.get(at));
        next.is_some_and(|it| it.shares && self.is_brief(it.who, now))
    }

    /// Whether `who` did not work for long at a time lately.
    fn is_brief(&self, who: u64, now: Instant) -> bool {
        let held = self.held.get(&who).map(|it| it.at(now));
        held.is_none_or(|it| it.work <= BRIEF.mul_f64(it.times.max(1.0)))
    }

    /// For how long `who` held the right lately.
    fn lately(&self, who: u64, now: Instant) -> Duration {
        self.held
            .get(&who)
            .map_or(Duration::ZERO, |it| it.at(now).time)
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

    #[test]
    fn who_held_it_least_lately_is_next_and_of_equals_the_first() {
        let mut book = Book::new();
        let begin = Instant::now();
        let after = |millis| begin + Duration::from_millis(millis);
        let note = |book: &mut Book<_>, who, millis, now| {
            let time = Duration::from_millis(millis);
            book.note(who, time, time, after(now));
        };
        assert!(book.take(waiter(1, "first")));
        for (who, ticket) in [(1, "again"), (2, "other"), (3, "third"), (2, "other again")] {
            assert!(!book.take(waiter(who, ticket)));
        }
        note(&mut book, 1, 1_000, 1_000);
        assert_eq!(book.next(after(1_000)), Some(waiter(2, "other")));
        note(&mut book, 2, 5, 1_005);
        assert_eq!(book.next(after(1_005)), Some(waiter(3, "third")));
        note(&mut book, 3, 50, 1_055);
        assert_eq!(book.next(after(1_055)), Some(waiter(2, "other again")));
        assert_eq!(book.next(after(1_060)), Some(waiter(1, "again")));
        assert_eq!(book.next(after(2_060)), None);
        assert!(book.take(waiter(1, "alone")));
    }

    #[test]
    fn who_took_long_lately_shares_nothing_and_a_slow_disk_is_nobodys_fault() {
        let mut book = Book::new();
        let begin = Instant::now();
        let second = Duration::from_secs(1);
        book.note(1, second, second, begin);
        book.note(2, second, BRIEF, begin);
        assert!(!book.is_brief(1, begin));
        assert!(book.is_brief(2, begin) && book.is_brief(3, begin));
        assert!(book.is_brief(1, begin + 6 * HALF));

        assert!(!book.is_awaited(begin));
        assert!(book.take(waiter(3, "writes")));
        assert!(!book.take(waiter(1, "takes long")));
        assert!(!book.is_awaited(begin));
        let batch = Waiter {
            shares: false,
            ..waiter(4, "a batch")
        };
        assert!(!book.take(batch));
        assert!(!book.is_awaited(begin));
        book.note(4, second, BRIEF, begin);
        assert!(!book.take(waiter(5, "brief")));
        assert!(book.is_awaited(begin));
    }

    #[test]
    fn what_was_held_is_forgotten_by_and_by() {
        let mut book = Book::<()>::new();
        let begin = Instant::now();
        book.note(1, Duration::from_secs(1), Duration::ZERO, begin);
        let half = book.lately(1, begin + HALF);
        assert!((Duration::from_millis(499)..=Duration::from_millis(501)).contains(&half));
        let most = u64::try_from(REMEMBERED).unwrap();
        let none = Duration::ZERO;
        (0..most).for_each(|it| book.note(it, none, none, begin + HALF));
        assert_eq!(book.held.len(), REMEMBERED);
        book.note(most, none, none, begin + HALF);
        assert_eq!(book.held.len(), 1);
        assert_eq!(book.lately(1, begin + HALF), half);
    }
}

//! Whose turn it is to write to a file of SQLite: one unit of work can do so at a time.
//!
//! The turn goes to whoever held the right to write for the shortest time lately. Somebody who holds it for as long as
//! one may keeps others waiting for it once; who needs it for some milliseconds now and then comes before them from
//! then on, however many requests they send.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use entity_core::{Error, Origin, Result, Turn, Turns};
use tokio::sync::oneshot;

use super::Admission;

/// After how long a time counts half that somebody held the right to write.
const HALF: Duration = Duration::from_secs(10);
/// Of how many that is remembered. Those who held it for next to no time are forgotten then.
const REMEMBERED: usize = 10_000;
const NEXT_TO_NONE: Duration = Duration::from_millis(1);

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
    waiters: Vec<(u64, T)>,
    held: HashMap<u64, Held>,
}

/// For how long somebody held the right, as it counted at an instant.
#[derive(Clone, Copy)]
struct Held {
    time: Duration,
    at: Instant,
}

/// The right to write.
struct Guard {
    turns: WriteTurns,
    who: u64,
    since: Instant,
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
        }
    }

    /// Gives the right to whoever is next.
    fn hand_on(&self) {
        let next = self.book().next(Instant::now());
        if let Some((who, turn)) = next {
            // Whoever has gone gives it back by dropping it, and so it goes on.
            drop(turn.send(self.guard(who)));
        }
    }

    fn book(&self) -> MutexGuard<'_, Book<oneshot::Sender<Guard>>> {
        self.0.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Turns for WriteTurns {
    async fn wait(&self, origin: &Origin) -> Result<Turn> {
        let who = self.0.admission.sender(origin).group;
        let (sender, turn) = oneshot::channel();
        if self.book().take(who, sender) {
            return Ok(Turn::of(self.guard(who)));
        }
        turn.await.map(Turn::of).map_err(Error::internal)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let now = Instant::now();
        let held = now.saturating_duration_since(self.since);
        self.turns.book().note(self.who, held, now);
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

    /// Takes the right for `who`, or lets them wait if somebody has it.
    fn take(&mut self, who: u64, ticket: T) -> bool {
        if self.is_taken {
            self.waiters.push((who, ticket));
            return false;
        }
        self.is_taken = true;
        true
    }

    /// Notes that `who` held the right for so long.
    fn note(&mut self, who: u64, time: Duration, now: Instant) {
        let time = self.lately(who, now).saturating_add(time);
        self.held.insert(who, Held { time, at: now });
        if self.held.len() > REMEMBERED {
            self.held.retain(|_, it| it.count(now) > NEXT_TO_NONE);
        }
    }

    /// The one whose turn it is; the right is free if nobody waits.
    fn next(&mut self, now: Instant) -> Option<(u64, T)> {
        let times = self.waiters.iter().map(|(who, _)| self.lately(*who, now));
        let next = times.enumerate().min_by_key(|(_, time)| *time);
        self.is_taken = next.is_some();
        next.map(|(at, _)| self.waiters.remove(at))
    }

    /// For how long `who` held the right lately.
    fn lately(&self, who: u64, now: Instant) -> Duration {
        self.held
            .get(&who)
            .map_or(Duration::ZERO, |it| it.count(now))
    }
}

impl Held {
    fn count(self, now: Instant) -> Duration {
        let past = now.saturating_duration_since(self.at);
        let halves = past.as_secs_f64() / HALF.as_secs_f64();
        self.time.mul_f64(0.5_f64.powf(halves))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_held_it_least_lately_is_next_and_of_equals_the_first() {
        let mut book = Book::new();
        let begin = Instant::now();
        let after = |millis| begin + Duration::from_millis(millis);
        assert!(book.take(1, "first"));
        for (who, ticket) in [(1, "again"), (2, "other"), (3, "third"), (2, "other again")] {
            assert!(!book.take(who, ticket));
        }
        book.note(1, Duration::from_secs(1), after(1_000));
        assert_eq!(book.next(after(1_000)), Some((2, "other")));
        book.note(2, Duration::from_millis(5), after(1_005));
        assert_eq!(book.next(after(1_005)), Some((3, "third")));
        book.note(3, Duration::from_millis(50), after(1_055));
        assert_eq!(book.next(after(1_055)), Some((2, "other again")));
        assert_eq!(book.next(after(1_060)), Some((1, "again")));
        assert_eq!(book.next(after(2_060)), None);
        assert!(book.take(1, "alone"));
    }

    #[test]
    fn what_was_held_is_forgotten_by_and_by() {
        let mut book = Book::<()>::new();
        let begin = Instant::now();
        book.note(1, Duration::from_secs(1), begin);
        let half = book.lately(1, begin + HALF);
        assert!((Duration::from_millis(499)..=Duration::from_millis(501)).contains(&half));
        let most = u64::try_from(REMEMBERED).unwrap();
        (0..most).for_each(|it| book.note(it, Duration::ZERO, begin + HALF));
        assert_eq!(book.held.len(), REMEMBERED);
        book.note(most, Duration::ZERO, begin + HALF);
        assert_eq!(book.held.len(), 1);
        assert_eq!(book.lately(1, begin + HALF), half);
    }
}

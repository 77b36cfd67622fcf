//! Attack after attack, and what everybody else notices of each.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tokio::time::Instant;

use super::attack::Attack;
use super::ground::{Ground, Sides};
use super::others::{Answers, Others, failed, longest, milliseconds, refused, statuses};
use super::storage::Stored;
use super::tally::Tally;
use crate::Backend;
use crate::bench::driver::Outcome;

/// The limits that must hold for everybody else.
const LONGEST_READ: Duration = Duration::from_millis(50);
const LONGEST_WRITE: Duration = Duration::from_millis(1_500);
const LONGEST_LOGIN: Duration = Duration::from_secs(1);
/// The most that the service may have in memory without files, in KiB.
const MEMORY: u64 = 300 << 10;
/// One request in so many may be told to come back.
const REFUSED: u64 = 100;
/// The time for which nobody looks at what is in memory.
pub(super) const BETWEEN_LOOKS: Duration = Duration::from_millis(10);
/// The time for which everybody rests between two attacks.
const REST: Duration = Duration::from_secs(2);

/// The measurements of one attack.
#[derive(Debug)]
struct Row {
    attack: Attack,
    answers: Answers,
    attackers: Tally,
    /// The most that was in memory without files, in KiB.
    memory: u64,
    /// The part of one core that the service used.
    cores: f64,
    /// By how many bytes the database grew.
    growth: u64,
}

/// Lets each attack whose name holds `name` go on for `duration` on both databases, and prints the table. Returns true
/// if all bounds held.
pub fn attacks(duration: Duration, name: &str) -> bool {
    let sides = Sides::new();
    let mut is_good = true;
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let Some(ground) = Ground::prepare(backend, &sides, &[]) else {
            continue;
        };
        let ground = Arc::new(ground);
        let others = sides.others.block_on(Others::of(&ground));
        let stored = sides.others.block_on(Stored::of(&ground));
        let bytes = || {
            sides
                .others
                .block_on(stored.bytes())
                .iter()
                .map(|it| it.1)
                .sum::<u64>()
        };
        println!("\n{backend:?}, {} s each; times in ms", duration.as_secs());
        println!("{HEAD}");
        // The first one warms up.
        let all = [Attack::Nothing, Attack::Nothing].into_iter().chain(
            Attack::ALL
                .into_iter()
                .filter(|it| it.name().contains(name)),
        );
        for (number, attack) in all.enumerate() {
            let before = bytes();
            let row = try_attack(&sides, &ground, &others, attack, duration);
            let row = Row {
                growth: bytes().saturating_sub(before),
                ..row
            };
            if number > 0 {
                println!("{row}");
                is_good &= row.misses().is_empty();
            }
            thread::sleep(REST);
        }
    }
    println!("4 joining people unasked is no load: tests/it/attack/enrolment.rs");
    is_good
}

fn try_attack(
    sides: &Sides,
    ground: &Arc<Ground>,
    others: &Others,
    attack: Attack,
    duration: Duration,
) -> Row {
    let process = &ground.process;
    let time = process.cpu_time();
    let begin = Instant::now();
    let attacking = sides.attackers.spawn({
        let ground = Arc::clone(ground);
        async move { attack.go_on(&ground, begin + duration).await }
    });
    let is_over = AtomicBool::new(false);
    let (answers, attackers, memory) = thread::scope(|scope| {
        let watch = scope.spawn(|| process.most_memory_until(&is_over, BETWEEN_LOOKS));
        let answers = sides.others.block_on(others.go_on(duration));
        let attackers = sides.attackers.block_on(attacking);
        is_over.store(true, Ordering::SeqCst);
        (answers, attackers, watch.join().expect("a watch"))
    });
    let used = Duration::from_micros(process.cpu_time() - time);
    Row {
        attack,
        answers,
        attackers: attackers.expect("an attack that ends"),
        memory,
        cores: used.as_secs_f64() / begin.elapsed().as_secs_f64(),
        growth: 0,
    }
}

impl Row {
    /// The bounds that did not hold.
    fn misses(&self) -> Vec<&'static str> {
        let Answers {
            reads,
            writes,
            searches: _,
            logins,
        } = &self.answers;
        let is_late = |it: &Outcome, most| it.answers.count() == 0 || it.answers.below(99) > most;
        let is_refused = |it: &Outcome| refused(it) > it.sent() / REFUSED;
        let all = [reads, writes, logins, &self.answers.searches];
        let checks = [
            ("slow reads", is_late(reads, LONGEST_READ)),
            ("slow writes", is_late(writes, LONGEST_WRITE)),
            ("slow logins", is_late(logins, LONGEST_LOGIN)),
            ("refused reads", is_refused(reads)),
            ("refused writes", is_refused(writes)),
            ("failures", all.iter().any(|it| failed(it) > 0)),
            ("memory", self.memory > MEMORY),
        ];
        let missed = checks.into_iter().filter(|(_, is_missed)| *is_missed);
        missed.map(|(name, _)| name).collect()
    }
}

const HEAD: &str = "attack                  GET p50    p99    max  write p50    p99    max  search p99  login p99  refused  failed  memory MiB  cores  grown MiB";

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Answers {
            reads,
            writes,
            searches,
            logins,
        } = &self.answers;
        let p99 = |it: &Outcome| milliseconds(it, 99);
        let all = [reads, writes, searches, logins];
        write!(
            f,
            "{:22} {:>8} {:>6} {:>6} {:>10} {:>6} {:>6} {:>11} {:>10} {:>8} {:>7} {:>11} {:>6.2} {:>10}",
            self.attack.name(),
            milliseconds(reads, 50),
            p99(reads),
            longest(reads),
            milliseconds(writes, 50),
            p99(writes),
            longest(writes),
            p99(searches),
            p99(logins),
            all.iter().map(|it| refused(it)).sum::<u64>(),
            all.iter().map(|it| failed(it)).sum::<u64>(),
            self.memory >> 10,
            self.cores,
            self.growth >> 20,
        )?;
        for (name, outcome) in [
            ("GET", reads),
            ("writes", writes),
            ("searches", searches),
            ("logins", logins),
        ] {
            if refused(outcome) + failed(outcome) > 0 {
                write!(f, "\n    {name}: {}", statuses(outcome))?;
            }
        }
        if self.attack != Attack::Nothing {
            write!(f, "\n    attackers: {}", self.attackers)?;
        }
        match &*self.misses() {
            [] => Ok(()),
            misses => write!(f, "\n    MISSED: {}", misses.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hundred answers that took so long.
    fn answers(millis: u64) -> Outcome {
        let mut outcome = Outcome::default();
        (0..100).for_each(|_| outcome.answers.add(Duration::from_millis(millis)));
        outcome
    }

    type Change = fn(&mut Row);

    fn refuse(outcome: &mut Outcome, status: u16, times: u64) {
        let refused = outcome.refusals.entry(status).or_default();
        (0..times).for_each(|_| refused.add(Duration::ZERO));
    }

    fn row() -> Row {
        Row {
            attack: Attack::Html,
            answers: Answers {
                reads: answers(50),
                writes: answers(1_500),
                searches: Outcome::default(),
                logins: answers(1_000),
            },
            attackers: Tally::default(),
            memory: MEMORY,
            cores: 1.0,
            growth: 0,
        }
    }

    #[test]
    fn each_bound_is_looked_at() {
        assert_eq!(row().misses(), Vec::<&str>::new());
        let changes: [(&str, Change); 8] = [
            ("slow reads", |it| it.answers.reads = answers(51)),
            ("slow writes", |it| it.answers.writes = answers(1_501)),
            ("slow logins", |it| it.answers.logins = Outcome::default()),
            ("refused reads", |it| refuse(&mut it.answers.reads, 503, 2)),
            ("refused writes", |it| {
                refuse(&mut it.answers.writes, 429, 2);
            }),
            ("failures", |it| refuse(&mut it.answers.searches, 500, 1)),
            ("failures", |it| it.answers.logins.unsent = 1),
            ("memory", |it| it.memory += 1),
        ];
        for (name, change) in changes {
            let mut row = row();
            change(&mut row);
            assert_eq!(row.misses(), [name]);
            assert!(row.to_string().ends_with(&format!("MISSED: {name}")));
        }
    }

    #[test]
    fn one_in_a_hundred_may_be_told_to_come_back() {
        let mut row = row();
        refuse(&mut row.answers.reads, 503, 1);
        refuse(&mut row.answers.searches, 503, 100);
        assert_eq!(row.misses(), Vec::<&str>::new());
        assert!(row.to_string().contains("GET: 200 × 100, 503 × 1"));
    }
}

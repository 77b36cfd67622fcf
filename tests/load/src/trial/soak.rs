//! Attackers and everybody else for a long time: nothing may grow without end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tokio::time::Instant;

use super::attack::Attack;
use super::attacks::BETWEEN_LOOKS;
use super::ground::{Ground, Sides};
use super::level::{Course, Unit};
use super::others::{Others, failed, longest, milliseconds, statuses};
use super::storage::Stored;
use super::tally::Tally;
use crate::Backend;
use crate::bench::driver::Outcome;

/// Everything is kept for so short that what is removed is seen to go.
const SETTINGS: [(&str, &str); 7] = [
    ("LECTERN_RETENTION_AUDIT", "60"),
    ("LECTERN_RETENTION_AUDITROWS", "20000"),
    ("LECTERN_RETENTION_OUTBOX", "60"),
    ("LECTERN_RETENTION_OUTBOXROWS", "20000"),
    ("LECTERN_RETENTION_IDEMPOTENCYKEYS", "50"),
    ("LECTERN_RETENTION_IDEMPOTENCYBYTES", "8MiB"),
    ("LECTERN_SESSION_PERUSER", "10"),
];
/// The interval between two measurements.
const PAUSE: Duration = Duration::from_secs(5);
/// The most that the service may have in memory without files, in KiB.
const MEMORY: u64 = 300 << 10;

/// Goes on for `duration` on each of `backends`, and prints the course of all figures. Returns true if all of them
/// levelled off and nothing failed.
pub fn soak(duration: Duration) -> bool {
    let sides = Sides::new();
    let mut is_good = true;
    for backend in [Backend::Sqlite, Backend::Postgres] {
        if let Some(ground) = Ground::prepare(backend, &sides, &SETTINGS) {
            is_good &= soak_one(&sides, &Arc::new(ground), duration);
        }
    }
    is_good
}

fn soak_one(sides: &Sides, ground: &Arc<Ground>, duration: Duration) -> bool {
    let others = sides.others.block_on(Others::of(ground));
    let begin = Instant::now();
    let attacking = sides.attackers.spawn({
        let ground = Arc::clone(ground);
        async move { attack_in_turn(&ground, begin, duration).await }
    });
    let is_over = Arc::new(AtomicBool::new(false));
    let watching = thread::spawn({
        let (ground, is_over) = (Arc::clone(ground), Arc::clone(&is_over));
        move || watch(&ground, begin, duration, &is_over)
    });
    let memory = thread::spawn({
        let (ground, is_over) = (Arc::clone(ground), Arc::clone(&is_over));
        move || ground.process.most_memory_until(&is_over, BETWEEN_LOOKS)
    });
    let answers = sides.others.block_on(others.go_on(duration));
    let attackers = sides.attackers.block_on(attacking);
    is_over.store(true, Ordering::SeqCst);
    let course = watching.join().expect("a course");
    let memory = memory.join().expect("a watch");
    println!(
        "\n{:?}, {} s",
        ground.database.backend(),
        duration.as_secs()
    );
    for (key, value) in SETTINGS {
        println!("{key}={value}");
    }
    println!("{course}");
    for (name, outcome) in [
        ("GET", &answers.reads),
        ("writes", &answers.writes),
        ("searches", &answers.searches),
        ("logins", &answers.logins),
    ] {
        println!("{name}: {}", tell(outcome));
    }
    println!("attackers: {}", attackers.expect("attacks that end"));
    println!("memory at most: {memory} KiB");
    let all = [
        &answers.reads,
        &answers.writes,
        &answers.searches,
        &answers.logins,
    ];
    let growing = course.growing();
    let failed = all.iter().map(|it| failed(it)).sum::<u64>();
    if !growing.is_empty() {
        println!("DOES NOT LEVEL OFF: {}", growing.join(", "));
    }
    growing.is_empty() && failed == 0 && memory <= MEMORY
}

fn tell(outcome: &Outcome) -> String {
    format!(
        "p50 {} ms, p99 {} ms, longest {} ms; {}",
        milliseconds(outcome, 50),
        milliseconds(outcome, 99),
        longest(outcome),
        statuses(outcome)
    )
}

/// Each attack in its turn, all of them in each third of the time.
async fn attack_in_turn(ground: &Ground, begin: Instant, duration: Duration) -> Tally {
    let turns = u32::try_from(Attack::ALL.len() * 3).expect("a few attacks");
    let mut sum = Tally::default();
    for (attack, turn) in Attack::ALL.into_iter().cycle().zip(1..=turns) {
        let until = begin + duration * turn / turns;
        sum.merge(&attack.go_on(ground, until).await);
    }
    sum
}

/// Looks again and again until all is over.
fn watch(ground: &Ground, begin: Instant, duration: Duration, is_over: &AtomicBool) -> Course {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.expect("a runtime of one thread");
    let stored = runtime.block_on(Stored::of(ground));
    let mut course = Course::new(duration);
    while !is_over.load(Ordering::SeqCst) {
        let process = &ground.process;
        let handles = |number| u64::try_from(number).unwrap_or(u64::MAX);
        let (bytes, rows) = runtime.block_on(async { (stored.bytes().await, stored.rows().await) });
        let elapsed = begin.elapsed();
        let mut note = |unit, name: &str, value| course.note(elapsed, unit, name, value);
        let memory = process.memory();
        note(Unit::Memory, "memory without files", memory.anonymous);
        let of_files = memory.resident.saturating_sub(memory.anonymous);
        note(Unit::Mapped, "files in memory", of_files);
        note(Unit::Handles, "descriptors", handles(process.descriptors()));
        note(Unit::Handles, "threads", handles(process.threads()));
        for (name, value) in &bytes {
            note(Unit::Storage, name, *value);
        }
        for (name, value) in &rows {
            note(Unit::Rows, name, *value);
        }
        thread::sleep(PAUSE);
    }
    course
}

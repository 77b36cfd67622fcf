//! Ten times as much as the service can do, with limits as they come: how much is still done, for whom, how soon the
//! others are told, and how soon all is as before.
//!
//! The capacity is what a closed loop gets: a few connections, each of which sends the next request after an answer.
//! The runs at capacity and at ten times of it are by schedule. The service has one core and the driver the other;
//! the PostgreSQL server, which does not sync, is on the service's.

use std::path::Path;
use std::time::Duration;

use super::crowd::{self, Crowd};
use super::driver::{Load, Outcome, Request, count};
use super::table::{Row, Table};
use super::{data, pin};
use crate::cgroup::MemoryGroup;
use crate::process::{Process, own_cpu_time, service};
use crate::{Backend, Database, OnBackend};

/// The settings without rate limits of accounts: only requests beyond the capacity of the service are refused.
const WITHOUT_RATES: [(&str, &str); 3] = [
    ("LECTERN_RATE_READS", "0"),
    ("LECTERN_RATE_WRITES", "0"),
    ("LECTERN_RATE_STRANGERS", "0"),
];
/// The memory that the service has, in bytes.
const MEMORY: u64 = 512 * 1024 * 1024;
/// Connections of the closed loop: enough to keep the service busy, and not so many that any is refused.
const CLOSED: usize = 16;
/// Closed loops of more connections than find a place, each of which asks again as soon as it is refused.
const CROWDED: [(&str, usize); 2] = [("80 closed", 80), ("400 closed", 400)];
/// Connections by schedule: they are not what ends first.
const OPEN: usize = 4_096;
/// The time for which a client waits.
const PATIENCE: Duration = Duration::from_secs(5);
/// The part of the capacity that is asked for before and after.
const CALM: f64 = 0.2;
/// The duration of one look at the calm service.
const LOOK: Duration = Duration::from_millis(500);
/// The number of looks there are before, and at most after.
const LOOKS: (u32, u32) = (4, 20);
/// Full pages of 1,000 entries that are asked for in a second.
const PAGES: f64 = 1_500.0;
/// The minimum duration: a service without bounds had all of its memory in eight seconds.
const PAGES_FOR: Duration = Duration::from_secs(12);

/// The extent of a measurement.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The duration of each run.
    pub duration: Duration,
    /// Names of storages and cases; all of those that are not named at all.
    pub only: Vec<String>,
}

impl Plan {
    fn has(&self, name: &str, of: &[&str]) -> bool {
        let named = |it: &str| self.only.iter().any(|only| only.eq_ignore_ascii_case(it));
        named(name) || !of.iter().any(|it| named(it))
    }
}

/// A service with what is asked of it.
struct Trial<'a> {
    process: Process,
    cgroup: Option<MemoryGroup>,
    duration: Duration,
    table: &'a mut Table,
}

/// The requests, and the status of a good answer.
struct Case {
    name: &'static str,
    requests: Vec<Request>,
    expected: u16,
}

const CASES: [&str; 5] = ["list", "search", "write", "login", "pages"];

/// Measures and prints.
pub fn run(plan: &Plan) {
    let program = service(true);
    pin(0);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let backends = [Backend::Sqlite, Backend::Postgres];
    let names = backends.map(|it| format!("{it:?}"));
    let names = names.each_ref().map(String::as_str);
    for (backend, name) in backends.into_iter().zip(names) {
        if !plan.has(name, &names) {
            continue;
        }
        let Some(database) = runtime.block_on(Database::on_backend(backend)) else {
            continue;
        };
        Process::start_service(&program, &database, true).stop();
        runtime.block_on(async {
            data::fill(database.url(), data::SIZE).await;
            crowd::fill(database.url()).await;
        });
        let mut table = Table::new(backend);
        for case in CASES.into_iter().filter(|it| plan.has(it, &CASES)) {
            let (process, cgroup) = start(&program, &database);
            let crowd = runtime.block_on(Crowd::gather(process.port()));
            pin(1);
            let trial = Trial {
                process,
                cgroup,
                duration: plan.duration,
                table: &mut table,
            };
            trial.run(&Case::of(case, &crowd));
            pin(0);
        }
        println!("{table}");
    }
}

fn start(program: &Path, database: &Database) -> (Process, Option<MemoryGroup>) {
    let group = MemoryGroup::new(MEMORY);
    let folder = database.folder();
    let inside = group.as_ref().map(|it| it.enter(program, &folder));
    let program = inside.as_deref().unwrap_or(program);
    let process =
        Process::start_limited_service(program, database.url(), &folder, false, &WITHOUT_RATES);
    (process, group)
}

impl Case {
    fn of(name: &'static str, crowd: &Crowd) -> Self {
        let (requests, expected) = match name {
            "list" => (crowd.lists(), 200),
            "search" => (crowd.searches(), 200),
            "write" => (crowd.writes(), 201),
            "login" => (Crowd::logins(), 200),
            _ => (crowd.pages(), 200),
        };
        Self {
            name,
            requests,
            expected,
        }
    }
}

impl Trial<'_> {
    fn run(mut self, case: &Case) {
        let load = Load {
            port: self.process.port(),
            requests: case.requests.as_slice().into(),
            expected: case.expected,
            connections: CLOSED,
            rate: None,
            patience: PATIENCE,
        };
        if case.name == "pages" {
            let duration = self.duration.max(PAGES_FOR);
            self.measure(case, "1,500/s", &open(&load, PAGES), duration);
        } else {
            self.overload(case, &load);
        }
        let kills = self.cgroup.as_ref().map(MemoryGroup::kills);
        if self.process.wait(Duration::ZERO).is_some() {
            self.table.remark(format!(
                "{}: THE SERVICE HAS ENDED; the system killed {kills:?} for want of memory",
                case.name
            ));
        }
        // Its group can be removed only when it has gone.
        drop(self.process);
    }

    fn overload(&mut self, case: &Case, load: &Load) {
        // Caches and connections are there from now on.
        load.run(self.duration.min(Duration::from_secs(2)));
        let best = self.measure(case, "closed", load, self.duration);
        for (name, connections) in CROWDED {
            let crowded = Load {
                connections,
                ..load.clone()
            };
            let kept = self.measure(case, name, &crowded, self.duration).rate() / best.rate();
            self.table.remark(format!(
                "{}: {:.0} % of the best beside {connections} connections that ask again at once",
                case.name,
                kept * 100.0
            ));
        }
        let calm = open(load, (best.rate() * CALM).max(2.0));
        let before = (0..LOOKS.0).map(|_| calm.run(LOOK).answers.below(99)).max();
        self.measure(case, "1 x", &open(load, best.rate()), self.duration);
        let tenfold = open(load, best.rate() * 10.0);
        let outcome = self.measure(case, "10 x", &tenfold, self.duration);
        let rest = outcome.elapsed.saturating_sub(self.duration);
        let after = recovery(&calm, before.unwrap_or_default());
        self.table.remark(match after {
            Some(after) => format!(
                "{}: back to normal within {:.1} s (p99 of {:.0} requests/s at most twice the {:.1} ms of before)",
                case.name,
                (rest + after).as_secs_f64(),
                calm.rate.unwrap_or_default(),
                before.unwrap_or_default().as_secs_f64() * 1e3,
            ),
            None => format!("{}: NOT BACK TO NORMAL", case.name),
        });
    }

    fn measure(
        &mut self,
        case: &Case,
        name: &'static str,
        load: &Load,
        duration: Duration,
    ) -> Outcome {
        self.process.forget_peak();
        let before = (self.process.cpu_time(), own_cpu_time());
        let outcome = load.run(duration);
        let driver = own_cpu_time() - before.1;
        if self.process.wait(Duration::ZERO).is_some() {
            return outcome;
        }
        self.table.add(Row {
            case: case.name,
            load: name,
            offered: load.rate,
            outcome: outcome.clone(),
            cpu_time: self.process.cpu_time() - before.0,
            driver,
            memory: self.process.memory().peak,
            cgroup: self.cgroup.as_ref().and_then(MemoryGroup::peak),
        });
        outcome
    }
}

fn open(load: &Load, rate: f64) -> Load {
    Load {
        connections: OPEN,
        rate: Some(rate),
        ..load.clone()
    }
}

/// Returns the time that it takes until a look shows the service as it was: nobody is refused, and the p99 is at most twice that
/// of before; nothing if it does not come to that.
fn recovery(calm: &Load, before: Duration) -> Option<Duration> {
    // Timers are exact to a millisecond.
    let normal = before * 2 + Duration::from_millis(1);
    let mut passed = Duration::ZERO;
    for _ in 0..LOOKS.1 {
        let outcome = calm.run(LOOK);
        passed += outcome.elapsed;
        let is_answered = outcome.answers.count() == outcome.sent() && outcome.sent() > 0;
        if is_answered && outcome.answers.below(99) <= normal {
            return Some(passed);
        }
    }
    None
}

impl Row {
    /// Requests that were sent in a second.
    pub(super) fn sent(&self) -> f64 {
        count(self.outcome.sent()) / self.outcome.duration.as_secs_f64()
    }
}

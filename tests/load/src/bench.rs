//! The benchmark: the service beside the least that can serve the same rows, in one run on one machine.
//!
//! The servers have one core, the driver another. Rounds are interleaved, and figures are medians: compare
//! ratios of one run, not figures of two.

pub mod course;
mod crowd;
pub(crate) mod data;
pub mod driver;
pub mod overload;
mod report;
mod table;
mod wire;

use std::fs;
use std::path::Path;
use std::process::{self, Command, Stdio};
use std::time::Duration;

use self::driver::{Load, Outcome, Request};
use self::report::{Measurement, Report};
use crate::client::Client;
use crate::process::{Memory, Process, binary, service};
use crate::{Backend, Database, OnBackend};

/// Requests under way at once.
const CONNECTIONS: usize = 32;
/// The time for which an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// The extent of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The number of measurements of each case.
    pub rounds: u32,
    /// The duration of each measurement.
    pub duration: Duration,
}

/// A server with what to ask of it: the same cases in the same order for each.
struct Contender {
    name: &'static str,
    process: Process,
    cases: Vec<(&'static str, Load)>,
    idle: Memory,
}

/// Measures and prints.
pub fn run(plan: Plan) {
    let lectern = service(true);
    let bare = binary("bare", true);
    pin(0);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let Some(database) = runtime.block_on(Database::on_backend(backend)) else {
            continue;
        };
        Process::start_service(&lectern, &database, true).stop();
        let sample = runtime.block_on(data::fill(database.url(), data::SIZE));
        // Batches ask for more than the audit log can store at once; here they wait for it, and are not refused.
        let process = Process::start_service_with(
            &lectern,
            database.url(),
            &database.folder(),
            false,
            &[("LECTERN_AUDIT_WAIT", "5")],
        );
        let cookie = runtime.block_on(log_in(process.port()));
        let mut lectern = contender("lectern", process, &cookie, &sample);
        runtime.block_on(lectern.add_own_cases(&cookie, &sample));
        let mut contenders = vec![lectern];
        if backend == Backend::Sqlite {
            let process = start_bare(&bare, &database, &cookie);
            contenders.push(contender("bare", process, &cookie, &sample));
        }
        pin(1);
        println!("{}", measure(backend, &contenders, plan));
        pin(0);
    }
}

fn start_bare(program: &Path, database: &Database, cookie: &str) -> Process {
    Process::start(program, |command, port| {
        command
            .arg(database.folder().join("lectern.db"))
            .arg(port.to_string())
            .arg(cookie);
    })
}

fn contender(
    name: &'static str,
    process: Process,
    cookie: &str,
    sample: &data::Sample,
) -> Contender {
    let port = process.port();
    let load = |paths: &[String]| load(port, plain(paths, cookie), 200);
    let cases = vec![
        ("one", load(&sample.ones)),
        ("list of 50", load(&sample.lists)),
    ];
    let idle = process.memory();
    Contender {
        name,
        process,
        cases,
        idle,
    }
}

/// Requests for these paths.
fn plain(paths: &[String], cookie: &str) -> Vec<Request> {
    let requests = paths.iter();
    requests
        .map(|it| Request::get(it, &[("Cookie", cookie)]))
        .collect()
}

fn load(port: u16, requests: Vec<Request>, expected: u16) -> Load {
    Load {
        port,
        requests: requests.into(),
        expected,
        connections: CONNECTIONS,
        rate: None,
        patience: PATIENCE,
    }
}

impl Contender {
    /// Adds what only the service can do.
    async fn add_own_cases(&mut self, cookie: &str, sample: &data::Sample) {
        let port = self.process.port();
        let client = Client::on_port(port)
            .log_in("student1", data::PASSWORD)
            .await;
        let mut known = Vec::new();
        for path in sample.ones.iter().take(100) {
            let answer = client.get(path).await;
            let tag = answer.header("etag").expect("a version");
            let fields = [("Cookie", cookie), ("If-None-Match", tag)];
            known.push(Request::get(path, &fields));
        }
        let plain = |paths: &[String]| load(port, plain(paths, cookie), 200);
        self.cases.extend([
            ("unchanged", load(port, known, 304)),
            ("Atom of 50", plain(&sample.feeds)),
            ("batch of 50", plain(&sample.batches)),
        ]);
    }
}

async fn log_in(port: u16) -> String {
    let client = Client::on_port(port)
        .log_in("student1", data::PASSWORD)
        .await;
    client.cookie().expect("the login sets a cookie").to_owned()
}

fn measure(backend: Backend, contenders: &[Contender], plan: Plan) -> Report {
    let mut report = Report::new(backend);
    // The first round warms up.
    for round in 0..=plan.rounds {
        for contender in contenders {
            for (case, load) in &contender.cases {
                let before = contender.process.cpu_time();
                let outcome = load.run(plan.duration);
                let cpu_time = contender.process.cpu_time() - before;
                refuse_refusals(contender.name, case, &outcome);
                if round > 0 {
                    report.add(contender.name, case, Measurement { outcome, cpu_time });
                }
            }
        }
    }
    for contender in contenders {
        report.remark(format!(
            "{}: start {} ms, memory idle {} KiB ({} without files), under load {} KiB ({})",
            contender.name,
            contender.process.start_time().as_millis(),
            contender.idle.resident,
            contender.idle.anonymous,
            contender.process.memory().resident,
            contender.process.memory().anonymous,
        ));
    }
    report
}

/// A server that refuses is quick, and measures nothing.
fn refuse_refusals(name: &str, case: &str, outcome: &Outcome) {
    assert!(
        outcome.sent() == outcome.answers.count() && outcome.sent() > 0,
        "{name} does not answer `{case}`: {:?}",
        outcome.refusals.keys()
    );
}

/// Keeps this process, and what it starts from now on, on one core.
fn pin(core: usize) {
    let cores = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cores = cores
        .lines()
        .filter(|it| it.starts_with("processor"))
        .count();
    let status = Command::new("taskset")
        .args([
            "-a",
            "-c",
            "-p",
            &core.to_string(),
            &process::id().to_string(),
        ])
        .stdout(Stdio::null())
        .status();
    if cores < 2 || !status.is_ok_and(|it| it.success()) {
        eprintln!("the servers and the driver share cores: the figures say little");
    }
}

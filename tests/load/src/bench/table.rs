//! The table of what became of too many requests.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::driver::{Latencies, Outcome, count};
use crate::Backend;

/// One run.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) case: &'static str,
    /// The load, in words.
    pub(super) load: &'static str,
    /// The number of requests that were to be sent in a second.
    pub(super) offered: Option<f64>,
    /// The measurements of the driver.
    pub(super) outcome: Outcome,
    /// The microseconds of a core that the service used.
    pub(super) cpu_time: u64,
    /// The same of the driver.
    pub(super) driver: u64,
    /// The most that the service had in memory, in KiB.
    pub(super) memory: u64,
    /// The same of its control group in bytes, files that were read included.
    pub(super) cgroup: Option<u64>,
}

/// The runs on one kind of storage.
#[derive(Debug)]
pub(super) struct Table {
    backend: Backend,
    rows: Vec<Row>,
    remarks: Vec<String>,
}

impl Table {
    pub(super) fn new(backend: Backend) -> Self {
        Self {
            backend,
            rows: Vec::new(),
            remarks: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, row: Row) {
        self.rows.push(row);
    }

    pub(super) fn remark(&mut self, text: String) {
        self.remarks.push(text);
    }

    /// Compares the run at ten times the capacity with that at capacity.
    fn verdict(&self, f: &mut fmt::Formatter<'_>, case: &str) -> fmt::Result {
        let rows = || self.rows.iter().filter(|it| it.case == case);
        let (Some(at), Some(beyond)) = (
            rows().find(|it| it.load == "1 x"),
            rows().find(|it| it.load == "10 x"),
        ) else {
            return Ok(());
        };
        let best = rows().map(|it| it.outcome.rate()).fold(0.0, f64::max);
        let p99 = |it: &Row| it.outcome.answers.below(99).as_secs_f64();
        writeln!(
            f,
            "{case}: goodput {:.0} % of the best, p99 {:.2} of that at capacity, refused within {} ms (median)",
            beyond.outcome.rate() / best * 100.0,
            p99(beyond) / p99(at),
            millis(beyond.outcome.refusal_times().below(50)),
        )
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{:?}", self.backend)?;
        writeln!(
            f,
            "{:7} {:8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>7} {:>7} {:>8} {:>6} {:>6} {:>6}",
            "case",
            "load",
            "due/s",
            "sent/s",
            "good/s",
            "p50 ms",
            "p99 ms",
            "refused",
            "p50 ms",
            "p99 ms",
            "t.outs",
            "broken",
            "CPU us",
            "driver",
            "RSS",
            "cgroup"
        )?;
        self.rows.iter().try_for_each(|it| it.fmt(f))?;
        let mut cases: Vec<_> = self.rows.iter().map(|it| it.case).collect();
        cases.dedup();
        cases.iter().try_for_each(|it| self.verdict(f, it))?;
        self.remarks.iter().try_for_each(|it| writeln!(f, "{it}"))?;
        writeln!(
            f,
            "CPU: of the service for each good answer, refusals included. driver: of its core. Memory in MiB: the most \
             that was resident, and that of the control group of 512 MiB with the files it read ({}).",
            match self.rows.iter().all(|it| it.cgroup.is_some()) {
                true => "which held it",
                false => "which could not be made: nothing held it",
            }
        )
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = &self.outcome;
        let refusals = outcome.refusal_times();
        let elapsed = outcome.elapsed.as_secs_f64();
        writeln!(
            f,
            "{:7} {:8} {:>8} {:>8.0} {:>8.0} {:>8} {:>8} {:>8} {:>8} {:>8} {:>7} {:>7} {:>8.0} {:>5.0}% {:>6} {:>6}{}",
            self.case,
            self.load,
            self.offered
                .map_or_else(|| "-".to_owned(), |it| format!("{it:.0}")),
            self.sent(),
            outcome.rate(),
            millis(outcome.answers.below(50)),
            millis(outcome.answers.below(99)),
            outcome.refused(),
            millis(refusals.below(50)),
            millis(refusals.below(99)),
            outcome.timeouts,
            outcome.broken,
            count(self.cpu_time) / count(outcome.answers.count().max(1)),
            count(self.driver) / 1e4 / elapsed,
            self.memory / 1024,
            self.cgroup
                .map_or_else(|| "-".to_owned(), |it| (it / 1_048_576).to_string()),
            statuses(&outcome.refusals),
        )
    }
}

fn millis(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1e3)
}

/// Counts the refusals by their statuses, except those because of too much load.
fn statuses(refusals: &BTreeMap<u16, Latencies>) -> String {
    let others = refusals.iter().filter(|(status, _)| **status != 503);
    others.fold(String::new(), |text, (status, times)| {
        format!("{text} {status}: {}", times.count())
    })
}

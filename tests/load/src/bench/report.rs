//! The table of what was measured.

use std::collections::BTreeMap;
use std::fmt;

use super::driver::{Outcome, count};
use crate::Backend;

/// One round of one case on one server.
#[derive(Debug)]
pub(super) struct Measurement {
    /// The measurements of the driver.
    pub(super) outcome: Outcome,
    /// The microseconds of a core that the server used.
    pub(super) cpu_time: u64,
}

/// The figures of a run on one kind of storage.
#[derive(Debug)]
pub(super) struct Report {
    backend: Backend,
    /// The rounds by case and server. The first server of a case is ours.
    rounds: BTreeMap<&'static str, Vec<(&'static str, Vec<Measurement>)>>,
    remarks: Vec<String>,
}

impl Report {
    pub(super) fn new(backend: Backend) -> Self {
        Self {
            backend,
            rounds: BTreeMap::new(),
            remarks: Vec::new(),
        }
    }

    pub(super) fn add(
        &mut self,
        server: &'static str,
        case: &'static str,
        measurement: Measurement,
    ) {
        let servers = self.rounds.entry(case).or_default();
        match servers.iter_mut().find(|(name, _)| *name == server) {
            Some((_, rounds)) => rounds.push(measurement),
            None => servers.push((server, vec![measurement])),
        }
    }

    pub(super) fn remark(&mut self, text: String) {
        self.remarks.push(text);
    }
}

impl Measurement {
    /// Microseconds of a core for each answer.
    fn cost(&self) -> f64 {
        count(self.cpu_time) / count(self.outcome.answers.count().max(1))
    }
}

/// The middle one of `numbers`.
fn median(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted = numbers.into_iter().collect::<Vec<_>>();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{:?}", self.backend)?;
        writeln!(
            f,
            "{:12} {:10} {:>10} {:>10} {:>10} {:>10}",
            "case", "server", "requests/s", "CPU µs", "p99 µs", "bytes"
        )?;
        for (case, servers) in &self.rounds {
            for (server, rounds) in servers {
                writeln!(
                    f,
                    "{case:12} {server:10} {:>10.0} {:>10.1} {:>10.0} {:>10.0}",
                    median(rounds.iter().map(|it| it.outcome.rate())),
                    median(rounds.iter().map(Measurement::cost)),
                    median(
                        rounds
                            .iter()
                            .map(|it| it.outcome.answers.below(99).as_secs_f64() * 1e6)
                    ),
                    median(rounds.iter().map(|it| it.outcome.body_size())),
                )?;
            }
            if let [(ours, our_rounds), (theirs, their_rounds)] = servers.as_slice() {
                let pairs = || our_rounds.iter().zip(their_rounds);
                writeln!(
                    f,
                    "{case:12} {ours} is {:.2} of {theirs} by requests, {:.2} by CPU",
                    median(pairs().map(|(our, their)| our.outcome.rate() / their.outcome.rate())),
                    median(pairs().map(|(our, their)| their.cost() / our.cost())),
                )?;
            }
        }
        self.remarks.iter().try_for_each(|it| writeln!(f, "{it}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert!((median([3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
    }
}

//! Statuses, and how often each was answered.

use std::collections::BTreeMap;
use std::fmt;

/// Statuses, and how often each was answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally(BTreeMap<u16, u64>);

/// Stands for a request without an answer: the connection broke, or the client went away before.
pub(super) const NO_ANSWER: u16 = 0;

impl Tally {
    pub(super) fn add(&mut self, status: u16) {
        self.add_many(status, 1);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (status, times) in &other.0 {
            self.add_many(*status, *times);
        }
    }

    pub(super) fn add_many(&mut self, status: u16, times: u64) {
        if times > 0 {
            *self.0.entry(status).or_default() += times;
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = self.0.iter().map(|(status, times)| match *status {
            NO_ANSWER => format!("no answer × {times}"),
            status => format!("{status} × {times}"),
        });
        f.write_str(&parts.collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_counted_one_by_one() {
        let (mut one, mut other) = (Tally::default(), Tally::default());
        for status in [200, NO_ANSWER, 200] {
            one.add(status);
        }
        for status in [503, 200] {
            other.add(status);
        }
        one.merge(&other);
        one.add_many(404, 0);
        assert_eq!(one.to_string(), "no answer × 1, 200 × 3, 503 × 1");
    }
}

//! The table of what was counted, as it is kept, and how far another one is from it.

use std::collections::BTreeMap;
use std::fmt;

use super::KEPT;
use super::cases::{Case, Contender};
use crate::bench::driver::count;

/// The counts of all cases.
#[derive(Debug)]
pub(super) struct Table {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    case: String,
    instructions: u64,
    ratio: f64,
}

impl Table {
    /// The table of `cases`, each of which took as many instructions as `counts` tell.
    pub(super) fn of(cases: &[Case], counts: &[u64]) -> Self {
        let counted = || cases.iter().zip(counts);
        let bare = |name: &str| {
            let found =
                counted().find(|(it, _)| it.contender == Contender::Bare && it.name == name);
            found.map_or(f64::NAN, |(_, instructions)| count(*instructions))
        };
        let rows = counted().map(|(case, instructions)| Row {
            case: title(case),
            instructions: *instructions,
            ratio: count(*instructions) / bare(case.yardstick),
        });
        Self {
            rows: rows.collect(),
        }
    }

    /// The table that `text` tells.
    pub(super) fn parse(text: &str) -> Self {
        Self {
            rows: text.lines().filter_map(Row::parse).collect(),
        }
    }

    /// Compares it with `known`.
    pub(super) fn compare(&self, known: &Self) -> Comparison<'_> {
        let known: BTreeMap<&str, f64> = known
            .rows
            .iter()
            .map(|it| (it.case.as_str(), it.ratio))
            .collect();
        let rows = self.rows.iter();
        Comparison(
            rows.map(|it| (it, known.get(it.case.as_str()).copied()))
                .collect(),
        )
    }
}

fn title(case: &Case) -> String {
    match case.contender {
        Contender::Bare => format!("bare: {}", case.name),
        Contender::Lectern | Contender::Full => case.name.to_owned(),
    }
}

impl Row {
    fn parse(line: &str) -> Option<Self> {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let ["", case, instructions, ratio, ""] = cells.as_slice() else {
            return None;
        };
        Some(Self {
            case: (*case).to_owned(),
            instructions: instructions.parse().ok()?,
            ratio: ratio.parse().ok()?,
        })
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "# Instructions per request\n\n\
             Counted and written by `{}`.\n\
             Lists, and `site.json`, are compared with the bare handler's list, and single things with its one.\n\n\
             | Case | Instructions | Of the bare handler's |\n\
             |---|---:|---:|",
            KEPT.command
        )?;
        self.rows.iter().try_for_each(|row| {
            let Row {
                case,
                instructions,
                ratio,
            } = row;
            writeln!(f, "| {case} | {instructions} | {ratio:.3} |")
        })
    }
}

/// The counts, each with its ratio in the known table.
#[derive(Debug)]
pub(super) struct Comparison<'a>(Vec<(&'a Row, Option<f64>)>);

impl Comparison<'_> {
    /// Returns whether no ratio is further from that of the table than this part of it, and none is missing there.
    pub(super) fn is_within(&self, tolerance: f64) -> bool {
        let differences = self.0.iter().map(|(row, known)| difference(row, *known));
        differences.into_iter().all(|it| it.abs() <= tolerance)
    }
}

/// Returns the difference of the ratio of `row` from `known`, as a part of it; infinite if there is none.
fn difference(row: &Row, known: Option<f64>) -> f64 {
    known.map_or(f64::INFINITY, |known| row.ratio / known - 1.0)
}

impl fmt::Display for Comparison<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:24} {:>12} {:>8} {:>8} {:>10}",
            "case", "instructions", "table", "ratio", "difference"
        )?;
        self.0.iter().try_for_each(|(row, known)| {
            writeln!(
                f,
                "{:24} {:>12} {:>8.3} {:>8.3} {:>8.2} %",
                row.case,
                row.instructions,
                known.unwrap_or(f64::NAN),
                row.ratio,
                difference(row, *known) * 100.0
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(ratio: f64) -> Table {
        Table {
            rows: vec![Row {
                case: "one".to_owned(),
                instructions: 100,
                ratio,
            }],
        }
    }

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let read = Table::parse(&table(2.25).to_string());
        assert!(table(2.25).compare(&read).is_within(0.0));
        assert_eq!(read.rows.len(), 1);
    }

    #[test]
    fn a_ratio_that_differs_by_more_than_it_may_is_told() {
        for (ratio, is_within) in [(2.09, true), (2.11, false), (1.91, true), (1.89, false)] {
            let is = table(ratio).compare(&table(2.0)).is_within(0.05);
            assert_eq!(is, is_within, "{ratio}");
        }
    }

    #[test]
    fn a_case_that_the_table_lacks_is_told() {
        let empty = Table::parse("");
        assert!(!table(2.0).compare(&empty).is_within(0.05));
    }
}

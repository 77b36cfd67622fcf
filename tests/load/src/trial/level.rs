//! Detects figures that grow without end: their course over a time in three parts.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// The unit of a figure, which says how much it may differ from time to time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit {
    /// KiB of memory.
    Memory,
    /// KiB of files that are mapped. They become more with what is read; the kernel takes them back when it needs memory.
    Mapped,
    /// Bytes of storage.
    Storage,
    /// Rows of a table.
    Rows,
    /// Threads, files and sockets.
    Handles,
}

/// The course of all figures.
#[derive(Debug)]
pub(super) struct Course {
    duration: Duration,
    figures: BTreeMap<(Unit, String), Thirds>,
}

/// The course of one figure: in each third of the time its last and its highest value.
#[derive(Clone, Copy, Debug, Default)]
struct Thirds {
    last: [u64; 3],
    highest: [u64; 3],
}

impl Unit {
    /// By how much a figure may be higher in the last third than in the second, whatever it is.
    fn allowance(self) -> u64 {
        match self {
            Self::Memory => 16 << 10,
            Self::Mapped => u64::MAX,
            Self::Storage => 8 << 20,
            Self::Rows => 500,
            Self::Handles => 16,
        }
    }
}

impl Course {
    /// One that takes `duration`.
    pub(super) fn new(duration: Duration) -> Self {
        Self {
            duration,
            figures: BTreeMap::new(),
        }
    }

    /// Notes a value, so long after the begin.
    pub(super) fn note(
        &mut self,
        elapsed: Duration,
        unit: Unit,
        name: impl Into<String>,
        value: u64,
    ) {
        let third = usize::from(elapsed * 3 >= self.duration)
            + usize::from(elapsed * 3 >= self.duration * 2);
        let figure = self.figures.entry((unit, name.into())).or_default();
        if let (Some(last), Some(highest)) =
            (figure.last.get_mut(third), figure.highest.get_mut(third))
        {
            *last = value;
            *highest = value.max(*highest);
        }
    }

    /// The names of what still grew in the last third.
    pub(super) fn growing(&self) -> Vec<&str> {
        let growing = self
            .figures
            .iter()
            .filter(|((unit, _), it)| it.grows(*unit));
        growing.map(|((_, name), _)| name.as_str()).collect()
    }
}

impl Thirds {
    /// Returns whether it is higher in the last third than in the second by more than a tenth, and by more than its unit allows.
    fn grows(&self, unit: Unit) -> bool {
        let [_, second, last] = self.highest;
        last > second.saturating_add((second / 10).max(unit.allowance()))
    }
}

impl fmt::Display for Course {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let minutes = [1, 2, 3].map(|third| self.duration.as_secs_f64() * f64::from(third) / 180.0);
        write!(f, "{:36}", "highest (last) until minute")?;
        for minute in minutes {
            write!(f, " {minute:>25.1}")?;
        }
        for ((unit, name), figure) in &self.figures {
            write!(f, "\n{:36}", format!("{name}, {unit}"))?;
            for (highest, last) in figure.highest.iter().zip(figure.last) {
                write!(f, " {:>25}", format!("{highest} ({last})"))?;
            }
            if figure.grows(*unit) {
                f.write_str("  GROWS")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory | Self::Mapped => "KiB",
            Self::Storage => "bytes",
            Self::Rows => "rows",
            Self::Handles => "open",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(values: impl Fn(u64) -> u64) -> Course {
        let mut course = Course::new(Duration::from_secs(90));
        for second in 0..=90 {
            course.note(
                Duration::from_secs(second),
                Unit::Rows,
                "audit",
                values(second),
            );
        }
        course
    }

    #[test]
    fn what_grows_to_the_end_is_named() {
        assert_eq!(course(|second| second * 100).growing(), ["audit"]);
        let told = course(|second| second * 100).to_string();
        assert!(
            told.ends_with(
                "2900 (2900)               5900 (5900)               9000 (9000)  GROWS"
            ),
            "{told}"
        );
    }

    #[test]
    fn what_is_swept_now_and_then_levels_off() {
        let saw = course(|second| 10_000 + second % 30 * 1_000);
        assert_eq!(saw.growing(), Vec::<&str>::new());
        let filled = course(|second| second.min(40) * 1_000);
        assert_eq!(filled.growing(), Vec::<&str>::new());
        let few = course(|second| if second < 60 { 10 } else { 510 });
        assert_eq!(few.growing(), Vec::<&str>::new());
        let more = course(|second| if second < 60 { 10 } else { 511 });
        assert_eq!(more.growing(), ["audit"]);
    }
}

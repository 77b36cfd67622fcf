//! Ranges of days, and the occurrences in them in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use chrono::{Days, Months, NaiveDate, TimeDelta};

use crate::DateTimeUtc;
use crate::primitives::error::{Error, Result};

/// The length of a range of which only one end is named.
pub const YEAR: TimeDelta = TimeDelta::days(365);

/// The parameter of a list that names the first day.
pub const FIRST_DAY: &str = "firstDate";
/// The parameter of a list that names the last day.
pub const LAST_DAY: &str = "lastDate";

/// A range of time, without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first instant.
    pub from: DateTimeUtc,
    /// The instant after the last one.
    pub to: DateTimeUtc,
}

impl Range {
    /// Returns the range from the first day to the end of the last one in UTC, each given as the name of the parameter and
    /// its value. A range with one end is a [year](YEAR) long. Returns `None` without any day.
    ///
    /// # Errors
    /// Returns an error that names the parameter if a value is no day such as `2026-11-21`.
    pub fn of_days(
        first: Option<(&str, &str)>,
        last: Option<(&str, &str)>,
    ) -> Result<Option<Self>> {
        let begin = |(name, text): (&str, &str)| {
            let day = day(text).and_then(|it| it.and_hms_opt(0, 0, 0));
            day.map(|it| it.and_utc())
                .ok_or_else(|| Error::field(name, "must be a day such as 2026-11-21"))
        };
        let first = first.map(begin).transpose()?;
        let last = last
            .map(begin)
            .transpose()?
            .map(|it| it + TimeDelta::days(1));
        Ok(match (first, last) {
            (None, None) => None,
            (Some(from), None) => Some(Self {
                from,
                to: from + YEAR,
            }),
            (None, Some(to)) => Some(Self {
                from: to - YEAR,
                to,
            }),
            (Some(from), Some(to)) => Some(Self { from, to }),
        })
    }

    /// Returns the range from a year before `now` to a year after it.
    pub fn around(now: DateTimeUtc) -> Self {
        Self {
            from: now - YEAR,
            to: now + YEAR,
        }
    }

    /// Returns whether something from `start` to `end` takes place in the range.
    pub fn meets(&self, start: DateTimeUtc, end: DateTimeUtc) -> bool {
        start < self.to && (end > self.from || start >= self.from)
    }
}

/// Parses a day of exactly ten characters. A month or a day behind the last one counts on.
fn day(text: &str) -> Option<NaiveDate> {
    let is_digit = |(index, byte): (usize, u8)| match index {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    if text.len() != 10 || !text.bytes().enumerate().all(is_digit) {
        return None;
    }
    let mut parts = text.split('-').map_while(|it| it.parse::<u32>().ok());
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, 1, 1)?
        .checked_add_months(Months::new(month.checked_sub(1)?))?
        .checked_add_days(Days::new(u64::from(day.checked_sub(1)?)))
}

/// Merges the instants of several events, those of each in order: each as the instant and the index of the event, in
/// order of time. No more of them are computed than are taken.
pub fn in_order<I: Iterator<Item = DateTimeUtc>>(
    mut starts: Vec<I>,
) -> impl Iterator<Item = (DateTimeUtc, usize)> {
    let mut next = BinaryHeap::new();
    for (index, starts) in starts.iter_mut().enumerate() {
        next.extend(starts.next().map(|it| Reverse((it, index))));
    }
    std::iter::from_fn(move || {
        let Reverse((start, index)) = next.pop()?;
        let following = starts.get_mut(index).and_then(Iterator::next);
        next.extend(following.map(|it| Reverse((it, index))));
        Some((start, index))
    })
}

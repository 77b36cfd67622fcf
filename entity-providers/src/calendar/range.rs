//! Ranges of days: each occurrence in them as an entity of its own, in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use chrono::{DateTime, Days, Months, NaiveDate, TimeDelta, Utc};
use entity_core::schema::{Field, Kind};
use entity_core::search::{Cell, Filter, Page, Test};
use entity_core::{Context, DateTimeUtc, Error, Result, Search, gate};

use super::CalendarEvent;

/// The most events, each with all its occurrences, that a list looks at.
const MOST_EVENTS: u64 = 1000;
/// The most occurrences that a list passes to come to its part.
const MOST_PASSED: u64 = 10_000;
/// How long a range of which only one end is named is.
pub(super) const YEAR: TimeDelta = TimeDelta::days(365);

/// The column that no client sees.
static OVER_AT: Field =
    Field::new("overAt", Kind::Millis, "When the last occurrence is over.").column("over_at");

/// A range of time, without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) from: DateTimeUtc,
    pub(super) to: DateTimeUtc,
}

impl Range {
    /// Returns the range from the first day to the end of the last one in UTC, each given as the name of the parameter and
    /// its value. A range with one end is a year long. Returns `None` without any day.
    pub(super) fn of_days(
        first: Option<(&'static str, &str)>,
        last: Option<(&'static str, &str)>,
    ) -> Result<Option<Self>> {
        let begin = |(name, text)| {
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
    pub(super) fn around(now: DateTimeUtc) -> Self {
        Self {
            from: now - YEAR,
            to: now + YEAR,
        }
    }

    /// Returns whether something from `start` to `end` takes place in the range.
    pub(super) fn meets(&self, start: DateTimeUtc, end: DateTimeUtc) -> bool {
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

/// Returns the part that `search` asks for of the occurrences in `range`.
pub(super) async fn list(
    cx: &Context,
    search: Search,
    range: Range,
) -> Result<Page<CalendarEvent>> {
    let (passed, limit) = (search.start, search.limit);
    if passed > MOST_PASSED {
        return Err(Error::field("_start", "is too far: name fewer days"));
    }
    let page = gate::list::<CalendarEvent>(cx, stored_in(search, range)?).await?;
    if page.has_more {
        return Err(Error::bad_request("the list is too long: name fewer days"));
    }
    Ok(part(cx, &page.items, range, (passed, limit)))
}

/// Returns the first `limit` occurrences of events of these sites that are not over and begin within `period`, in order of
/// time. Of more events than a list looks at, those that first begin last are passed over: a look ahead has no range
/// that its reader could shorten.
pub(crate) async fn next(
    cx: &Context,
    sites: Vec<String>,
    period: TimeDelta,
    limit: u64,
) -> Result<Page<CalendarEvent>> {
    let range = Range {
        from: cx.now(),
        to: cx.now() + period,
    };
    let mut search = stored_in(Search::all(), range)?;
    search.narrow_to_sites::<CalendarEvent>(sites)?;
    let page = gate::list::<CalendarEvent>(cx, search).await?;
    Ok(part(cx, &page.items, range, (0, limit)))
}

/// Returns the occurrences of `events` in `range`, without those that are passed and as many as the limit and the size
/// of an answer allow.
fn part(
    cx: &Context,
    events: &[CalendarEvent],
    range: Range,
    (passed, limit): (u64, u64),
) -> Page<CalendarEvent> {
    let (passed, limit) = (to_size(passed), to_size(limit));
    let found = in_order(events, range)
        .skip(passed)
        .take(limit.saturating_add(1));
    let (mut shown, mut bytes) = (Vec::new(), 0_usize);
    for (start, index) in found {
        let event = events.get(index).map(|it| it.at(start));
        let Some(event) = event.filter(|_| shown.len() < limit && bytes < cx.answer_bytes()) else {
            return match shown.len() < limit {
                true => Page::ended(shown),
                false => Page {
                    has_more: true,
                    ..Page::whole(shown)
                },
            };
        };
        bytes = bytes
            .saturating_add(event.description.len())
            .saturating_add(event.attachments.column().len());
        shown.push(event);
    }
    Page::whole(shown)
}

/// Narrows `search` to the events of which some occurrence may be in `range`.
fn stored_in(search: Search, range: Range) -> Result<Search> {
    let mut search = Search {
        start: 0,
        limit: MOST_EVENTS,
        ..search
    };
    let millis = |it: DateTime<Utc>| Cell::Integer(it.timestamp_millis());
    search.narrow::<CalendarEvent>("firstTime", Test::Less(millis(range.to)))?;
    search.filters.push(Filter {
        field: &OVER_AT,
        test: Test::GreaterOrEqual(millis(range.from)),
    });
    Ok(search)
}

/// Returns the occurrences of `events` in `range`, each as its instant and the index of the event, in order of time.
/// No more of them are computed than are taken.
fn in_order(events: &[CalendarEvent], range: Range) -> impl Iterator<Item = (DateTimeUtc, usize)> {
    let mut starts: Vec<_> = events.iter().map(|it| it.starts_in(range)).collect();
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

fn to_size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

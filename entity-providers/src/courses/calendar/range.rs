//! Ranges of days: each occurrence in them as an entity of its own, in order of time.
//!
//! The work for an occurrence depends on what others have stored. So the steps of all rules together are bounded for
//! each request, and no thread that serves others takes them.

#[cfg(test)]
mod tests;

use chrono::{DateTime, TimeDelta, Utc};
use entity_core::engine::ReadBudget;
use entity_core::recurrence::{self, MOST_STEPS, Range};
use entity_core::schema::{Field, Kind};
use entity_core::search::{FieldOf, Page};
use entity_core::{Context, Error, Result, Search, gate};
use tokio::task::spawn_blocking;

use super::CalendarEvent;

/// The most events, each with all its occurrences, that are looked at together.
const MOST_EVENTS: u64 = 1000;
/// The most stretches in which a range is walked: each reads again the events that go on all the time.
const MOST_STRETCHES: usize = 20;
/// The most occurrences that a list passes to come to its part.
const MOST_PASSED: u64 = 10_000;

/// The column that no client sees.
static OVER_AT: Field =
    Field::new("overAt", Kind::Millis, "When the last occurrence is over.").column("over_at");

/// Returns the part that `search` asks for of the occurrences in `range`.
///
/// Where more events are stored than are looked at together, the range is walked in stretches: the occurrences up to the
/// instant at which the last of these events first begins are all theirs.
pub(super) async fn list(
    cx: &Context,
    search: Search,
    range: Range,
) -> Result<Page<CalendarEvent>> {
    if search.start > MOST_PASSED {
        return Err(Error::field("_start", "is too far: name fewer days"));
    }
    let (mut passed, limit) = (search.start, search.limit);
    let mut shown = Vec::new();
    let mut rest = Stretch {
        range,
        is_first: true,
    };
    for _ in 0..MOST_STRETCHES {
        let stored = gate::list::<CalendarEvent>(cx, stored_in(search.clone(), rest.range)).await?;
        let last = stored.items.last().filter(|_| stored.has_more);
        let end = last.map_or(range.to, CalendarEvent::start);
        if last.is_some() && end <= rest.range.from {
            return Err(too_many());
        }
        let left = limit.saturating_sub(to_count(shown.len()));
        let part = part(cx, stored.items, rest.until(end), (passed, left)).await?;
        if part.is_broken_off {
            return Err(Error::bad_request(
                "the events of these days recur too seldom to be found quickly: name fewer days",
            ));
        }
        passed = passed.saturating_sub(to_count(part.passed));
        shown.extend(part.page.items);
        if end >= range.to || part.page.has_more || part.page.places.end().is_some() {
            return Ok(Page {
                items: shown,
                ..part.page
            });
        }
        rest = Stretch {
            range: Range { from: end, ..range },
            is_first: false,
        };
    }
    Err(too_many())
}

fn too_many() -> Error {
    Error::bad_request("there are too many events in these days: name fewer days, or a site")
}

/// A part of the range that is asked for.
#[derive(Clone, Copy)]
struct Stretch {
    range: Range,
    /// True for the first one, which also has what began before it and still goes on.
    is_first: bool,
}

impl Stretch {
    /// Returns the stretch up to `end`.
    fn until(self, end: DateTime<Utc>) -> Self {
        Self {
            range: Range {
                to: end,
                ..self.range
            },
            ..self
        }
    }
}

/// Returns the first `limit` occurrences of events of these sites that are not over and begin within `period`, in order of
/// time. Of more events than a list looks at, those that first begin last are passed over: a look ahead has no range
/// that its reader could shorten.
///
/// Of what begins from now on, the first few events have the first occurrences, unless some of these were taken out.
pub(crate) async fn next(
    cx: &Context,
    sites: Vec<String>,
    period: TimeDelta,
    limit: u64,
) -> Result<Page<CalendarEvent>> {
    let now = cx.now();
    let whole = Stretch {
        range: Range {
            from: now,
            to: now + period,
        },
        is_first: true,
    };
    let mut all = stored_in(Search::all(), whole.range);
    all.narrow_to_sites::<CalendarEvent>(sites)?;
    let (mut begun, mut soon) = (all.clone(), all.clone());
    begun.narrow(CalendarEvent::FIELD.first_time.lt(now));
    soon.narrow(CalendarEvent::FIELD.first_time.gte(now));
    soon.limit = limit.saturating_add(1);

    let mut events = gate::list::<CalendarEvent>(cx, begun).await?.items;
    let soon = gate::list::<CalendarEvent>(cx, soon).await?;
    events.extend(soon.items);
    let last = events.last().filter(|_| soon.has_more);
    // An event that begins at the same instant as the last one comes behind it.
    let end = last.map(|it| it.start() + TimeDelta::milliseconds(1));
    let known = end.map_or(whole, |it| whole.until(it));
    let page = part(cx, events, known, (0, limit)).await?.page;
    if page.has_more || page.places.end().is_some() || end.is_none() {
        return Ok(page);
    }
    let events = gate::list::<CalendarEvent>(cx, all).await?.items;
    Ok(part(cx, events, whole, (0, limit)).await?.page)
}

/// Occurrences, and whether the search for them was broken off because it took too many steps.
struct Found {
    page: Page<CalendarEvent>,
    /// The number of occurrences that were passed over before those of the page.
    passed: usize,
    is_broken_off: bool,
}

/// Returns the occurrences of `events` in `range`, without those that are passed and as many as the limit and the size
/// of an answer allow.
async fn part(
    cx: &Context,
    events: Vec<CalendarEvent>,
    stretch: Stretch,
    (passed, limit): (u64, u64),
) -> Result<Found> {
    let part = Part {
        stretch,
        passed: to_size(passed),
        limit: to_size(limit),
        bytes: cx.answer_bytes(),
        read_budget: cx.origin().read_budget.clone(),
    };
    let found = spawn_blocking(move || {
        let (passed, page) = part.of(&events);
        Found {
            page,
            passed,
            is_broken_off: !part.read_budget.step(0, MOST_STEPS),
        }
    });
    found.await.map_err(Error::internal)
}

/// Which of the occurrences are wanted.
struct Part {
    stretch: Stretch,
    passed: usize,
    limit: usize,
    /// The most bytes.
    bytes: usize,
    read_budget: ReadBudget,
}

impl Part {
    /// Returns how many occurrences were passed over, and the page behind them.
    fn of(&self, events: &[CalendarEvent]) -> (usize, Page<CalendarEvent>) {
        let Stretch { range, is_first } = self.stretch;
        let starts = events.iter().map(|it| {
            let read_budget = self.read_budget.clone();
            it.starts_in(range, move |steps| read_budget.step(steps, MOST_STEPS))
        });
        let found = recurrence::in_order(starts.collect());
        // An event that began before it was in the stretch before.
        let mut found = found.filter(|(start, _)| is_first || *start >= range.from);
        let passed = found.by_ref().take(self.passed).count();
        let (mut shown, mut bytes) = (Vec::new(), 0_usize);
        for (start, index) in found {
            let event = events.get(index).map(|it| it.at(start));
            let Some(event) = event.filter(|_| shown.len() < self.limit && bytes < self.bytes)
            else {
                let page = match shown.len() < self.limit {
                    true => Page::ended(shown),
                    false => Page {
                        has_more: true,
                        ..Page::whole(shown)
                    },
                };
                return (passed, page);
            };
            bytes = bytes
                .saturating_add(event.description.len())
                .saturating_add(event.attachments.column().len());
            shown.push(event);
        }
        (passed, Page::whole(shown))
    }
}

/// Narrows `search` to the events of which some occurrence may be in `range`.
fn stored_in(search: Search, range: Range) -> Search {
    let mut search = Search {
        start: 0,
        limit: MOST_EVENTS,
        ..search
    };
    search.order.clear();
    search.narrow(CalendarEvent::FIELD.first_time.lt(range.to));
    search.narrow(FieldOf::<DateTime<Utc>>::new(&OVER_AT).gte(range.from));
    search
}

fn to_size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn to_count(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}

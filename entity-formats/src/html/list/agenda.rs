//! Events by day: a week or a month of them, and the links to the days before and after. No more is needed than a list that
//! takes days as parameters, and entries of its entities in calendars.

use askama::Template;
use askama::filters::HtmlSafe;
use chrono::{DateTime, Datelike as _, Days, NaiveDate, Utc};
use entity_core::format::View;
use entity_core::recurrence::{FIRST_DAY, LAST_DAY, Tz};
use entity_core::reply::{Collection, Item};

use super::column::site_of;
use crate::html::clock::Clock;
use crate::html::mark::Mark;
use crate::html::place::{Span, month, takes_days};
use crate::html::query::{Query, is_about_list};
use crate::render::paging::view_url;

/// The events of some days, and the way to others.
#[derive(Template)]
#[template(path = "agenda.html")]
pub(super) struct Agenda {
    /// The days that are shown, in words; nothing where events are shown as they are stored.
    told: Option<String>,
    links: Vec<(&'static str, String)>,
    days: Vec<Day>,
    /// True if the days are those of a month in whole weeks, which stand below each other where there is room.
    is_month: bool,
}

/// A template escapes what it shows, so what it wrote is not escaped again.
impl HtmlSafe for Agenda {}

/// A day with its events.
struct Day {
    date: NaiveDate,
    words: String,
    is_today: bool,
    entries: Vec<Entry>,
}

/// An event on its first day.
struct Entry {
    href: String,
    title: String,
    /// The colour of its course.
    hue: u8,
    iso: String,
    time: String,
    place: Option<String>,
    /// The title of that to which it belongs, such as a course, unless the page says so.
    category: Option<String>,
}

impl Agenda {
    /// Returns what the page of `collection` shows by day, if its address takes days.
    pub(super) fn of(collection: &Collection, view: &View<'_>) -> Option<Self> {
        let mut segments = view.path.trim_start_matches('/').split('/');
        let (prefix, name) = (segments.next()?, segments.next()?);
        if !takes_days(view.registry, prefix, name) {
            return None;
        }
        let query = Query::of(view);
        let today = Clock::of(view).today();
        let day = |name| query.get(name).parse::<NaiveDate>().ok();
        let shown = day(FIRST_DAY).zip(day(LAST_DAY)).filter(|it| it.0 <= it.1);
        let query = query.only(|it| !is_about_list(it));
        let href = |(first, last): Span| {
            let query = query.clone().with(FIRST_DAY, first.to_string());
            let query = query.with(LAST_DAY, last.to_string());
            query.behind(&view_url(view, Some("html")))
        };
        let around = shown
            .and_then(|it| Some([("Previous", moved(it, false)?), ("Next", moved(it, true)?)]));
        let near = [("This week", week(today)), ("This month", month(today))];
        let near = near
            .into_iter()
            .filter_map(|(name, span)| Some((name, span?)));
        let links = around.into_iter().flatten().chain(near);
        let mut links: Vec<_> = links.map(|(name, span)| (name, href(span))).collect();
        if shown.is_some() {
            links.push(("All events", query.behind(&view_url(view, Some("html")))));
        }
        Some(Self {
            told: shown.map(|(first, last)| told(first, last)),
            links,
            is_month: shown.is_some_and(is_month),
            days: match shown {
                Some(span) if is_month(span) => whole_weeks(span, days(collection, view), view),
                Some(_) => days(collection, view),
                None => Vec::new(),
            },
        })
    }

    /// Returns whether nothing takes place.
    fn is_free(&self) -> bool {
        self.days.iter().all(|it| it.entries.is_empty())
    }

    /// Returns whether events are shown by day, and not as a table.
    pub(super) fn is_by_day(&self) -> bool {
        self.told.is_some()
    }
}

fn is_month(span: Span) -> bool {
    month(span.0) == Some(span)
}

/// Returns the days of all weeks in which days of the month `span` are, with their events.
fn whole_weeks(span: Span, mut days: Vec<Day>, view: &View<'_>) -> Vec<Day> {
    let (Some((first, _)), Some((_, last))) = (week(span.0), week(span.1)) else {
        return days;
    };
    let dates = first.iter_days().take_while(|it| *it <= last);
    let day = |date| match days.iter().position(|it| it.date == date) {
        Some(place) => days.swap_remove(place),
        None => Day::of(date, Vec::new(), view),
    };
    dates.map(day).collect()
}

impl Day {
    fn of(date: NaiveDate, entries: Vec<Entry>, view: &View<'_>) -> Self {
        let clock = Clock::of(view);
        Self {
            date,
            words: clock.told_day(date),
            is_today: date == clock.today(),
            entries,
        }
    }
}

fn week(day: NaiveDate) -> Option<Span> {
    let past = u64::from(day.weekday().num_days_from_monday());
    let first = day.checked_sub_days(Days::new(past))?;
    Some((first, first.checked_add_days(Days::new(6))?))
}

/// Returns the days before or after some days: a month beside a month, else as many days.
fn moved(span: Span, is_after: bool) -> Option<Span> {
    let (first, last) = span;
    if is_month(span) {
        return match is_after {
            true => month(last.succ_opt()?),
            false => month(first.pred_opt()?),
        };
    }
    let length = u64::try_from((last - first).num_days()).ok()?;
    match is_after {
        true => Some((
            last.succ_opt()?,
            last.succ_opt()?.checked_add_days(Days::new(length))?,
        )),
        false => Some((
            first.pred_opt()?.checked_sub_days(Days::new(length))?,
            first.pred_opt()?,
        )),
    }
}

/// Returns some days in words.
fn told(first: NaiveDate, last: NaiveDate) -> String {
    match is_month((first, last)) {
        true => first.format("%B %Y").to_string(),
        false => format!(
            "{} to {}",
            first.format("%-d %b %Y"),
            last.format("%-d %b %Y")
        ),
    }
}

/// Returns the events of `collection` by day.
fn days(collection: &Collection, view: &View<'_>) -> Vec<Day> {
    let is_of_site =
        site_of(&[], collection.schema, view).is_some() || view.path.contains("/site/");
    let mut entries: Vec<_> = collection
        .items
        .iter()
        .filter_map(|it| entry(it, is_of_site, Clock::of(view)))
        .collect();
    entries.sort_by_key(|it| it.0);
    let mut days: Vec<Day> = Vec::new();
    for (date, entry) in entries {
        match days.last_mut().filter(|it| it.date == date) {
            Some(day) => day.entries.push(entry),
            None => days.push(Day::of(date, vec![entry], view)),
        }
    }
    days
}

fn entry(item: &Item, is_of_site: bool, clock: Clock) -> Option<(NaiveDate, Entry)> {
    let event = item.event_entry()?;
    let zone = event.zone.unwrap_or(Tz::UTC);
    let category = || item.feed_entry()?.categories.into_iter().next();
    let entry = Entry {
        href: format!("/direct{}.html", item.reference().path()),
        title: event.summary,
        hue: Mark::of(item.site().unwrap_or_default(), "").hue,
        iso: entity_core::wire::iso(event.start),
        time: time(event.start, event.end, zone, clock),
        place: event.location.filter(|it| !it.is_empty()),
        category: if is_of_site { None } else { category() },
    };
    Some((clock.day(event.start, zone), entry))
}

/// Returns the time of an event: without an end, if it has no length.
fn time(start: DateTime<Utc>, end: DateTime<Utc>, own: Tz, clock: Clock) -> String {
    let (begin, zone) = (clock.time(start, own), clock.beside(own));
    let last = clock.day(end, own);
    match (start == end, clock.day(start, own) == last) {
        (true, _) => format!("{begin}{zone}"),
        (_, true) => format!("{begin}–{}{zone}", clock.time(end, own)),
        _ => {
            let last = last.format("%-d %b");
            format!("{begin} to {last}, {}{zone}", clock.time(end, own))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().expect("a day")
    }

    #[test]
    fn a_week_begins_on_monday_and_a_month_is_followed_by_a_month() {
        let (first, last) = week(day("2026-11-26")).expect("a week");
        assert_eq!((first, last), (day("2026-11-23"), day("2026-11-29")));
        assert_eq!(
            moved((first, last), true),
            Some((day("2026-11-30"), day("2026-12-06")))
        );
        assert_eq!(
            moved((first, last), false),
            Some((day("2026-11-16"), day("2026-11-22")))
        );
        let all = month(day("2026-11-26")).expect("a month");
        assert_eq!(
            moved(all, true),
            Some((day("2026-12-01"), day("2026-12-31")))
        );
        assert_eq!(told(all.0, all.1), "November 2026");
    }

    #[test]
    fn a_time_is_by_the_clock_of_the_event() {
        let at = |text: &str| text.parse().expect("an instant");
        let berlin = Tz::Europe__Berlin;
        for (start, end, expected) in [
            (
                "2026-12-02T09:00:00Z",
                "2026-12-02T10:30:00Z",
                "10:00–11:30 Europe/Berlin",
            ),
            (
                "2026-12-02T09:00:00Z",
                "2026-12-02T09:00:00Z",
                "10:00 Europe/Berlin",
            ),
            (
                "2026-12-02T22:00:00Z",
                "2026-12-03T01:00:00Z",
                "23:00 to 3 Dec, 02:00 Europe/Berlin",
            ),
        ] {
            assert_eq!(time(at(start), at(end), berlin, Clock::UTC), expected);
        }
    }
}

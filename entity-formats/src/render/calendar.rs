//! Answers as calendars: iCalendar (RFC 5545), for types whose entities have a beginning and an end.
//!
//! All instants are in UTC, but those of an event that recurs in another time zone. The clock is never asked: what a
//! calendar says depends on its entities alone.

mod series;
mod zone;

use std::fmt::Write as _;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use entity_core::format::{Format, Renderer, View};
use entity_core::reply::{Body, Item};
use entity_core::{Error, EventEntry, Result};
use icalendar::{
    Calendar, Component as _, Event, EventLike as _, EventStatus, Property, ValueType,
};

use self::series::Series;
use crate::primitives::buffer::Buffer;
use crate::primitives::title;
use crate::render::feed::{clean, urn};
use crate::render::json::entity_url;

/// The value of `PRODID`.
const PRODUCT: &str = "-//Lectern//Lectern//EN";
/// The end of a calendar.
const END: &str = "END:VCALENDAR\r\n";
/// The most characters of a text. No calendar shows more, and folding lines that are much longer is slow.
const MAX_TEXT: usize = 8_000;

/// Writes iCalendar.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ics;

/// The name of the format in addresses.
pub(crate) const NAME: &str = "ics";

entity_core::register_format!(Ics);

impl Renderer for Ics {
    fn format(&self) -> Format {
        Format {
            name: NAME,
            media_type: "text/calendar; charset=utf-8",
            aliases: &[],
            is_feed: true,
        }
    }

    fn accepts(&self, body: &Body) -> bool {
        match body {
            Body::Entity(item) => item.schema().has_events,
            Body::Collection(collection) => collection.schema.has_events,
            _ => false,
        }
    }

    fn render(&self, body: &Body, view: &View<'_>) -> Result<Vec<u8>> {
        let (title, items) = match body {
            Body::Entity(item) => (title::of_entity(item, view), std::slice::from_ref(item)),
            Body::Collection(it) => (Some(title::of_calendar(it, view)), it.items.as_slice()),
            _ => return Err(Error::not_acceptable(&["json", "xml", "html"])),
        };
        let mut calendar = Calendar::empty();
        for property in [
            ("VERSION", "2.0"),
            ("PRODID", PRODUCT),
            ("CALSCALE", "GREGORIAN"),
        ] {
            calendar.append_property(property);
        }
        if let Some(title) = title {
            calendar.append_property(("X-WR-CALNAME", plain(&title).as_str()));
        }
        if matches!(body, Body::Collection(it) if it.has_more) {
            let left_out = "Events are left out: the oldest, unless ordered otherwise.";
            calendar.append_property(("X-WR-CALDESC", left_out));
        }
        let mut buffer = Buffer::of(body, view);
        let empty = calendar.to_string();
        let (head, end) = match empty.strip_suffix(END) {
            Some(head) => (head, END),
            None => (empty.as_str(), ""),
        };
        let written = buffer.write_str(head).map_err(Error::internal);
        buffer.check(written, 0)?;
        let entries: Vec<_> = items.iter().map(Item::event_entry).collect();
        let series = Series::of(items, &entries);
        for zone in series.zones() {
            let written = buffer.write_str(&zone.to_text());
            buffer.check(written.map_err(Error::internal), 0)?;
        }
        for (index, (item, entry)) in items.iter().zip(&entries).enumerate() {
            let events = entry.as_ref().map(|it| series.events(item, it, view));
            for event in events.into_iter().flatten() {
                let written = event.fmt_write(&mut buffer).map_err(Error::internal);
                buffer.check(written, index)?;
            }
        }
        let written = buffer.write_str(end).map_err(Error::internal);
        buffer.check(written, items.len().saturating_sub(1))?;
        Ok(buffer.into_bytes())
    }
}

/// An event without its times.
fn event(uid: &str, item: &Item, entry: &EventEntry, view: &View<'_>) -> Event {
    let mut event = Event::with_uid(&urn(uid));
    event
        .timestamp(entry.updated)
        .last_modified(entry.updated)
        .sequence(entry.sequence)
        .summary(&plain(&entry.summary))
        .url(&format!(
            "{}.html",
            entity_url(view.base_url, &item.reference())
        ))
        .status(match entry.status {
            entity_core::EventStatus::Confirmed => EventStatus::Confirmed,
            entity_core::EventStatus::Tentative => EventStatus::Tentative,
            entity_core::EventStatus::Cancelled => EventStatus::Cancelled,
        });
    if let Some(created) = entry.created {
        event.created(created);
    }
    if let Some(description) = &entry.description {
        event.description(&plain(description));
    }
    if let Some(location) = &entry.location {
        event.location(&plain(location));
    }
    event
}

/// An end that is not behind the beginning is left out: the format has no other word for an instant.
fn add_time(event: &mut Event, entry: &EventEntry) {
    if entry.is_all_day {
        event.append_property(day("DTSTART", entry.start.date_naive()));
        if let Some(end) = day_behind(entry) {
            event.append_property(day("DTEND", end));
        }
        return;
    }
    event.starts(entry.start);
    if entry.end > entry.start {
        event.ends(entry.end);
    }
}

/// The first day on which it is over. Midnight belongs to the day before.
fn day_behind(entry: &EventEntry) -> Option<NaiveDate> {
    let last: DateTime<Utc> = entry.end - TimeDelta::milliseconds(1);
    last.max(entry.start).date_naive().succ_opt()
}

fn day(name: &str, day: NaiveDate) -> Property {
    Property::new(name, day.format("%Y%m%d").to_string())
        .append_parameter(ValueType::Date)
        .done()
}

/// `text` without characters that could end a line, and no longer than calendars show.
fn plain(text: &str) -> String {
    let text = clean(&text.replace("\r\n", "\n").replace('\r', "\n"));
    if text.chars().count() <= MAX_TEXT {
        return text;
    }
    text.chars().take(MAX_TEXT - 1).chain(['…']).collect()
}

/// Returns whether `rule` has no character that could begin something else.
fn is_rule(rule: &str) -> bool {
    rule.starts_with("FREQ=")
        && rule
            .chars()
            .all(|it| it.is_ascii_alphanumeric() || matches!(it, ';' | '=' | ',' | '-' | '+'))
}

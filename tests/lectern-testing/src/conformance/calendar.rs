//! Calendars: events begin and end when the entity says, by whichever clock they are written.

use chrono::{DateTime, TimeDelta, Utc};
use entity_core::engine::{DirectPath, Request};
use entity_core::reply::Body;
use entity_core::schema::{Field, Kind, Meaning, Role};
use entity_core::testing::origin;
use entity_core::{Caller, EventEntry, ics};
use http::StatusCode;
use serde_json::Value;

use super::suite::Suite;
use super::{Held, Row, Verdict};

/// The most entities whose events are read.
const ROWS: usize = 12;
/// The most events of one entity.
const EVENTS: usize = 100;

/// The instants of an entity, each with the name of its field.
type Instants = Vec<(&'static str, DateTime<Utc>)>;

/// An event as a calendar has it, with the instants of its entity.
struct Seen {
    id: String,
    start: DateTime<Utc>,
    length: TimeDelta,
    instants: Instants,
    /// The lengths of time that the entity has.
    lengths: Vec<TimeDelta>,
}

/// Checks that the event of each entity begins and ends at instants that fields of the entity show, and does not end before
/// it begins.
pub async fn events_are_when_entities_say(suite: &Suite) -> Verdict {
    if !suite.can("events") || !suite.can("read") || suite.rows.is_empty() {
        return Ok(Held::Skipped("the type has no events that can be made"));
    }
    let mut events = Vec::new();
    for row in suite.rows.iter().take(ROWS) {
        let Some(entity) = suite.get(suite.first(), &row.id).await? else {
            continue;
        };
        if let Some(entry) = entry(suite, row).await {
            if is_in_order(suite, &entity) {
                ends_behind_its_beginning(row, &entry)?;
            }
            events.extend(seen(suite, row, &entity, &entry).await?);
        }
    }
    if events.iter().all(|it| it.instants.is_empty()) {
        return Ok(Held::Skipped("no event is at an instant that a field has"));
    }
    for event in &events {
        begins_when_it_says(event)?;
    }
    ends_when_it_says(&events)?;
    Ok(Held::Passed)
}

/// Returns the entry of `row` in calendars, if it has one.
async fn entry(suite: &Suite, row: &Row) -> Option<EventEntry> {
    let path = suite.path_of(&row.id);
    let path = path.strip_prefix("/direct").unwrap_or(&path);
    let user = suite.first().id.clone()?;
    let path = DirectPath::parse(path, |_| false).ok()?;
    let request = Request::reading(path, Vec::new(), origin(Caller::user(&user, &user)));
    let reply = suite.app.service().dispatcher.dispatch(&request).await;
    match reply.ok()?.body {
        Body::Entity(item) => item.event_entry(),
        _ => None,
    }
}

/// Returns whether the instants of the entity that clients write follow one another as their fields do.
fn is_in_order(suite: &Suite, entity: &Value) -> bool {
    let fields = suite.route.schema.writable(true);
    let instants: Vec<_> = fields
        .filter_map(|it| instant(it, &entity[it.name]))
        .collect();
    instants.is_sorted()
}

fn ends_behind_its_beginning(row: &Row, entry: &EventEntry) -> Result<(), String> {
    match entry.end < entry.start {
        false => Ok(()),
        true => Err(format!(
            "the event of {} ends at {} before it begins at {}: give the beginning before the end in the function of \
             `event`",
            row.id, entry.end, entry.start
        )),
    }
}

/// Returns the event in the calendar of `row` alone, if it takes place by the clock and not on whole days.
async fn seen(
    suite: &Suite,
    row: &Row,
    entity: &Value,
    entry: &EventEntry,
) -> Result<Option<Seen>, String> {
    let path = format!("{}.ics", suite.path_of(&row.id));
    let answer = suite.superuser().get(&path).await;
    if answer.status != StatusCode::OK {
        return Err(format!("{path} answers {}", answer.status));
    }
    let events = ics::read(answer.text(), EVENTS);
    let events = events.map_err(|error| format!("{path} {error}"))?;
    let Some((_, event)) = events.into_iter().next() else {
        return Err(format!("{path} has no event, although the entity has one"));
    };
    let event =
        event.map_err(|error| format!("{path} has an event that no program reads: {error}"))?;
    if event.summary.is_empty() {
        return Err(format!(
            "the event in {path} has no summary: people know it by that"
        ));
    }
    let fields = suite.route.schema.fields.iter();
    let is_told = |it: &&Field| !matches!(it.role, Some(Role::Created | Role::Updated));
    let instants = fields.clone().filter(is_told);
    let lengths = fields.filter_map(|it| match it.meaning {
        Some(Meaning::Length(unit)) => {
            let number = entity[it.name].as_i64()?;
            TimeDelta::try_milliseconds(number.checked_mul(unit)?)
        }
        _ => None,
    });
    Ok((!entry.is_all_day).then(|| Seen {
        id: row.id.clone(),
        start: event.start,
        length: event.length,
        instants: instants
            .filter_map(|it| Some((it.name, instant(it, &entity[it.name])?)))
            .collect(),
        lengths: lengths.collect(),
    }))
}

/// Returns the instant that `value` is, to the second as calendars have it.
fn instant(field: &Field, value: &Value) -> Option<DateTime<Utc>> {
    let millis = match (field.kind, field.meaning) {
        (Kind::Instant, _) => DateTime::parse_from_rfc3339(value.as_str()?)
            .ok()?
            .timestamp_millis(),
        (Kind::Millis, _) => value.as_i64()?,
        (Kind::Moment, _) => value.get("time")?.as_i64()?,
        (_, Some(Meaning::Seconds)) => value.as_i64()?.checked_mul(1000)?,
        _ => return None,
    };
    DateTime::from_timestamp(millis.div_euclid(1000), 0)
}

fn begins_when_it_says(event: &Seen) -> Result<(), String> {
    let instants = &event.instants;
    match instants.is_empty() || instants.iter().any(|it| it.1 == event.start) {
        true => Ok(()),
        false => Err(format!(
            "the event of {} begins at {}, which none of its fields says ({}): give the instants of the entity to \
             `EventEntry` as they are, in UTC, and the time zone beside them",
            event.id,
            event.start,
            told(instants)
        )),
    }
}

/// Checks that events end when one of their fields says, or last as long as one says, or that all are equally long.
fn ends_when_it_says(events: &[Seen]) -> Result<(), String> {
    let is_told = |it: &&Seen| {
        let end = it.start + it.length;
        it.length.is_zero()
            || it.instants.iter().any(|it| it.1 == end)
            || it.lengths.contains(&it.length)
    };
    let Some(event) = events.iter().find(|it| !is_told(it)) else {
        return Ok(());
    };
    match events.iter().all(|it| it.length == event.length) {
        true => Ok(()),
        false => Err(format!(
            "the event of {} ends at {}, which none of its fields says ({}): give the instants of the entity to \
             `EventEntry` as they are, in UTC",
            event.id,
            event.start + event.length,
            told(&event.instants)
        )),
    }
}

fn told(instants: &Instants) -> String {
    let told = instants.iter().map(|(name, at)| format!("`{name}` {at}"));
    told.collect::<Vec<_>>().join(", ")
}

//! Reading and changing events and single occurrences of them.

use entity_core::db::{self, Record as _};
use entity_core::{Context, Delete, Error, Fields, Read, Result, Update, recurrence};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};

use super::occurrence::{MOST_EXCLUDED, parse_id, to_column};
use super::{CalendarEvent, calendar_event};

impl Read for CalendarEvent {
    async fn read(cx: &Context, id: &str) -> Result<Option<Self>> {
        if let Some(stored) = db::read(cx, id).await? {
            return Ok(Some(stored));
        }
        let Some((series, start)) = parse_id(id) else {
            return Ok(None);
        };
        match db::read::<Self>(cx, series).await? {
            Some(series) => series.occurrence(start),
            None => Ok(None),
        }
    }
}

impl Update for CalendarEvent {
    type Changes = Fields;

    async fn update(cx: &Context, current: Self, changes: Fields) -> Result<Self> {
        current.refuse_if_it_follows()?;
        if current.is_computed {
            return take_out(cx, current, changes).await;
        }
        let updated: Self = db::update(cx, current.clone(), changes).await?;
        for single in singles(cx, &updated).await? {
            if current.has_other_times(&updated) {
                db::delete(cx, single).await?;
            } else if current.groups != updated.groups {
                let narrowed = Self {
                    groups: updated.groups.clone(),
                    ..single.clone()
                };
                db::store(cx, single, narrowed).await?;
            }
        }
        Ok(updated)
    }
}

impl Delete for CalendarEvent {
    async fn delete(cx: &Context, current: Self) -> Result<()> {
        current.refuse_if_it_follows()?;
        if current.is_computed {
            return exclude(cx, &current).await;
        }
        for single in singles(cx, &current).await? {
            db::delete(cx, single).await?;
        }
        db::delete(cx, current).await
    }
}

impl CalendarEvent {
    fn refuse_if_it_follows(&self) -> Result<()> {
        match self.cause {
            Some(_) => Err(Error::conflict(
                "this event follows a deadline: change the deadline",
            )),
            None => Ok(()),
        }
    }
}

/// Makes a row of an occurrence, with `changes`.
async fn take_out(
    cx: &Context,
    current: CalendarEvent,
    mut changes: Fields,
) -> Result<CalendarEvent> {
    // The rule of the series is shown with each occurrence, and may be sent back.
    let rule = changes.0.remove("recurrenceRule");
    let rule = rule
        .as_ref()
        .and_then(|it| it.as_str())
        .map(|it| recurrence::canonical(it, current.zone()));
    if rule.is_some_and(|it| Some(it) != current.recurrence_rule) {
        let message = "is one of the series, not of an occurrence";
        return Err(Error::field("recurrenceRule", message));
    }
    exclude(cx, &current).await?;
    let mut single = CalendarEvent {
        recurrence_rule: None,
        excluded: String::new(),
        is_computed: false,
        ..current
    };
    single.change(cx, changes)?;
    single.touch(cx);
    db::add(cx, single).await
}

/// Returns the events that were single occurrences of this series.
async fn singles(cx: &Context, series: &CalendarEvent) -> Result<Vec<CalendarEvent>> {
    let of_series = calendar_event::Column::Series.eq(series.event_id.as_str());
    db::load(cx, calendar_event::Entity::find().filter(of_series)).await
}

/// Takes an occurrence from its series.
async fn exclude(cx: &Context, occurrence: &CalendarEvent) -> Result<()> {
    let id = occurrence.series.as_deref().unwrap_or_default();
    let series = db::load::<CalendarEvent>(cx, calendar_event::Entity::find_by_id(id));
    let series = series.await?.pop().ok_or_else(Error::not_found)?;
    let mut excluded = series.excluded();
    excluded.insert(occurrence.start().timestamp_millis());
    if excluded.len() > MOST_EXCLUDED {
        let message =
            format!("no more than {MOST_EXCLUDED} occurrences can differ from their series");
        return Err(Error::conflict(message));
    }
    let changed = CalendarEvent {
        excluded: to_column(excluded),
        ..series.clone()
    };
    db::store(cx, series, changed).await.map(drop)
}

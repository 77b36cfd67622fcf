//! Events out of an iCalendar file: all of them or none, after a look at what would be made. An event of the file is
//! known by its UID, so that the same file makes nothing twice. An occurrence that a file changes by itself becomes an
//! event of its own, and does not take place in its series.

use std::collections::{HashMap, HashSet};

use entity_core::db::{self, Record as _};
use entity_core::ics::{self, IcsEvent};
use entity_core::primitives::typed;
use entity_core::schema::Field;
use entity_core::sheet::{Fault, Faults, Report};
use entity_core::{
    Arguments, Context, Data, DateTimeUtc, Entity as _, Error, Fields, Input, Result, gate,
};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QuerySelect as _};
use serde::Serialize;
use serde_json::{Map, Value};

use super::CalendarEvent;
use super::calendar_event;
use super::occurrence::{MOST_EXCLUDED, to_column};
use crate::base::parameters;

/// The maximum number of events in one file.
const MOST_EVENTS: usize = 500;

/// The fields for which pages ask before an import.
pub(super) const ASKS: &[Field] = &[
    parameters::pasted(
        "ics",
        "The text of an iCalendar file, from BEGIN:VCALENDAR on.",
    ),
    parameters::PREVIEW,
];

/// The events that an import made or, as a preview, would make.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Imported {
    #[serde(flatten)]
    report: Report<Made>,
    /// The events that are there already.
    doubles: Vec<Made>,
}

/// An event of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ImportedEvent")]
pub(super) struct Made {
    /// The number of the line with which it begins.
    line: u64,
    /// The UID.
    uid: String,
    /// The headline.
    title: String,
}

/// An event that is to be made.
struct Plan {
    made: Made,
    fields: Input,
    excluded: Vec<DateTimeUtc>,
}

/// Returns the descriptions of the events in a file.
pub(super) fn texts(sent: &Fields) -> Vec<String> {
    let events = ics::read(sent.text("ics").unwrap_or_default(), MOST_EVENTS);
    let events = events.into_iter().flatten().filter_map(|it| it.1.ok());
    events.map(|it| typed::of_plain(&it.description)).collect()
}

/// Imports a file, or answers what that would make.
pub(super) async fn import(cx: &Context, arguments: Arguments) -> Result<Data<Imported>> {
    let site = arguments.argument("siteId")?;
    let is_preview = parameters::truth(&arguments, "preview")?;
    let file = parameters::whole(&arguments, "ics")?;
    let (mut faults, mut doubles, mut plans) = (Faults::default(), Vec::new(), Vec::new());
    let events = ics::read(&file, MOST_EVENTS).map_err(|message| Error::field("ics", message))?;
    let events = apart(events);
    let mut known = known(cx, site, &events).await?;
    for (line, event) in events {
        match event.and_then(|it| Plan::of(cx, site, line, it)) {
            Ok(plan) if known.insert(plan.made.uid.clone()) => plans.push(plan),
            Ok(double) => doubles.push(double.made),
            Err(error) => faults.0.push(Fault {
                line,
                column: 1,
                message: error.message().to_owned(),
            }),
        }
    }
    let made = plans.iter().map(|it| it.made.clone()).collect();
    let report = Report::of(is_preview, made, faults)?;
    if !is_preview {
        for plan in plans {
            plan.carry_out(cx).await?;
        }
    }
    Ok(Data(Imported { report, doubles }))
}

/// Returns the events of a file, in which the occurrences that are changed by themselves stand apart: each has a UID of its
/// own, and does not take place in its series, which must be in the same file.
fn apart(events: Vec<(u64, Result<IcsEvent>)>) -> Vec<(u64, Result<IcsEvent>)> {
    let found = || events.iter().filter_map(|it| it.1.as_ref().ok());
    let is_series = |it: &&IcsEvent| it.replaces.is_none() && !it.rule.is_empty();
    let mut replaced: HashMap<String, Vec<DateTimeUtc>> = found()
        .filter(is_series)
        .map(|it| (it.uid.clone(), Vec::new()))
        .collect();
    for (uid, at) in found().filter_map(|it| Some((&it.uid, it.replaces?))) {
        if let Some(instants) = replaced.get_mut(uid) {
            instants.push(at);
        }
    }
    let stand_apart = |mut event: IcsEvent| match (event.replaces, replaced.get(&event.uid)) {
        (None, instants) => {
            event.excluded.extend(instants.into_iter().flatten());
            Ok(event)
        }
        (Some(at), Some(_)) => {
            event.uid = format!("{} {}", event.uid, at.timestamp_millis());
            Ok(event)
        }
        (Some(_), None) => {
            let message = "names an occurrence of an event that is not in the file";
            Err(Error::field("RECURRENCE-ID", message))
        }
    };
    let events = events.into_iter();
    events
        .map(|(line, event)| (line, event.and_then(stand_apart)))
        .collect()
}

/// Returns the UIDs among those of the file that events of the site have.
async fn known(
    cx: &Context,
    site: &str,
    events: &[(u64, Result<IcsEvent>)],
) -> Result<HashSet<String>> {
    let uids = events.iter().filter_map(|it| it.1.as_ref().ok());
    let uids: Vec<&str> = uids.map(|it| it.uid.as_str()).collect();
    let known = calendar_event::Entity::find()
        .select_only()
        .column(calendar_event::Column::Uid)
        .filter(calendar_event::Column::SiteId.eq(site))
        .filter(db::among(
            cx,
            calendar_event::Column::Uid.into_expr(),
            &uids,
        )?);
    let known: Vec<String> = cx.db()?.select(&known).await?;
    Ok(known.into_iter().collect())
}

impl Plan {
    fn of(cx: &Context, site: &str, line: u64, event: IcsEvent) -> Result<Self> {
        let title = match event.summary.as_str() {
            "" => "Untitled",
            title => title,
        };
        let mut fields = Map::new();
        let mut set = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        set("siteId", site.into());
        set("title", title.into());
        set("description", typed::of_plain(&event.description).into());
        set("firstTime", event.start.timestamp_millis().into());
        set("duration", event.length.num_milliseconds().into());
        set("timeZone", event.zone.name().into());
        for (name, value) in [("location", event.location), ("recurrenceRule", event.rule)] {
            if !value.is_empty() {
                set(name, value.into());
            }
        }
        let fields = Input::from_iter(fields);
        let checked = fields.check(CalendarEvent::schema(), true)?;
        CalendarEvent::make(cx, checked)?.check(cx, None)?;
        if event.excluded.len() > MOST_EXCLUDED {
            let message = format!("must not have more than {MOST_EXCLUDED} instants");
            return Err(Error::field("EXDATE", message));
        }
        Ok(Self {
            made: Made {
                line,
                title: title.to_owned(),
                uid: event.uid,
            },
            fields,
            excluded: event.excluded,
        })
    }

    async fn carry_out(self, cx: &Context) -> Result<()> {
        let event = gate::create::<CalendarEvent>(cx, &self.fields).await?;
        let note =
            async |column, text| db::note::<CalendarEvent>(cx, &event.event_id, column, text).await;
        note("uid", self.made.uid).await?;
        if !self.excluded.is_empty() {
            let excluded = self.excluded.iter().map(DateTimeUtc::timestamp_millis);
            note("excluded", to_column(excluded)).await?;
        }
        Ok(())
    }
}

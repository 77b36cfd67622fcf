//! The calendar of the demo university: something of every kind that the first course can have.

use chrono::{NaiveTime, TimeDelta};
use entity_core::db;
use entity_core::file::Files;
use entity_core::{Context, Delete as _, Demo, Fields, Result, Update as _};
use serde_json::json;

use super::CalendarEvent;
use crate::base::university::{BIOLOGY, FIELD_TRIP, HISTORY, LAB_A};
use crate::courses::content::demo::attach;

/// One event. Days count from today.
struct Plan {
    site: &'static str,
    creator: &'static str,
    title: &'static str,
    description: &'static str,
    kind: &'static str,
    location: Option<&'static str>,
    day: i64,
    hour: u32,
    minutes: i64,
    feature: Feature,
}

/// The feature of it.
enum Feature {
    Plain,
    WithFiles(&'static [&'static str]),
    /// It recurs by this rule, in the zone of the university.
    Recurring(&'static str),
    /// It is for the group with this title.
    For(&'static str),
}

const ZONE: &str = "Europe/Berlin";
const FILES: &[&str] = &["past-exam.pdf"];
/// The occurrences of the lecture, counted from 0, of which one is moved and one does not take place.
const MOVED: usize = 2;
const CANCELLED: usize = 4;

const PLANS: [Plan; 7] = [
    Plan {
        site: BIOLOGY,
        creator: "instructor1",
        title: "Lecture: Cells and Life",
        description: "<p>Bring the <strong>reader</strong>.</p>",
        kind: "Class section - Lecture",
        location: Some("Room 204"),
        day: -14,
        hour: 9,
        minutes: 90,
        feature: Feature::Recurring("FREQ=WEEKLY;COUNT=15"),
    },
    Plan {
        site: BIOLOGY,
        creator: "instructor1",
        title: "Lab: Microscopy",
        description: "<p>Onion cells, and your drawings of them.</p>",
        kind: "Class section - Lab",
        location: Some("Lab 3"),
        day: 2,
        hour: 14,
        minutes: 120,
        feature: Feature::For(LAB_A),
    },
    Plan {
        site: BIOLOGY,
        creator: "instructor1",
        title: "Midterm exam",
        description: "<p>Chapters one to four. No books.</p>",
        kind: "Exam",
        location: Some("Great Hall"),
        day: 20,
        hour: 10,
        minutes: 90,
        feature: Feature::WithFiles(FILES),
    },
    Plan {
        site: BIOLOGY,
        creator: "instructor1",
        title: "Visit to the botanical garden",
        description: "<p>We met at the gate.</p>",
        kind: "Special event",
        location: Some("Botanical garden"),
        day: -30,
        hour: 13,
        minutes: 180,
        feature: Feature::Plain,
    },
    Plan {
        site: HISTORY,
        creator: "instructor2",
        title: "Seminar",
        description: "<p>One question each, please.</p>",
        kind: "Class session",
        location: Some("Room 17"),
        day: -6,
        hour: 15,
        minutes: 90,
        feature: Feature::Recurring("FREQ=WEEKLY;INTERVAL=2"),
    },
    Plan {
        site: HISTORY,
        creator: "instructor2",
        title: "Office hour",
        description: "",
        kind: "Meeting",
        location: Some("Room 3"),
        day: 1,
        hour: 13,
        minutes: 60,
        feature: Feature::Plain,
    },
    Plan {
        site: FIELD_TRIP,
        creator: "instructor1",
        title: "Salt marsh excursion",
        description: "<p>Two days of birds and mud.</p>",
        kind: "Activity",
        location: Some("Salt marsh"),
        day: 40,
        hour: 6,
        minutes: 2 * 24 * 60,
        feature: Feature::Plain,
    },
];

/// Adds the events and returns their number.
pub(super) async fn fill(cx: &Context, demo: &Demo) -> Result<usize> {
    for plan in &PLANS {
        let mut event = plan.event(cx, demo)?;
        if let Feature::WithFiles(names) = plan.feature {
            event.attachments = attach(cx, &event.site_id, &event.creator, names).await?;
        }
        let event = db::add(cx, event).await?;
        if event.site_id == BIOLOGY && event.recurrence_rule.is_some() {
            Box::pin(set_apart(cx, event)).await?;
        }
    }
    Ok(PLANS.len())
}

/// Moves one of the lectures and cancels another one.
async fn set_apart(cx: &Context, lecture: CalendarEvent) -> Result<()> {
    let starts = lecture.to_series()?.into_iter();
    let starts: Vec<_> = starts
        .flat_map(|it| it.starts(lecture.start()).take(CANCELLED + 1))
        .collect();
    if let Some(moved) = starts.get(MOVED) {
        let elsewhere =
            json!({"location": "Great Hall", "title": "Lecture: Cells and Life, with guests"});
        let changes = Fields(elsewhere.as_object().cloned().unwrap_or_default());
        CalendarEvent::update(cx, lecture.at(*moved), changes).await?;
    }
    if let Some(cancelled) = starts.get(CANCELLED) {
        CalendarEvent::delete(cx, lecture.at(*cancelled)).await?;
    }
    Ok(())
}

impl Plan {
    fn event(&self, cx: &Context, demo: &Demo) -> Result<CalendarEvent> {
        let group = match self.feature {
            Feature::For(title) => Some(demo.group(title)?.to_owned()),
            _ => None,
        };
        let rule = match self.feature {
            Feature::Recurring(rule) => Some(rule.to_owned()),
            _ => None,
        };
        let hour = NaiveTime::from_hms_opt(self.hour, 0, 0).unwrap_or_default();
        let today = cx.now().date_naive().and_time(hour).and_utc();
        Ok(CalendarEvent {
            title: self.title.to_owned(),
            description: self.description.to_owned(),
            kind: self.kind.to_owned(),
            site_id: self.site.to_owned(),
            creator: demo.person(self.creator)?.to_owned(),
            first_time: (today + TimeDelta::days(self.day)).into(),
            duration: TimeDelta::minutes(self.minutes).num_milliseconds(),
            time_zone: ZONE.to_owned(),
            recurrence_rule: rule,
            location: self.location.map(str::to_owned),
            groups: group.into_iter().collect(),
            attachments: Files::default(),
            ..CalendarEvent::blank(cx)
        })
    }
}

//! Calendars: a type with a beginning and an end, as calendar programs read it, and types without.
//!
//! The service has no such type of its own yet, so that these tests bring one.

use chrono::{DateTime, TimeDelta, Utc};
use entity_core::engine::Route;
use entity_core::{DateTimeUtc, Entity, EventEntry, EventStatus};
use http::header::{ACCEPT, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use http::{StatusCode, header};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tests::app::PASSWORD;
use tests::{Backend, Client, OnBackend, TestApp, both};

use super::created;
use crate::python::{Needs, run};

/// An hour with somebody.
#[derive(Clone, Debug, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    prefix = "appointment",
    table = "appointment",
    access = Site("appointment"),
    verbs(read, list, create, update, delete),
    event = Self::to_event
)]
struct Appointment {
    #[entity(id)]
    id: String,
    #[entity(site)]
    site_id: String,
    #[entity(title, required)]
    title: String,
    #[entity(max = 20000)]
    notes: Option<String>,
    place: Option<String>,
    #[entity(required)]
    start: DateTimeUtc,
    #[entity(required)]
    end: DateTimeUtc,
    is_all_day: bool,
    is_cancelled: bool,
    repeats: Option<String>,
    #[entity(created)]
    made: DateTimeUtc,
    #[entity(updated)]
    modified: DateTimeUtc,
    #[entity(version)]
    version: i64,
}

impl Appointment {
    fn to_event(&self) -> EventEntry {
        let mut entry = EventEntry::new(self.title.clone(), self.start, self.end, self.modified);
        entry.description.clone_from(&self.notes);
        entry.location.clone_from(&self.place);
        entry.is_all_day = self.is_all_day;
        if self.is_cancelled {
            entry.status = EventStatus::Cancelled;
        }
        entry.sequence = u32::try_from(self.version - 1).unwrap_or(u32::MAX);
        entry.created = Some(self.made);
        entry.recurrence.clone_from(&self.repeats);
        entry
    }
}

/// The service with appointments.
struct WithAppointments(TestApp);

impl OnBackend for WithAppointments {
    async fn on_backend(backend: Backend) -> Option<Self> {
        let appointments = Route::of::<Appointment>(("tests", "0.0.0"))
            .read()
            .list()
            .create()
            .update()
            .delete()
            .table()
            .build();
        TestApp::with_type(backend, appointments).await.map(Self)
    }
}

/// Text that means something to every calendar on its way.
const HOSTILE: &str =
    "Räume; und, \\ mehr: \"日本\"\r\nATTENDEE:mailto:x@example.edu\rEND:VEVENT\nBEGIN:VALARM";

fn at(text: &str) -> DateTime<Utc> {
    text.parse().expect("an instant")
}

/// Adds an appointment, with `fields` beside what it must have.
async fn add(teacher: &Client, fields: Value) -> String {
    let mut all = json!({
        "siteId": "biology-101",
        "title": "Office hour",
        "start": "2026-12-07T09:00:00Z",
        "end": "2026-12-07T10:00:00Z",
    });
    let fields = fields.as_object().expect("fields").clone();
    all.as_object_mut().expect("fields").extend(fields);
    created(
        &teacher.post("/direct/appointment.json", &all).await,
        "appointment",
    )
}

const LIST: &str = "/direct/appointment.ics?siteId=biology-101";

/// Reads the calendar, and tells of each event what another program finds in it.
const ICALENDAR: &str = r#"
import icalendar, json, sys
calendar = icalendar.Calendar.from_ical(sys.stdin.buffer.read())
assert not calendar.errors, calendar.errors
assert calendar["VERSION"] == "2.0" and calendar["PRODID"], calendar
events = []
for event in calendar.walk("VEVENT"):
    assert not event.errors, event.errors
    assert not event.subcomponents, event.subcomponents
    text = lambda name: str(event[name]) if name in event else None
    time = lambda name: event[name].dt.isoformat() if name in event else None
    events.append({
        "uid": text("UID"), "summary": text("SUMMARY"), "description": text("DESCRIPTION"),
        "location": text("LOCATION"), "status": text("STATUS"), "url": text("URL"),
        "sequence": int(event["SEQUENCE"]), "start": time("DTSTART"), "end": time("DTEND"),
        "stamp": time("DTSTAMP"), "created": time("CREATED"), "modified": time("LAST-MODIFIED"),
        "rule": event["RRULE"].to_ical().decode() if "RRULE" in event else None,
        "names": sorted(event.keys()),
    })
json.dump(events, sys.stdout)
"#;

/// The lines of a calendar, unfolded: name with parameters, and value. Fails if a line is too long or ends wrongly.
fn lines(calendar: &str) -> Vec<(String, String)> {
    let physical: Vec<&str> = calendar
        .strip_suffix("\r\n")
        .expect("a last line")
        .split("\r\n")
        .collect();
    for line in &physical {
        assert!(line.len() <= 75, "{} octets: {line}", line.len());
        assert!(!line.contains(['\r', '\n']), "{line:?}");
    }
    let unfolded = calendar.replace("\r\n ", "");
    let lines = unfolded
        .lines()
        .map(|it| it.split_once(':').expect("a name and a value"));
    lines
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

async fn calendar(client: &Client, path: &str) -> String {
    let answer = client.get(path).await;
    answer.expect(StatusCode::OK);
    assert_eq!(
        answer.header(CONTENT_TYPE),
        Some("text/calendar; charset=utf-8")
    );
    answer.text().to_owned()
}

async fn value(client: &Client, path: &str, name: &str) -> Option<String> {
    let found = lines(&calendar(client, path).await);
    found.into_iter().find(|it| it.0 == name).map(|it| it.1)
}

both! {
    async fn another_program_reads_every_event(app: WithAppointments) {
        let teacher = app.0.user("instructor1").await;
        let now = app.0.service().now();
        add(&teacher, json!({"notes": HOSTILE.repeat(200), "place": HOSTILE, "title": HOSTILE})).await;
        add(&teacher, json!({"title": "Fair", "isAllDay": true, "end": "2026-12-09T00:00:00Z"})).await;
        add(&teacher, json!({"title": "Seminar", "repeats": "FREQ=WEEKLY;COUNT=5", "isCancelled": true})).await;
        add(&teacher, json!({"title": "Deadline", "end": "2026-12-07T09:00:00Z", "repeats": "FREQ=DAILY\nX:Y"})).await;
        let text = calendar(&teacher, LIST).await;
        assert_eq!(lines(&text).iter().filter(|it| it.1 == "VEVENT" && it.0 == "BEGIN").count(), 4);
        assert!(lines(&text).iter().all(|it| !it.0.starts_with("ATTENDEE") && it.1 != "VALARM"));
        let Some(found) = run(ICALENDAR, text.as_bytes(), Needs::Packages) else {
            return;
        };
        let mut events: Vec<Value> = serde_json::from_slice(&found).expect("JSON");
        let plain = HOSTILE.replace("\r\n", "\n").replace('\r', "\n");
        // A calendar begins with what is not over: here they are in the order in which they were made.
        let made = [&*plain, "Fair", "Seminar", "Deadline"];
        events.sort_by_key(|event| made.iter().position(|it| event["summary"] == *it));
        assert_eq!(events[0]["summary"], plain);
        assert_eq!(events[0]["location"], plain);
        let description = events[0]["description"].as_str().expect("text");
        assert!(plain.repeat(200).starts_with(description.trim_end_matches('…')), "{description}");
        assert_eq!(description.chars().count(), 8_000);
        assert_eq!(events[0]["start"], "2026-12-07T09:00:00+00:00");
        assert_eq!(events[0]["end"], "2026-12-07T10:00:00+00:00");
        for name in ["stamp", "created", "modified"] {
            let told = events[0][name].as_str().expect("an instant");
            assert_eq!(at(told).timestamp(), now.timestamp(), "{name}");
        }
        assert_eq!((&events[1]["start"], &events[1]["end"]), (&json!("2026-12-07"), &json!("2026-12-09")));
        assert_eq!(events[2]["rule"], "FREQ=WEEKLY;COUNT=5");
        let statuses: Vec<_> = events.iter().map(|it| &it["status"]).collect();
        assert_eq!(statuses, ["CONFIRMED", "CONFIRMED", "CANCELLED", "CONFIRMED"]);
        assert_eq!((&events[3]["end"], &events[3]["rule"]), (&Value::Null, &Value::Null));
    }

    async fn an_event_keeps_its_name_and_counts_its_changes(app: WithAppointments) {
        let teacher = app.0.user("instructor1").await;
        let id = add(&teacher, json!({})).await;
        let path = format!("/direct/appointment/{id}.ics");
        let name = value(&teacher, &path, "UID").await;
        assert!(name.as_ref().is_some_and(|it| it.starts_with("urn:uuid:")), "{name:?}");
        let stamp = value(&teacher, &path, "DTSTAMP").await;
        assert_eq!(value(&teacher, &path, "SEQUENCE").await.as_deref(), Some("0"));
        app.0.advance(TimeDelta::minutes(9));
        assert_eq!(value(&teacher, &path, "DTSTAMP").await, stamp, "nothing changed");
        let changes = json!({"title": "Moved", "start": "2026-12-07T09:30:00Z"});
        let answer = teacher.put(&format!("/direct/appointment/{id}"), &changes).await;
        answer.expect(StatusCode::NO_CONTENT);
        assert_eq!(value(&teacher, &path, "SEQUENCE").await.as_deref(), Some("1"));
        assert_eq!(value(&teacher, LIST, "UID").await, name);
        assert_ne!(value(&teacher, &path, "DTSTAMP").await, stamp);
    }

    async fn a_calendar_that_did_not_change_is_not_sent_again(app: WithAppointments) {
        let teacher = app.0.user("instructor1").await;
        add(&teacher, json!({})).await;
        let first = teacher.get(LIST).await;
        let tag = first.header(ETAG).expect("a version");
        let again = teacher.clone().with_header(IF_NONE_MATCH, tag).get(LIST).await;
        again.expect(StatusCode::NOT_MODIFIED);
    }

    async fn a_calendar_has_a_private_address(app: WithAppointments) {
        let (teacher, student) = (app.0.user("instructor1").await, app.0.user("student1").await);
        add(&teacher, json!({"title": "Consultation"})).await;
        let fields = json!({"path": "/appointment?siteId=biology-101"});
        let made = student.post("/direct/feed", &fields).await;
        made.expect(StatusCode::CREATED);
        let made = made.json();
        assert_eq!(made["formats"], json!(["atom", "rss", "ics"]));
        let address = made["addresses"]["ics"].as_str().expect("an address");
        let path = address.strip_prefix("http://127.0.0.1:8080").expect("our own");
        let text = calendar(&app.0.anonymous(), path).await;
        assert_eq!(text, calendar(&student, LIST).await);
        assert!(text.contains("SUMMARY:Consultation\r\n"));
    }

    async fn a_calendar_is_chosen_like_every_format_and_told_of_on_pages(app: WithAppointments) {
        let teacher = app.0.user("instructor1").await;
        add(&teacher, json!({})).await;
        let asked = teacher.clone().with_header(ACCEPT, "text/calendar");
        let answer = asked.get("/direct/appointment?siteId=biology-101").await;
        assert_eq!(answer.header(CONTENT_TYPE), Some("text/calendar; charset=utf-8"));
        assert!(answer.header(header::VARY).is_some_and(|it| it.contains("Accept")));
        let page = teacher.get("/direct/appointment.html?siteId=biology-101").await;
        for media_type in ["application/atom+xml", "application/rss+xml", "text/calendar"] {
            let link = format!(r#"<link rel="alternate" type="{media_type}""#);
            assert!(page.text().contains(&link), "{media_type}");
        }
    }

    async fn what_has_no_beginning_is_in_no_calendar(app: TestApp) {
        let student = app.user("student1").await;
        let client = app.anonymous().log_in("student1", PASSWORD).await.with_header(ACCEPT, "text/calendar");
        for answer in [
            student.get("/direct/announcement/site/biology-101.ics").await,
            student.get("/direct/site.ics").await,
            client.get("/direct/announcement/site/biology-101").await,
        ] {
            answer.expect(StatusCode::NOT_ACCEPTABLE);
            let message = answer.json()["error"]["message"].clone();
            let message = message.as_str().expect("text");
            let offered = ["json", "xml", "html", "csv"];
            assert!(offered.iter().all(|it| message.contains(it)) && !message.contains("ics"), "{message}");
        }
    }
}

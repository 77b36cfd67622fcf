//! Appointments in a site: a type of entity that calendars show.

use entity_core::{DateTimeUtc, Entity, EventEntry, EventStatus};
use serde::{Deserialize, Serialize};

/// An hour that the members of a site spend together.
#[derive(Clone, Debug, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "appointment", table = "appointment", access = Site("appointment"), verbs(read, list, create, update, delete))]
#[entity(event = Self::to_event, no_overlap(site_id, start, end, only = "NOT is_cancelled"))]
pub struct Appointment {
    #[entity(id)]
    appointment_id: String,
    #[entity(site)]
    site_id: String,
    #[entity(title, search, required)]
    title: String,
    #[entity(required)]
    start: DateTimeUtc,
    #[entity(required)]
    end: DateTimeUtc,
    is_cancelled: bool,
    #[entity(updated)]
    modified: DateTimeUtc,
    #[entity(version)]
    version: i64,
}
entity_core::register!(Appointment);

impl Appointment {
    fn to_event(&self) -> EventEntry {
        let mut entry = EventEntry::new(self.title.clone(), self.start, self.end, self.modified);
        if self.is_cancelled {
            entry.status = EventStatus::Cancelled;
        }
        entry.sequence = u32::try_from(self.version).unwrap_or_default();
        entry
    }
}

#[cfg(test)]
mod tests {
    use http::StatusCode;
    use lectern_testing::{Client, Role, TestApp, both};
    use serde_json::{Value, json};

    fn hour(from: &str, until: &str) -> Value {
        let day = |time: &str| format!("2026-12-07T{time}:00Z");
        json!({"siteId": "biology-101", "title": "Office hour", "start": day(from), "end": day(until)})
    }

    async fn make(client: &Client, hour: &Value) -> StatusCode {
        client.post("/direct/appointment.json", hour).await.status
    }

    both! {
        async fn hours_of_a_site_do_not_overlap(app: TestApp) {
            let teacher = app.role(Role::Instructor).await;
            for (from, until, status) in [
                ("09:00", "10:00", StatusCode::CREATED),
                ("09:30", "10:30", StatusCode::CONFLICT),
                ("08:00", "12:00", StatusCode::CONFLICT),
                ("09:15", "09:45", StatusCode::CONFLICT),
                ("10:00", "11:00", StatusCode::CREATED),
                ("08:00", "09:00", StatusCode::CREATED),
            ] {
                assert_eq!(make(&teacher, &hour(from, until)).await, status, "{from} to {until}");
            }
            let elsewhere = json!({"siteId": "field-trip", "title": "Hike", "start": "2026-12-07T09:00:00Z", "end": "2026-12-07T10:00:00Z"});
            let admin = app.role(Role::Superuser).await;
            assert_eq!(make(&admin, &elsewhere).await, StatusCode::CREATED);
        }

        async fn what_is_cancelled_takes_no_time(app: TestApp) {
            let teacher = app.role(Role::Instructor).await;
            let mut cancelled = hour("09:00", "10:00");
            cancelled["isCancelled"] = json!(true);
            let made = teacher.post("/direct/appointment.json", &cancelled).await;
            let path = format!("/direct/appointment/{}.json", made.header("EntityId").expect("an id"));
            assert_eq!(make(&teacher, &hour("09:30", "10:30")).await, StatusCode::CREATED);
            let change = json!({"isCancelled": false});
            let refused = teacher.put(&path, &change).await;
            assert!(refused.expect(StatusCode::CONFLICT).text().contains("overlaps"), "{}", refused.text());
            teacher.put(&path, &json!({"title": "Was to be"})).await.expect(StatusCode::NO_CONTENT);
        }

        async fn of_many_at_once_one_is_made(app: TestApp) {
            let teacher = app.role(Role::Instructor).await;
            let hours = (0..12).map(|it| hour(&format!("09:{it:02}"), "10:00"));
            let hours: Vec<Value> = hours.collect();
            let made = futures::future::join_all(hours.iter().map(|it| make(&teacher, it))).await;
            let count = |status| made.iter().filter(|it| **it == status).count();
            assert_eq!((count(StatusCode::CREATED), count(StatusCode::CONFLICT)), (1, 11), "{made:?}");
        }
    }
}

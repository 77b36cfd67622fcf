//! Calendars below `/api`

use chrono::TimeDelta;
use entity_core::engine::Audit;
use entity_core::testing::origin;
use entity_core::wire::Millis;
use entity_core::{Caller, DateTimeUtc, db};
use entity_providers::courses::calendar::CalendarEvent;
use http::StatusCode;
use serde_json::Value;
use tests::{TestApp, both};

const MINE: [&str; 3] = [
    "/api/users/me/calendar",
    "/api/users/current/calendar",
    "/api/calendar/users/me",
];
const OF_SITE: [&str; 2] = [
    "/api/sites/biology-101/calendar",
    "/api/calendar/sites/biology-101",
];

/// Stores so many events of an hour each, the first at `begin` and each two hours after the one before.
async fn store(app: &TestApp, begin: DateTimeUtc, count: i32) {
    let dispatcher = app.service().dispatcher.clone().with_write_limit(None);
    let origin = origin(Caller::anonymous());
    let work = dispatcher.write(&origin, |cx| {
        Box::pin(async move {
            let events = (0..count).map(|number| {
                let start = begin + TimeDelta::hours(2) * number;
                CalendarEvent {
                    event_id: cx.new_id(),
                    title: format!("Hour {number}"),
                    kind: "Activity".to_owned(),
                    site_id: "biology-101".to_owned(),
                    first_time: start.into(),
                    duration: 3_600_000,
                    over_at: Millis(start + TimeDelta::hours(1)),
                    time_zone: "UTC".to_owned(),
                    version: 1,
                    ..CalendarEvent::default()
                }
            });
            let events: Vec<_> = events.collect();
            db::insert_many(cx, &events).await?;
            Ok(((), Audit::Later))
        })
    });
    work.await.expect("the database takes them");
}

fn assert_events(body: &Value) {
    let events = body["events"].as_array().expect("a list");
    assert!(!events.is_empty());
    for event in events {
        let site = event["siteId"].as_str().expect("a site");
        let tool = format!("/portal/site/{site}/tool/");
        assert!(
            event["url"]
                .as_str()
                .is_some_and(|it| it.starts_with(&tool)),
            "{event}"
        );
    }
    let starts: Vec<_> = events.iter().map(|it| it["start"].as_i64()).collect();
    assert!(starts.is_sorted(), "{starts:?}");
}

both! {
    async fn the_events_of_all_sites_are_told_in_order(app: TestApp) {
        for eid in ["student1", "instructor1"] {
            for path in MINE {
                let body = app.user(eid).await.get(path).await.expect(StatusCode::OK).json();
                assert_events(&body);
            }
        }
    }

    async fn the_events_of_a_site_are_told_in_order(app: TestApp) {
        for eid in ["student1", "instructor1", "admin"] {
            for path in OF_SITE {
                let body = app.user(eid).await.get(path).await.expect(StatusCode::OK).json();
                assert_events(&body);
            }
        }
    }

    async fn x8_more_events_than_are_looked_at_together_are_all_told_in_parts(app: TestApp) {
        let now = app.service().dispatcher.shared().clock.now();
        let student = app.user("student1").await;
        let few = student.get("/api/sites/biology-101/calendar?_limit=0").await.expect(StatusCode::OK).json();
        let few = few["events"].as_array().expect("a list").len();
        store(&app, now - TimeDelta::days(200), 2_300).await;
        store(&app, now + TimeDelta::days(2), 20).await;
        for (path, limit) in [("/api/sites/biology-101/calendar", 700), ("/direct/calendar/site/biology-101.json", 900)] {
            let days = match path.starts_with("/api") {
                true => String::new(),
                false => "&firstDate=2025-01-01&lastDate=2027-12-31".to_owned(),
            };
            let (mut starts, mut titles) = (Vec::new(), Vec::new());
            let mut next = Some(format!("{path}?_limit={limit}{days}"));
            while let Some(address) = next {
                let answer = student.get(&address).await;
                let body = answer.expect(StatusCode::OK).json();
                let list = body.get("events").unwrap_or(&body["calendar_collection"]);
                for event in list.as_array().expect("a list") {
                    let start = event["start"].as_i64().or(event["firstTime"]["time"].as_i64());
                    starts.push(start.expect("a start"));
                    titles.push(event["title"].as_str().expect("a title").to_owned());
                }
                next = crate::direct::link(&answer, "next");
            }
            assert!(starts.is_sorted(), "{path}");
            titles.retain(|it| it.starts_with("Hour"));
            assert_eq!(titles.len(), 2_320, "{path}");
            if days.is_empty() {
                assert_eq!(starts.len(), 2_320 + few);
            }
        }
    }

    async fn days_narrow_what_is_told_and_wrong_ones_are_refused(app: TestApp) {
        let student = app.user("student1").await;
        let count = async |query: &str| {
            let body = student.get(&format!("/api/users/me/calendar?{query}")).await.expect(StatusCode::OK).json();
            body["events"].as_array().expect("a list").len()
        };
        assert!(count("from=2026-11-21&to=2026-12-21").await < count("").await);
        assert_eq!(count("from=2010-01-01&to=2010-02-01").await, 0);
        for wrong in ["from=x", "to=2026-1-1", "from=", "from=2026-11-21T00:00:00Z"] {
            student.get(&format!("/api/users/me/calendar?{wrong}")).await.expect(StatusCode::BAD_REQUEST);
        }
    }
}

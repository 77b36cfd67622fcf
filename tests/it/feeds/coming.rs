//! Calendars, and tables that are kept as files, lack what is over longest and never what is to come.

use std::collections::HashSet;

use entity_core::Registry;
use http::StatusCode;
use serde_json::{Value, json};
use tests::{Answer, Client, TestApp, both};

use super::newest::copy;
use super::{PrivateFeed, fetch};

const SITE: &str = "/calendar/site/biology-101";
const YEAR: i64 = 366 * 24 * 60;
const TIMES: [&str; 2] = ["first_time", "over_at"];

async fn event(teacher: &Client, title: &str, rule: Option<&str>) -> String {
    let event = json!({"siteId": "biology-101", "title": title, "firstTime": "2026-12-01T17:00:00Z",
        "duration": 5_400_000, "recurrenceRule": rule});
    let made = teacher.post("/direct/calendar.json", &event).await;
    made.header("EntityId").expect("an id").to_owned()
}

/// Adds copies of an event of this title, `minutes` later than it is.
async fn add(app: &TestApp, teacher: &Client, title: &str, count: usize, minutes: i64) {
    let id = event(teacher, title, None).await;
    let registry = Registry::from_inventory().expect("types that go together");
    let calendar = registry.route("calendar").expect("calendars");
    copy(app, calendar, &id, 0..count, (&TIMES, minutes)).await;
    teacher
        .delete(&format!("/direct/calendar/{id}"))
        .await
        .expect(StatusCode::NO_CONTENT);
}

/// The number of events with this title.
fn count(answer: &Answer, title: &str) -> usize {
    answer.expect(StatusCode::OK);
    answer
        .text()
        .matches(&format!("SUMMARY:{title}\r\n"))
        .count()
}

fn left_out(answer: &Answer) -> (bool, bool) {
    (
        answer.header("x-left-out").is_some(),
        answer.text().contains("X-WR-CALDESC:"),
    )
}

both! {
    async fn y9_a_calendar_has_what_is_to_come_and_what_goes_on(app: TestApp) {
        let teacher = app.user("instructor1").await;
        assert_eq!(left_out(&teacher.get(&format!("/direct{SITE}.ics")).await), (false, false));
        let series = event(&teacher, "Series", Some("FREQ=WEEKLY")).await;
        let registry = Registry::from_inventory().expect("types that go together");
        let calendar = registry.route("calendar").expect("calendars");
        copy(&app, calendar, &series, 0..1, (&TIMES[..1], -3 * YEAR)).await;
        add(&app, &teacher, "Long ago", 1_005, -2 * YEAR).await;
        add(&app, &teacher, "To come", 5, YEAR).await;
        let of_caller = PrivateFeed::new(&teacher, &json!({"path": "/calendar/my", "formats": ["ics"]})).await;
        let stranger = app.anonymous();
        for (reader, path) in [
            (&teacher, format!("/direct{SITE}.ics")),
            (&teacher, "/direct/calendar/my.ics".to_owned()),
            (&teacher, "/direct/calendar.ics?siteId=biology-101".to_owned()),
            (&stranger, of_caller.path("ics")),
        ] {
            let answer = reader.get(&path).await;
            assert_eq!((count(&answer, "To come"), count(&answer, "Series")), (5, 2), "{path}");
            assert!((900..1_000).contains(&count(&answer, "Long ago")), "{path}");
            assert_eq!(answer.text().matches("BEGIN:VEVENT").count(), 1_000, "{path}");
            assert_eq!(left_out(&answer), (true, true), "{path}");
        }
        let few = teacher.get(&format!("/direct{SITE}.ics?_limit=1000&title=To%20come")).await;
        assert_eq!((count(&few, "To come"), left_out(&few)), (5, (false, false)));
        // What the request orders is in that order, and what a feed shows is the newest.
        let asked = teacher.get(&format!("/direct{SITE}.ics?_order=firstTime&_limit=3")).await;
        assert_eq!((count(&asked, "Long ago"), left_out(&asked)), (2, (true, true)));
        assert_eq!(fetch(&teacher, &format!("/direct{SITE}.atom")).await.entries.len(), 50);
    }

    async fn y9_of_more_than_a_thousand_to_come_the_next_are_there(app: TestApp) {
        let teacher = app.user("instructor1").await;
        add(&app, &teacher, "Far", 1_005, 2 * YEAR).await;
        add(&app, &teacher, "Near", 5, YEAR).await;
        add(&app, &teacher, "Over", 5, -YEAR).await;
        let answer = teacher.get(&format!("/direct{SITE}.ics")).await;
        assert_eq!((count(&answer, "Near"), count(&answer, "Over")), (5, 0));
        assert_eq!(left_out(&answer), (true, true));
    }

    async fn y9_a_table_lacks_the_oldest_and_leads_to_it(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let path = format!("/direct{SITE}.csv");
        let rows = |answer: &Answer| {
            answer.expect(StatusCode::OK);
            let lines = entity_core::sheet::read(answer.text()).expect("a table");
            let lines = lines.iter().skip(1).map(|it| (it.cell(0).to_owned(), it.cell(1).to_owned()));
            lines.collect::<Vec<_>>()
        };
        let whole = teacher.get(&path).await;
        let listed = teacher.get(&format!("/direct{SITE}.json")).await.json();
        let listed = listed["calendar_collection"].as_array().expect("a list");
        let ids = listed.iter().map(|it| it["eventId"].as_str().expect("an id").to_owned());
        assert!(rows(&whole).into_iter().map(|it| it.0).eq(ids), "what fits is in the order of the list");
        assert_eq!(whole.header("x-left-out"), None);
        add(&app, &teacher, "Long ago", 1_005, -2 * YEAR).await;
        add(&app, &teacher, "To come", 5, YEAR).await;
        let mut next = Some(path.clone());
        let (mut seen, mut parts) = (Vec::new(), 0);
        while let Some(path) = next {
            let answer = teacher.get(&path).await;
            let part = rows(&answer);
            if parts == 0 {
                assert_eq!(part.iter().filter(|it| it.1 == "To come").count(), 5);
                assert_eq!((part.len(), answer.header("x-left-out").is_some()), (1_000, true));
            }
            seen.extend(part.into_iter().map(|it| it.0));
            parts += 1;
            let link = answer.header("link").unwrap_or_default().split(", ").find(|it| it.contains("\"next\""));
            next = link.map(|it| it.trim_start_matches('<').split('>').next().expect("an address").replace("http://127.0.0.1:8080", ""));
        }
        assert_eq!((parts, seen.len()), (2, rows(&whole).len() + 1_010));
        assert_eq!(seen.iter().collect::<HashSet<_>>().len(), seen.len());
        // Who asks for a part or an order has it.
        let first = teacher.get(&format!("{path}?_limit=3")).await;
        assert!(rows(&first).iter().all(|it| it.1 != "To come"));
        let names = teacher.get("/direct/membership.csv?siteId=biology-101").await;
        let json: Value = teacher.get("/direct/membership.json?siteId=biology-101").await.json();
        assert_eq!(rows(&names).len(), json["membership_collection"].as_array().expect("a list").len());
    }
}

//! `/direct/calendar`

use http::StatusCode;
use serde_json::{Value, json};
use tests::{TestApp, both};

use super::{created, list, read, text, titles};

const OF_BIOLOGY: &str = "/direct/calendar/site/biology-101.json";
const MONTH: &str = "firstDate=2026-11-21&lastDate=2026-12-32";

fn talk() -> Value {
    json!({"siteId": "biology-101", "title": "Talk", "firstTime": "2026-12-01T17:00:00Z", "duration": 5_400_000})
}

/// `text` without the escapes of markup, and without what marks text that has none.
fn plain(text: &str) -> String {
    let text = text.replace("<![CDATA[", "").replace("]]>", "");
    [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&amp;", "&"),
    ]
    .iter()
    .fold(text, |it, (escape, sign)| it.replace(escape, sign))
}

fn text_of(event: &Value) -> String {
    text(event, "description")
}

both! {
    async fn an_event_has_the_references_that_clients_follow(app: TestApp) {
        for eid in ["student1", "instructor1"] {
            let client = app.user(eid).await;
            for path in [
                OF_BIOLOGY.to_owned(),
                format!("{OF_BIOLOGY}?{MONTH}"),
                format!("{OF_BIOLOGY}?detailed=true&merged=true"),
                "/direct/calendar/my.json".to_owned(),
                format!("/direct/calendar/my.json?{MONTH}"),
            ] {
                let events = list(&client, &path, "calendar").await;
                assert!(!events.is_empty(), "{path}");
                for event in events {
                    let (site, id) = (text(&event, "siteId"), text(&event, "eventId"));
                    assert_eq!(event["reference"], format!("/calendar/calendar/{site}/main"));
                    assert_eq!(event["eventReference"], format!("/calendar/event/{site}/main/{id}"));
                    assert_eq!(event["entityReference"], format!("/calendar/{id}"));
                    let path = format!("/direct/calendar/event/{site}/{id}.json");
                    assert_eq!(read(&client, &path).await, event);
                    let end = event["firstTime"]["time"].as_i64().zip(event["duration"].as_i64()).map(|it| it.0 + it.1);
                    assert_eq!(event["lastTime"]["time"].as_i64(), end);
                }
            }
        }
    }

    async fn days_are_ten_characters_and_roll_over(app: TestApp) {
        let student = app.user("student1").await;
        for wrong in ["2026-11-1", "2026-11-021", "21.11.2026", "x", "", "2026-11-2%31x", "%F0%9F%98%80%F0%9F%98%80ab"] {
            for name in ["firstDate", "lastDate"] {
                let path = format!("/direct/calendar/my.json?{name}={wrong}");
                student.get(&path).await.expect(StatusCode::BAD_REQUEST);
            }
        }
        for fine in ["2026-11-32", "2026-13-01", "0000-01-01", "9999-99-99"] {
            student.get(&format!("/direct/calendar/my.json?firstDate={fine}")).await.expect(StatusCode::OK);
        }
    }

    async fn x28_a_calendar_that_may_not_be_read_is_as_empty_as_one_of_an_unknown_site(app: TestApp) {
        let student = app.user("student1").await;
        let stranger = app.anonymous();
        for (client, closed) in [(&student, "history-210"), (&stranger, "biology-101")] {
            for query in ["", MONTH, "_count=exact", "_order=title"] {
                let of = |site: &str| format!("/direct/calendar/site/{site}.json?{query}");
                let (one, other) = (client.get(&of(closed)).await, client.get(&of("nowhere")).await);
                one.expect(StatusCode::OK);
                other.expect(StatusCode::OK);
                let body = json!({"entityPrefix": "calendar", "calendar_collection": []});
                assert_eq!((one.json(), other.json()), (body.clone(), body), "{query}");
                for name in ["etag", "x-total-count"] {
                    assert_eq!(one.header(name), other.header(name), "{name} {query}");
                }
            }
            for query in ["firstDate=x", "_order=nothing"] {
                let path = format!("/direct/calendar/site/nowhere.json?{query}");
                client.get(&path).await.expect(StatusCode::BAD_REQUEST);
            }
        }
        student.get("/direct/calendar/site.json").await.expect(StatusCode::BAD_REQUEST);
        student.get("/direct/calendar/event/biology-101.json").await.expect(StatusCode::BAD_REQUEST);
    }

    async fn x43_the_text_of_an_entry_begins_with_when_it_is(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let event = json!({
            "siteId": "biology-101", "title": "Zqx", "description": "<p>Bring coats.</p>", "firstTime": "2027-03-29T07:00:00Z",
            "timeZone": "Europe/Berlin", "duration": 5_400_000,
        });
        created(&teacher.post("/direct/calendar.json", &event).await, "calendar");
        let text = "When: Monday, 29 March 2027, 09:00 to 10:30 (Europe/Berlin)";
        for format in ["atom", "rss"] {
            let feed = student.get(&format!("/direct/calendar/site/biology-101.{format}")).await;
            let feed = plain(feed.expect(StatusCode::OK).text());
            assert!(feed.contains(&format!("<p>{text}</p><p>Bring coats.</p>")), "{feed}");
            let tag = if format == "atom" { "<entry>" } else { "<item>" };
            let mut entries = feed.split(tag).skip(1);
            assert!(entries.all(|it| it.contains("<p>When: ") || it.contains("<p>For the first time: ")), "{feed}");
            let feed = student.get(&format!("/direct/assignment/site/biology-101.{format}")).await;
            let feed = plain(feed.expect(StatusCode::OK).text());
            let mut entries = feed.split(tag).skip(1).peekable();
            assert!(entries.peek().is_some());
            assert!(entries.all(|it| it.contains("<p>Due: ") && it.contains(" (UTC)</p>")), "{feed}");
        }
        let json = list(&student, "/direct/calendar/site/biology-101.json?_limit=500", "calendar").await;
        assert!(json.iter().all(|it| !text_of(it).contains("When: ")));
    }

    async fn an_event_recurs_across_the_change_of_the_clocks_and_one_occurrence_is_moved(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let mut weekly = talk();
        weekly["firstTime"] = json!("2027-03-22T09:00:00Z");
        weekly["recurrenceRule"] = json!("FREQ=WEEKLY;COUNT=3");
        weekly["timeZone"] = json!("Europe/Berlin");
        let id = created(&teacher.post("/direct/calendar.json", &weekly).await, "calendar");
        let spring = format!("{OF_BIOLOGY}?firstDate=2027-03-20&lastDate=2027-04-20");
        let shown = list(&teacher, &spring, "calendar").await;
        let times: Vec<_> = shown.iter().map(|it| text(&it["firstTime"], "display")).collect();
        assert_eq!(times, ["Mar 22, 2027, 9:00 AM", "Mar 29, 2027, 8:00 AM", "Apr 5, 2027, 8:00 AM"]);
        let path = |index: usize| format!("/direct/calendar/{}.json", text(&shown[index], "eventId"));
        teacher.put(&path(1), &json!({"title": "Late talk", "firstTime": "2027-03-30T08:00:00Z"})).await
            .expect(StatusCode::NO_CONTENT);
        teacher.delete(&path(2)).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(titles(&app.user("student1").await, &spring, "calendar").await, ["Talk", "Late talk"]);
        let ics = teacher.get("/direct/calendar/site/biology-101.ics").await;
        let text = ics.text().replace("\r\n ", "");
        assert!(text.contains("DTSTART;TZID=Europe/Berlin:20270322T100000\r\n"), "{text}");
        assert!(text.contains("EXDATE;TZID=Europe/Berlin:20270405T100000\r\n"), "{text}");
        assert!(text.contains("RECURRENCE-ID;TZID=Europe/Berlin:20270329T100000\r\n"), "{text}");
        teacher.delete(&format!("/direct/calendar/{id}")).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(titles(&teacher, &spring, "calendar").await, [""; 0]);
    }
}

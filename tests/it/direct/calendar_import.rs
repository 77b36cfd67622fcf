//! Calendars out of files, and events that are sent with their end.

use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use super::{list, read, text};

const IMPORT: &str = "/direct/calendar/import/biology-101.json";
const FILE: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y//EN\r\n\
    BEGIN:VTIMEZONE\r\nTZID:Europe/Berlin\r\nEND:VTIMEZONE\r\n\
    BEGIN:VEVENT\r\nUID:talk@example.org\r\nDTSTAMP:20261101T000000Z\r\nDTSTART;TZID=Europe/Berlin:20261201T100000\r\n\
    DTEND;TZID=Europe/Berlin:20261201T113000\r\nSUMMARY:A talk\\, with <b>tea</b>\r\n\
    DESCRIPTION:First line\\nSecond <script>alert(1)</script> & t\r\n hird\r\nLOCATION:Room 5\r\n\
    BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT10M\r\nDESCRIPTION:Soon\r\nEND:VALARM\r\nEND:VEVENT\r\n\
    BEGIN:VEVENT\r\nUID:course@example.org\r\nDTSTART:20261202T080000Z\r\nDURATION:PT1H\r\nSUMMARY:Course\r\n\
    RRULE:FREQ=DAILY;COUNT=4\r\nEXDATE:20261203T080000Z\r\nEND:VEVENT\r\n\
    BEGIN:VEVENT\r\nUID:day@example.org\r\nDTSTART;VALUE=DATE:20261210\r\nSUMMARY:All day\r\nEND:VEVENT\r\n\
    END:VCALENDAR\r\n";

async fn events(client: &Client) -> Vec<Value> {
    list(
        client,
        "/direct/calendar/site/biology-101.json?_limit=200",
        "calendar",
    )
    .await
}

both! {
    async fn a_file_is_imported_once(app: TestApp) {
        let instructor = app.user("instructor1").await;
        let before = events(&instructor).await.len();
        let preview = instructor.post(&format!("{IMPORT}?preview=true"), &json!({"ics": FILE})).await;
        let report = preview.expect(StatusCode::OK).json();
        assert_eq!((&report["preview"], &report["changed"]), (&json!(true), &json!(3)));
        assert_eq!((&report["faults"], &report["doubles"]), (&json!([]), &json!([])));
        let first = &report["changes"][0];
        assert_eq!((&first["uid"], &first["title"]), (&json!("talk@example.org"), &json!("A talk, with <b>tea</b>")));
        assert_eq!(events(&instructor).await.len(), before);
        let done = instructor.post(IMPORT, &json!({"ics": FILE})).await.expect(StatusCode::OK).json();
        assert_eq!((&done["preview"], &done["changed"]), (&json!(false), &json!(3)));
        let all = events(&instructor).await;
        assert_eq!(all.len(), before + 3);
        let talk = all.iter().find(|it| it["location"] == "Room 5").expect("the talk");
        assert_eq!(talk["firstTime"]["time"], 1_796_115_600_000_i64);
        assert_eq!((&talk["duration"], &talk["timeZone"]), (&json!(5_400_000), &json!("Europe/Berlin")));
        assert!(text(talk, "title").contains("A talk, with"));
        let description = text(talk, "description");
        assert!(description.contains("First line<br>") && description.contains("&amp; third"), "{description}");
        assert!(!description.contains("<script"), "{description}");
        let days = "/direct/calendar/site/biology-101.json?firstDate=2026-12-02&lastDate=2026-12-05";
        let course = list(&instructor, days, "calendar").await;
        assert_eq!(course.iter().filter(|it| it["title"] == "Course").count(), 3);
        let day = all.iter().find(|it| it["title"] == "All day").expect("the day");
        assert_eq!(day["duration"], 86_400_000);
        let again = instructor.post(IMPORT, &json!({"ics": FILE})).await.expect(StatusCode::OK).json();
        assert_eq!((&again["changed"], again["doubles"].as_array().map(Vec::len)), (&json!(0), Some(3)));
        let doubled = FILE.replace("END:VCALENDAR\r\n", "BEGIN:VEVENT\r\nUID:new\r\nDTSTART:20261210\r\nEND:VEVENT\r\n\
            BEGIN:VEVENT\r\nUID:new\r\nDTSTART:20261210\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n");
        let once = instructor.post(IMPORT, &json!({"ics": doubled})).await.expect(StatusCode::OK).json();
        assert_eq!((&once["changed"], once["doubles"].as_array().map(Vec::len)), (&json!(1), Some(4)));
        assert_eq!(events(&instructor).await.len(), before + 4);
        // The same file makes events of their own in another site.
        let other = app.user("instructor2").await;
        let other = other.post("/direct/calendar/import/history-210.json", &json!({"ics": FILE})).await;
        assert_eq!(other.expect(StatusCode::OK).json()["changed"], 3);
    }

    async fn a_file_with_a_fault_makes_nothing(app: TestApp) {
        let instructor = app.user("instructor1").await;
        let before = events(&instructor).await.len();
        let event = |lines: &str| format!("BEGIN:VEVENT\r\n{lines}\r\nEND:VEVENT\r\n");
        let wrong = [
            ("DTSTART:20261210", "UID"),
            ("UID:a", "DTSTART"),
            ("UID:b\r\nDTSTART:soon", "DTSTART"),
            ("UID:c\r\nDTSTART;TZID=Mars/Phobos:20261201T100000", "time zone"),
            ("UID:d\r\nDTSTART:20261210T100000Z\r\nDTEND:20261209T100000Z", "duration"),
            ("UID:e\r\nDTSTART:20261210\r\nRRULE:FREQ=SOMETIMES", "recurrenceRule"),
            ("UID:f\r\nDTSTART:20261210\r\nRECURRENCE-ID:20261210", "RECURRENCE-ID"),
            ("UID:g\r\nDTSTART:99991210", "firstTime"),
            ("UID:h\r\nDTSTART:20261210\r\nDURATION:long", "DURATION"),
        ];
        let events_of: String = wrong.iter().map(|it| event(it.0)).collect();
        let file = format!("BEGIN:VCALENDAR\r\n{}{events_of}END:VCALENDAR\r\n", event("UID:fine\r\nDTSTART:20261210"));
        let preview = instructor.post(IMPORT, &json!({"ics": file, "preview": true})).await;
        let report = preview.expect(StatusCode::OK).json();
        assert_eq!(report["changed"], 1);
        let faults = report["faults"].as_array().expect("a list");
        assert_eq!(faults.len(), wrong.len(), "{report}");
        for ((_, word), fault) in wrong.iter().zip(faults) { assert!(text(fault, "message").contains(word), "{fault}"); }
        assert_eq!(faults[0]["line"], 6);
        instructor.post(IMPORT, &json!({"ics": file})).await.expect(StatusCode::BAD_REQUEST);
        assert_eq!(events(&instructor).await.len(), before);
        for body in [json!({}), json!({"ics": ""}), json!({"ics": "BEGIN:X\r\n".repeat(20_000)}), json!({"ics": "x\u{0}"}),
            json!({"ics": "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n\u{0}"}), json!({"ics": 1})] {
            instructor.post(IMPORT, &body).await.expect(StatusCode::BAD_REQUEST);
        }
        app.user("student1").await.post(IMPORT, &json!({"ics": FILE})).await.expect(StatusCode::FORBIDDEN);
        app.anonymous().post(IMPORT, &json!({"ics": FILE})).await.expect(StatusCode::UNAUTHORIZED);
    }

    async fn an_event_with_an_end_and_no_length_takes_until_then(app: TestApp) {
        let instructor = app.user("instructor1").await;
        let draft = |end: Value, duration: Value| json!({
            "siteId": "biology-101", "title": "Talk", "firstTime": "2026-12-01T10:00:00Z", "lastTime": end, "duration": duration,
        });
        for (end, duration, expected) in [
            (json!("2026-12-01T11:30:00Z"), Value::Null, 5_400_000),
            (json!("2026-12-01T11:30:00Z"), json!(60_000), 60_000),
            (Value::Null, json!(60_000), 60_000),
            (Value::Null, Value::Null, 0),
        ] {
            let mut sent = draft(end, duration);
            sent.as_object_mut().expect("an object").retain(|_, it| !it.is_null());
            let made = instructor.post("/direct/calendar.json", &sent).await;
            let id = text(&made.expect(StatusCode::CREATED).json(), "eventId");
            let event = read(&instructor, &format!("/direct/calendar/{id}.json")).await;
            assert_eq!(event["duration"], expected, "{sent}");
            assert_eq!(event["lastTime"]["time"], 1_796_119_200_000_i64 + expected, "{sent}");
        }
        let early = draft(json!("2026-12-01T09:00:00Z"), json!(0));
        instructor.post("/direct/calendar.json", &early).await.expect(StatusCode::BAD_REQUEST);
    }
}

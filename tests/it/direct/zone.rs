//! Local times with a named zone: they are by the clock of that zone, in whatever way they are sent.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use tests::{Answer, Client, TestApp, above_storage};

use super::form::untouched;
use super::{FORM, JSON, XML, created, read, text};

const BERLIN: &str = "Europe/Berlin";
/// The times that are sent, their zones, and the instants that they are.
const TIMES: [(&str, &str, &str); 8] = [
    ("2027-03-29T09:00:00", BERLIN, "2027-03-29T07:00:00Z"),
    ("2027-03-27T09:00", BERLIN, "2027-03-27T08:00:00Z"),
    (
        "2027-03-29 09:00",
        "America/New_York",
        "2027-03-29T13:00:00Z",
    ),
    ("2027-03-29", "Asia/Kathmandu", "2027-03-28T18:15:00Z"),
    ("2027-03-28T02:30:00", BERLIN, "2027-03-28T01:30:00Z"),
    ("2027-10-31T02:30:00", BERLIN, "2027-10-31T00:30:00Z"),
    ("2027-03-29T09:00:00-03:00", BERLIN, "2027-03-29T12:00:00Z"),
    ("1800000000000", BERLIN, "2027-01-15T08:00:00Z"),
];

/// The encoding in which fields are sent.
#[derive(Clone, Copy, Debug)]
enum Way {
    Json,
    Xml,
    Form,
    Batch,
}

const WAYS: [Way; 4] = [Way::Json, Way::Xml, Way::Form, Way::Batch];

/// Sends `fields` with `method` to `path` below `/direct`, and returns the answer to that.
async fn send(
    client: &Client,
    way: Way,
    method: &str,
    path: &str,
    fields: &[(&str, &str)],
) -> Answer {
    let object: Value = fields.iter().map(|it| (it.0, it.1)).collect();
    let address = format!("/direct{path}");
    let elements = fields
        .iter()
        .map(|(name, value)| format!("<{name}>{value}</{name}>"));
    let (media_type, body) = match way {
        Way::Json => (JSON, object.to_string()),
        Way::Xml => (
            XML,
            format!("<calendar>{}</calendar>", elements.collect::<String>()),
        ),
        Way::Form => (FORM, entity_formats::write_pairs(fields.iter().copied())),
        Way::Batch => {
            let operation = json!({"method": method, "path": address, "body": object});
            let all = json!({"atomic": true, "operations": [operation]});
            return client.post("/direct/batch.json", &all).await;
        }
    };
    let method = Method::from_bytes(method.as_bytes()).expect("a method");
    client.send(method, &address, media_type, body.into()).await
}

/// The id of the event that was made.
fn made(answer: &Answer, way: Way) -> String {
    match way {
        Way::Batch => {
            let answer = answer.expect(StatusCode::OK).json();
            let found = answer.to_string();
            let (_, id) = found.split_once("\"entityId\":\"").expect("an id");
            id.split('"').next().unwrap_or_default().to_owned()
        }
        _ => created(answer, "calendar"),
    }
}

async fn start(client: &Client, id: &str) -> String {
    let event = read(client, &format!("/direct/calendar/{id}.json")).await;
    let millis = event["firstTime"]["time"].as_i64().expect("milliseconds");
    let instant = chrono::DateTime::from_timestamp_millis(millis).expect("an instant");
    entity_core::wire::iso(instant)
}

fn event<'a>(time: &'a str, zone: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("siteId", "biology-101"),
        ("title", "Talk"),
        ("firstTime", time),
        ("timeZone", zone),
    ]
}

above_storage! {
    async fn x20_a_local_time_is_by_the_clock_of_its_zone_however_it_is_sent(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for way in WAYS {
            for (time, zone, instant) in TIMES {
                let answer = send(&teacher, way, "POST", "/calendar", &event(time, zone)).await;
                let id = made(&answer, way);
                assert_eq!(start(&teacher, &id).await, instant, "{way:?} {time} {zone}");
            }
        }
    }

    async fn x20_a_change_is_by_the_zone_that_is_sent_or_that_the_event_has(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for way in WAYS {
            let answer = send(&teacher, way, "POST", "/calendar", &event("2027-01-29T09:00", BERLIN)).await;
            let id = made(&answer, way);
            let path = format!("/calendar/{id}");
            for (fields, instant) in [
                (vec![("firstTime", "2027-03-29T09:00:00")], "2027-03-29T07:00:00Z"),
                // A zone alone moves nothing.
                (vec![("timeZone", "America/New_York")], "2027-03-29T07:00:00Z"),
                (vec![("firstTime", "2027-03-29T09:00:00")], "2027-03-29T13:00:00Z"),
                (vec![("firstTime", "2027-03-29T09:00"), ("timeZone", "Asia/Tokyo")], "2027-03-29T00:00:00Z"),
                (vec![("firstTime", "2027-03-29T09:00"), ("timeZone", "UTC")], "2027-03-29T09:00:00Z"),
            ] {
                let answer = send(&teacher, way, "PUT", &path, &fields).await;
                assert!(answer.status.is_success(), "{way:?} {}", answer.text());
                assert_eq!(start(&teacher, &id).await, instant, "{way:?} {fields:?}");
            }
        }
        let answer = teacher.post("/direct/calendar.json", &event("2027-01-29T09:00", BERLIN).into_iter().collect()).await;
        let path = format!("/direct/calendar/{}", created(&answer, "calendar"));
        for (media_type, patch, instant) in [
            ("application/merge-patch+json", json!({"firstTime": "2027-03-29T09:00"}), "2027-03-29T07:00:00Z"),
            (
                "application/json-patch+json",
                json!([{"op": "replace", "path": "/firstTime", "value": "2027-03-29T10:00"}]),
                "2027-03-29T08:00:00Z",
            ),
        ] {
            let answer = teacher.send(Method::PATCH, &path, media_type, patch.to_string().into()).await;
            assert!(answer.status.is_success(), "{}", answer.text());
            let id = path.rsplit('/').next().unwrap_or_default();
            assert_eq!(start(&teacher, id).await, instant, "{media_type}");
        }
    }

    async fn x20_a_zone_that_there_is_not_is_refused_by_name(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let id = created(&teacher.post("/direct/calendar.json", &event("2027-01-29T09:00", BERLIN).into_iter().collect()).await, "calendar");
        for way in WAYS {
            for zone in ["Mars/Phobos", "+01:00", "Berlin", "europe/berlin"] {
                let new = send(&teacher, way, "POST", "/calendar", &event("2027-03-29T09:00", zone)).await;
                let path = format!("/calendar/{id}");
                let change = send(&teacher, way, "PUT", &path, &[("timeZone", zone)]).await;
                for answer in [new, change] {
                    answer.expect(StatusCode::BAD_REQUEST);
                    assert!(answer.text().contains("timeZone"), "{way:?} {zone} {}", answer.text());
                    assert!(answer.text().contains("must be a time zone"), "{way:?} {zone} {}", answer.text());
                }
            }
        }
    }

    async fn x20_a_form_shows_and_takes_the_time_of_the_zone(app: TestApp) {
        let teacher = app.user("instructor1").await.with_header(http::header::ACCEPT, "text/html");
        let new = teacher.get("/direct/calendar/new.html").await;
        assert!(new.text().contains("In the zone that \u{201c}Time zone\u{201d} names."), "{}", new.text());
        // The second of the two.
        let fields = json!({"siteId": "biology-101", "title": "Talk", "firstTime": "2027-10-31T02:30:00+01:00", "timeZone": BERLIN});
        let answer = teacher.send(Method::POST, "/direct/calendar.json", JSON, fields.to_string().into()).await;
        let id = created(&answer, "calendar");
        let path = format!("/direct/calendar/{id}");
        let page = teacher.get(&format!("{path}.html")).await;
        assert!(page.text().contains("31 Oct 2027, 02:30 Europe/Berlin"), "{}", page.text());
        let form = teacher.get(&format!("{path}/edit.html")).await;
        assert!(form.text().contains(r#"value="2027-10-31T02:30:00""#), "{}", form.text());
        let before = read(&teacher, &format!("{path}.json")).await;
        let send = async |name: &str, value: &str| {
            let form = teacher.get(&format!("{path}/edit.html")).await;
            let mut pairs = untouched(&form);
            for pair in pairs.iter_mut().filter(|it| it.0 == name) {
                value.clone_into(&mut pair.1);
            }
            let body = entity_formats::write_pairs(pairs.iter().map(|it| (it.0.as_str(), it.1.as_str())));
            teacher.post_form(&path, &body).await
        };
        send("", "").await.expect(StatusCode::SEE_OTHER);
        assert_eq!(read(&teacher, &format!("{path}.json")).await, before);
        send("location", "Room 5").await.expect(StatusCode::SEE_OTHER);
        assert_eq!(start(&teacher, &id).await, "2027-10-31T01:30:00Z");
        send("firstTime", "2027-03-29T09:00").await.expect(StatusCode::SEE_OTHER);
        assert_eq!(start(&teacher, &id).await, "2027-03-29T07:00:00Z");
        send("timeZone", "America/New_York").await.expect(StatusCode::SEE_OTHER);
        assert_eq!(start(&teacher, &id).await, "2027-03-29T13:00:00Z");
        // What is refused comes back as it was typed.
        let refused = send("timeZone", "Mars/Phobos").await;
        refused.expect(StatusCode::BAD_REQUEST);
        assert!(refused.text().contains(r#"value="2027-03-29T09:00:00""#), "{}", refused.text());
        assert_eq!(text(&read(&teacher, &format!("{path}.json")).await, "timeZone"), "America/New_York");
    }
}

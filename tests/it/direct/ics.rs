//! Events that recur, as calendar programs read them: in every time zone, over the nights on which the clocks change.

use chrono::{DateTime, NaiveDateTime, SecondsFormat, TimeDelta, TimeZone as _, Utc};
use entity_core::recurrence::{self, Tz};
use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, above_storage};

use super::{created, list, read, text};
use crate::python::{Needs, run};

const ICS: &str = "/direct/calendar/site/biology-101.ics";
const ZONES: [&str; 10] = [
    "Europe/Berlin",
    "Europe/Dublin",
    "Africa/Casablanca",
    "Asia/Jerusalem",
    "America/New_York",
    "America/Santiago",
    "America/St_Johns",
    "Australia/Lord_Howe",
    "Australia/Sydney",
    "Pacific/Chatham",
];

/// Expands a calendar with another program: each occurrence in 2027, and the offsets of the clocks of each zone.
const EXPAND: &str = r#"
import datetime, icalendar, json, recurring_ical_events, sys
utc = datetime.timezone.utc
calendar = icalendar.Calendar.from_ical(sys.stdin.buffer.read())
assert not calendar.errors, calendar.errors
found = []
for event in recurring_ical_events.of(calendar).between((2027, 1, 1), (2028, 1, 1)):
    summary = str(event["SUMMARY"])
    if summary.startswith("Zqx"):
        times = [event[name].dt.astimezone(utc).strftime("%Y-%m-%dT%H:%M:%SZ") for name in ("DTSTART", "DTEND")]
        found.append([summary, *times])
zones = {}
for part in calendar.walk("VTIMEZONE"):
    zone = part.to_tz(lookup_tzid=False)
    begin = datetime.datetime(2027, 1, 1, 0, 30, tzinfo=utc)
    hours = [begin + datetime.timedelta(hours=it) for it in range(24 * 365)]
    zones[str(part["TZID"])] = [int(it.astimezone(zone).utcoffset().total_seconds()) for it in hours]
used = sorted({str(it.params["TZID"]) for event in calendar.walk("VEVENT")
    for value in event.values() for it in (value if isinstance(value, list) else [value])
    if hasattr(it, "params") and "TZID" in it.params})
json.dump({"found": sorted(found), "zones": zones, "used": used}, sys.stdout)
"#;

fn iso(instant: DateTime<Utc>) -> String {
    instant.to_rfc3339_opts(SecondsFormat::Secs, true)
}

fn local(zone: Tz, instant: DateTime<Utc>) -> NaiveDateTime {
    instant.with_timezone(&zone).naive_local()
}

fn hours() -> impl Iterator<Item = DateTime<Utc>> {
    let begin = Utc.with_ymd_and_hms(2027, 1, 1, 0, 30, 0).unwrap();
    (0..24 * 365).map(move |it| begin + TimeDelta::hours(it))
}

fn offset(zone: Tz, instant: DateTime<Utc>) -> i64 {
    (local(zone, instant) - instant.naive_utc()).num_seconds()
}

/// The instants, to half an hour, after which the clocks of the zone are changed.
fn changes(zone: Tz) -> Vec<DateTime<Utc>> {
    let halves = hours().flat_map(|it| [it, it + TimeDelta::minutes(30)]);
    let half = TimeDelta::minutes(30);
    let changes = halves.filter(|it| offset(zone, *it - half) != offset(zone, *it));
    changes.collect()
}

async fn add(
    teacher: &Client,
    title: &str,
    start: DateTime<Utc>,
    zone: &str,
    minutes: i64,
    rule: &str,
) -> String {
    let event = json!({
        "siteId": "biology-101", "title": format!("Zqx {title}"), "firstTime": iso(start), "timeZone": zone,
        "duration": minutes * 60_000, "recurrenceRule": rule,
    });
    created(
        &teacher.post("/direct/calendar.json", &event).await,
        "calendar",
    )
}

/// Each occurrence in 2027 as JSON tells it.
async fn told(client: &Client) -> Vec<Value> {
    told_in(client, "biology-101").await
}

async fn told_in(client: &Client, site: &str) -> Vec<Value> {
    let mut all = Vec::new();
    for month in 1..=12 {
        let days = format!("firstDate=2027-{month:02}-01&lastDate=2027-{month:02}-31&_limit=1000");
        let path = format!("/direct/calendar/site/{site}.json?{days}");
        all.extend(list(client, &path, "calendar").await);
    }
    let time = |event: &Value, name: &str| {
        let millis = event[name]["time"].as_i64().expect("milliseconds");
        iso(DateTime::from_timestamp_millis(millis).expect("an instant"))
    };
    let ours = all.iter().filter(|it| text(it, "title").starts_with("Zqx"));
    let ours = ours.map(|it| {
        [
            text(it, "title"),
            time(it, "firstTime"),
            time(it, "lastTime"),
        ]
    });
    let mut ours: Vec<[String; 3]> = ours.collect();
    ours.sort();
    // What goes on over the end of a month is told twice.
    ours.dedup();
    ours.iter().map(|it| json!(it)).collect()
}

async fn calendar(client: &Client, path: &str) -> String {
    let answer = client.get(path).await;
    answer.expect(StatusCode::OK);
    answer.text().replace("\r\n ", "")
}

/// Reads the calendar with another program, if there is one, and compares what it finds with what JSON tells.
async fn compare(client: &Client) {
    let expected = told(client).await;
    assert!(!expected.is_empty());
    let text = client.get(ICS).await;
    let Some(found) = run(EXPAND, text.text().as_bytes(), Needs::Packages) else {
        return;
    };
    let found: Value = serde_json::from_slice(&found).expect("JSON");
    let found_events = found["found"].as_array().expect("a list");
    let missing: Vec<_> = expected
        .iter()
        .filter(|it| !found_events.contains(it))
        .collect();
    let others: Vec<_> = found_events
        .iter()
        .filter(|it| !expected.contains(it))
        .collect();
    assert!(
        missing.is_empty() && others.is_empty(),
        "told: {missing:#?}, read: {others:#?}"
    );
    assert_eq!(found_events.len(), expected.len());
    let zones = found["zones"].as_object().expect("zones");
    let names: Vec<&String> = zones.keys().collect();
    for used in found["used"].as_array().expect("a list") {
        assert!(names.iter().any(|it| *it == used), "{used} is not defined");
    }
    for (name, offsets) in zones {
        let zone = recurrence::zone(name).expect("a zone");
        let expected: Vec<i64> = hours().map(|it| offset(zone, it)).collect();
        assert_eq!(offsets, &json!(expected), "{name}");
    }
}

above_storage! {
    async fn x14_another_program_reads_every_occurrence_over_both_nights(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for name in ZONES {
            let zone = recurrence::zone(name).expect("a zone");
            for change in changes(zone) {
                for (minutes, length) in [(-90, 60), (-30, 180), (0, 30), (30, 60), (90, 45)] {
                    let at = change + TimeDelta::minutes(minutes);
                    let before = recurrence::place(local(zone, at) - TimeDelta::days(2), zone).expect("an instant");
                    add(&teacher, &format!("{name} {change} {minutes}"), before, name, length, "FREQ=DAILY;COUNT=5").await;
                    add(&teacher, &format!("{name} {change} {minutes} now"), at, name, length, "FREQ=DAILY;COUNT=3").await;
                }
            }
        }
        compare(&teacher).await;
    }

    async fn x17_a_moved_occurrence_has_the_name_of_its_series(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let first = recurrence::place("2027-03-26T02:30:00".parse().expect("a time"), Tz::Europe__Berlin);
        let id = add(&teacher, "Lab", first.expect("an instant"), "Europe/Berlin", 60, "FREQ=DAILY;COUNT=5").await;
        let of_day = async |day: &str| {
            let path = format!("/direct/calendar/site/biology-101.json?firstDate={day}&lastDate={day}");
            let events = list(&teacher, &path, "calendar").await;
            let lab = events.iter().find(|it| it["title"] == "Zqx Lab").expect("the lab");
            text(lab, "eventId")
        };
        // The second is in the hour that the clocks skip.
        for (day, change) in [
            ("2027-03-27", json!({"firstTime": "2027-03-27T12:00:00Z"})),
            ("2027-03-28", json!({"firstTime": "2027-03-28T12:00:00Z", "timeZone": "America/New_York"})),
        ] {
            let path = format!("/direct/calendar/{}", of_day(day).await);
            teacher.put(&path, &change).await.expect(StatusCode::NO_CONTENT);
        }
        let deleted = of_day("2027-03-29").await;
        teacher.delete(&format!("/direct/calendar/{deleted}")).await.expect(StatusCode::NO_CONTENT);
        let text = calendar(&teacher, ICS).await;
        let events: Vec<&str> = text.split("BEGIN:VEVENT").filter(|it| it.contains("SUMMARY:Zqx Lab")).collect();
        assert_eq!(events.len(), 3);
        let value = |event: &str, name: &str| {
            let line = event.lines().find(|it| it.starts_with(name));
            line.map(ToOwned::to_owned)
        };
        let uids: Vec<_> = events.iter().map(|it| value(it, "UID:")).collect();
        assert!(uids.iter().all(|it| it.is_some() && *it == uids[0]), "{uids:?}");
        let mut replaced: Vec<_> = events.iter().filter_map(|it| value(it, "RECURRENCE-ID")).collect();
        replaced.sort();
        assert_eq!(replaced, [
            "RECURRENCE-ID;TZID=Europe/Berlin:20270327T023000",
            "RECURRENCE-ID;TZID=Europe/Berlin:20270328T023000",
        ]);
        let excluded: Vec<_> = events.iter().filter_map(|it| value(it, "EXDATE")).collect();
        assert_eq!(excluded, ["EXDATE;TZID=Europe/Berlin:20270329T023000"]);
        compare(&teacher).await;
        // Alone, the series does not take place when the occurrence does that is not told.
        let alone = calendar(&teacher, &format!("/direct/calendar/{id}.ics")).await;
        assert_eq!(alone.matches("EXDATE").count(), 3);
    }

    async fn x17_a_calendar_defines_its_zones_and_has_the_title_of_its_site(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let start = Utc.with_ymd_and_hms(2027, 2, 1, 9, 0, 0).unwrap();
        for zone in ["Europe/Berlin", "America/New_York", "Asia/Tokyo", "UTC"] {
            add(&teacher, zone, start, zone, 60, "FREQ=WEEKLY").await;
        }
        let site = text(&read(&teacher, "/direct/site/biology-101.json").await, "title");
        let made = teacher.post("/direct/feed", &json!({"path": "/calendar/site/biology-101", "formats": ["ics"]})).await;
        made.expect(StatusCode::CREATED);
        let address = made.json()["addresses"]["ics"].as_str().expect("an address").to_owned();
        let feed = address.strip_prefix("http://127.0.0.1:8080").expect("our own").to_owned();
        for path in [ICS, feed.as_str()] {
            let text = calendar(&teacher, path).await;
            assert!(text.contains(&format!("X-WR-CALNAME:{site}\r\n")), "{text}");
            for zone in ["Europe/Berlin", "America/New_York", "Asia/Tokyo"] {
                let defined = format!("BEGIN:VTIMEZONE\r\nTZID:{zone}\r\n");
                assert_eq!(text.matches(&defined).count(), 1, "{zone}");
                assert!(text.contains(&format!("DTSTART;TZID={zone}:")), "{zone}");
            }
            assert!(!text.contains("TZID:UTC") && !text.contains("TZID=UTC"));
            let (zones, events) = text.split_once("BEGIN:VEVENT").expect("an event");
            assert!(zones.contains("VTIMEZONE") && !events.contains("VTIMEZONE"));
        }
        let all = calendar(&teacher, "/direct/calendar/my.ics").await;
        assert!(!all.contains(&format!("X-WR-CALNAME:{site}\r\n")));
        compare(&teacher).await;
    }

    async fn x17_what_was_exported_can_be_imported(app: TestApp) {
        let (teacher, other) = (app.user("instructor1").await, app.user("instructor2").await);
        let first = recurrence::place("2027-03-26T01:30:00".parse().expect("a time"), Tz::Europe__Berlin);
        add(&teacher, "Night", first.expect("an instant"), "Europe/Berlin", 60, "FREQ=DAILY;COUNT=5").await;
        let day = "firstDate=2027-03-27&lastDate=2027-03-27";
        let events = list(&teacher, &format!("/direct/calendar/site/biology-101.json?{day}"), "calendar").await;
        let night = events.iter().find(|it| it["title"] == "Zqx Night").expect("the night");
        let path = format!("/direct/calendar/{}", text(night, "eventId"));
        let change = json!({"firstTime": "2027-03-27T12:00:00Z"});
        teacher.put(&path, &change).await.expect(StatusCode::NO_CONTENT);
        let expected = told(&teacher).await;
        let file = teacher.get(ICS).await.text().to_owned();
        let path = "/direct/calendar/import/history-210.json";
        let done = other.post(path, &json!({"ics": file})).await;
        assert_eq!(done.expect(StatusCode::OK).json()["faults"], json!([]));
        let times = |events: &[Value]| events.iter().map(|it| [it[1].clone(), it[2].clone()]).collect::<Vec<_>>();
        let there = told_in(&other, "history-210").await;
        assert_eq!(times(&there), times(&expected));
        let again = other.post(path, &json!({"ics": file})).await;
        assert_eq!(again.expect(StatusCode::OK).json()["changed"], 0);
    }
}

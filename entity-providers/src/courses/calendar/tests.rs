//! Events, asked through the whole pipeline of a service with the demo university in it.

use chrono::TimeDelta;
use entity_core::endpoint::Call;
use entity_core::recurrence::Range;
use entity_core::{Caller, DateTimeUtc, ErrorKind, Search, Verb};
use sea_orm::ConnectionTrait as _;
use serde_json::{Value, json};

use super::{CalendarEvent, Deadline, follow_cause, view};
use crate::base::university::{BIOLOGY, LAB_A, LAB_B};
use crate::testbed::Testbed;

const MONTH: &str = "?firstDate=2026-11-21&lastDate=2026-12-21";
const LECTURE: &str = "Lecture: Cells and Life";
const GUESTS: &str = "Lecture: Cells and Life, with guests";

fn at(text: &str) -> DateTimeUtc {
    text.parse().unwrap()
}

pub(super) async fn make(bed: &Testbed, fields: Value) -> Value {
    let mut all = json!({"siteId": BIOLOGY, "title": "Daily", "firstTime": "2026-11-25T10:00:00Z",
        "duration": 3_600_000, "recurrenceRule": "FREQ=DAILY;COUNT=4", "timeZone": "Europe/Berlin"});
    all.as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    bed.send("instructor1", Verb::Post, "calendar", &all)
        .await
        .unwrap()
}

async fn kind(bed: &Testbed, verb: Verb, path: &str, body: &Value) -> ErrorKind {
    bed.send("instructor1", verb, path, body)
        .await
        .unwrap_err()
        .kind()
}

/// The ids of the events with `title` in the list at `path`, as `eid` sees it.
async fn found(bed: &Testbed, eid: &str, path: &str, title: &str) -> Vec<String> {
    let list = bed.get(eid, path).await.unwrap();
    let items = list
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["title"] == title);
    items
        .map(|it| it["eventId"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_range_shows_occurrences_and_all_other_lists_show_the_event_once() {
    let bed = Testbed::demo().await;
    let site = format!("calendar/site/{BIOLOGY}");
    let once = found(&bed, "student1", &site, LECTURE).await;
    assert_eq!(once.len(), 1);
    let often = found(&bed, "student1", &format!("{site}{MONTH}"), LECTURE).await;
    assert!(
        often.len() >= 2 && often.iter().all(|it| it.starts_with(&once[0])),
        "{often:?}"
    );
    for id in &often {
        let shown = bed
            .get("student1", &format!("calendar/event/{BIOLOGY}/{id}"))
            .await
            .unwrap();
        assert_eq!(
            (&shown["eventId"], &shown["recurrenceRule"]),
            (&json!(id), &json!("FREQ=WEEKLY;COUNT=15"))
        );
        assert_eq!(
            shown,
            bed.get("student1", &format!("calendar/{id}"))
                .await
                .unwrap()
        );
    }
    let second = format!("{site}?firstDate=2026-11-21&lastDate=2026-12-21&_start=1&_limit=1");
    let second = bed.get("student1", &second).await.unwrap();
    let all = bed
        .get("student1", &format!("{site}{MONTH}"))
        .await
        .unwrap();
    assert_eq!(second[0], all[1]);
    for wrong in [
        "_order=title",
        "_cursor=",
        "firstDate=2026-11-2",
        "firstDate=2026-11-210",
        "lastDate=2026/11/21",
        "lastDate=",
    ] {
        let path = format!("{site}?lastDate=2026-12-21&{wrong}");
        let path = if wrong.starts_with("lastDate") {
            format!("{site}?{wrong}")
        } else {
            path
        };
        let error = bed.get("student1", &path).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadRequest, "{wrong}");
    }
}

#[tokio::test]
async fn one_occurrence_changes_and_another_one_goes() {
    let bed = Testbed::demo().await;
    let series = make(&bed, json!({})).await;
    let path = format!("calendar/{}", series["eventId"].as_str().unwrap());
    let list = format!("calendar/site/{BIOLOGY}{MONTH}");
    let ids = found(&bed, "student1", &list, "Daily").await;
    assert_eq!(ids.len(), 4);
    let shown = bed
        .get("instructor1", &format!("calendar/{}", ids[1]))
        .await
        .unwrap();
    let mut changed = shown.clone();
    changed["title"] = json!("Moved");
    changed["firstTime"] = json!("2026-11-26T12:00:00Z");
    let changed = bed
        .send(
            "instructor1",
            Verb::Put,
            &format!("calendar/{}", ids[1]),
            &changed,
        )
        .await
        .unwrap();
    assert_eq!(
        (&changed["title"], &changed["eventId"]),
        (&json!("Moved"), &json!(ids[1]))
    );
    bed.send(
        "instructor1",
        Verb::Delete,
        &format!("calendar/{}", ids[2]),
        &Value::Null,
    )
    .await
    .unwrap();
    assert_eq!(
        found(&bed, "student1", &list, "Daily").await,
        [ids[0].clone(), ids[3].clone()]
    );
    assert_eq!(
        found(&bed, "student1", &list, "Moved").await,
        [ids[1].clone()]
    );
    let gone = bed
        .get("student1", &format!("calendar/{}", ids[2]))
        .await
        .unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::NotFound);
    // What is only for a group is so in each of its occurrences.
    let groups = json!({"groups": [bed.group(LAB_B)]});
    bed.send("instructor1", Verb::Put, &path, &groups)
        .await
        .unwrap();
    assert!(found(&bed, "student1", &list, "Moved").await.is_empty());
    assert_eq!(found(&bed, "student11", &list, "Moved").await.len(), 1);
    // Other times are other occurrences.
    let later = json!({"firstTime": "2026-11-25T11:00:00Z"});
    bed.send("instructor1", Verb::Put, &path, &later)
        .await
        .unwrap();
    assert_eq!(found(&bed, "student11", &list, "Daily").await.len(), 4);
    assert!(found(&bed, "student11", &list, "Moved").await.is_empty());
    bed.send("instructor1", Verb::Delete, &path, &Value::Null)
        .await
        .unwrap();
    assert!(found(&bed, "instructor1", &list, "Daily").await.is_empty());
    let missing = found(&bed, "instructor1", &list, GUESTS).await;
    assert_eq!(missing.len(), 1, "other series stay as they are");
}

#[tokio::test]
async fn wrong_events_are_refused_by_name() {
    let bed = Testbed::demo().await;
    for (name, value) in [
        ("firstTime", json!("9999-01-01T00:00:00Z")),
        ("firstTime", json!(-9_000_000_000_000_i64)),
        ("duration", json!(-1)),
        ("duration", json!(i64::MAX)),
        ("timeZone", json!("Mars/Base")),
        ("recurrenceRule", json!("FREQ=SECONDLY")),
        (
            "recurrenceRule",
            json!("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30"),
        ),
        ("type", json!("Party")),
        ("groups", json!(["nowhere"])),
    ] {
        let mut fields =
            json!({"siteId": BIOLOGY, "title": "x", "firstTime": "2026-11-25T10:00:00Z"});
        fields[name] = value.clone();
        let error = bed
            .send("instructor1", Verb::Post, "calendar", &fields)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadRequest, "{name}: {value}");
        assert!(
            error.field_errors().iter().any(|it| it.name == name),
            "{name}: {error:?}"
        );
    }
    let made = make(&bed, json!({})).await;
    let id = made["eventId"].as_str().unwrap();
    let first = format!(
        "calendar/{id}_{}",
        at("2026-11-25T10:00:00Z").timestamp_millis()
    );
    let rule = json!({"recurrenceRule": "FREQ=WEEKLY"});
    assert_eq!(
        kind(&bed, Verb::Put, &first, &rule).await,
        ErrorKind::BadRequest
    );
    for id in [
        format!("{id}_1"),
        format!("{id}_"),
        format!("{id}_x"),
        format!("{id}_-9999999999999999999"),
        format!("{id}_+1764064800000"),
        "_".to_owned(),
    ] {
        let error = bed
            .get("instructor1", &format!("calendar/{id}"))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{id}");
    }
}

#[tokio::test]
async fn nobody_makes_events_for_others() {
    let bed = Testbed::demo().await;
    let fields = json!({"siteId": BIOLOGY, "title": "x", "firstTime": "2026-11-25T10:00:00Z",
        "creator": bed.id("student1"), "assignmentId": "7"});
    let made = bed
        .send("instructor1", Verb::Post, "calendar", &fields)
        .await
        .unwrap();
    assert_eq!(
        (&made["creator"], &made["assignmentId"]),
        (&json!(bed.id("instructor1")), &Value::Null)
    );
}

#[tokio::test]
async fn an_event_follows_its_cause() {
    let bed = Testbed::demo().await;
    let group = bed.group(LAB_A).to_owned();
    let creator = bed.id("instructor1").to_owned();
    let deadline = move |title: &str, groups: &[String]| Deadline {
        site_id: BIOLOGY.to_owned(),
        title: title.to_owned(),
        description: String::new(),
        at: at("2026-12-01T22:00:00Z"),
        field: "dueTime",
        creator: creator.clone(),
        groups: groups.to_vec(),
        assignment_id: Some("7".to_owned()),
    };
    let follow = async |wanted: Option<Deadline>| {
        let author: Caller = bed.caller("instructor1");
        let done = bed.write(author, move |cx| {
            let wanted = wanted.clone();
            Box::pin(async move { follow_cause(cx, "/essay/7", wanted).await })
        });
        done.await.unwrap()
    };
    let id = follow(Some(deadline("Essay", &[]))).await.unwrap();
    let path = format!("calendar/{id}");
    let shown = bed.get("student11", &path).await.unwrap();
    assert_eq!(
        (&shown["type"], &shown["assignmentId"]),
        (&json!("Deadline"), &json!("7"))
    );
    assert_eq!(
        follow(Some(deadline("Essay", &[]))).await.as_deref(),
        Some(&*id)
    );
    let unchanged = bed.get("student11", &path).await.unwrap();
    assert_eq!(unchanged, shown);
    assert_eq!(
        follow(Some(deadline("Longer essay", &[group])))
            .await
            .as_deref(),
        Some(&*id)
    );
    let changed = bed.get("student1", &path).await.unwrap();
    assert_eq!(changed["title"], "Longer essay");
    assert_eq!(
        bed.get("student11", &path).await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
    assert_eq!(
        kind(&bed, Verb::Put, &path, &json!({"title": "x"})).await,
        ErrorKind::Conflict
    );
    assert_eq!(
        kind(&bed, Verb::Delete, &path, &Value::Null).await,
        ErrorKind::Conflict
    );
    assert_eq!(follow(None).await, None);
    assert_eq!(
        bed.get("instructor1", &path).await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
    assert_eq!(follow(None).await, None);
}

#[tokio::test]
async fn many_long_series_cost_no_more_than_what_is_shown() {
    let bed = Testbed::demo().await;
    for number in 0..60 {
        let fields = json!({"title": format!("Daily {number}"), "recurrenceRule": "FREQ=DAILY",
            "firstTime": "1970-01-05T10:00:00Z", "timeZone": "Europe/Berlin"});
        make(&bed, fields).await;
    }
    let begun = std::time::Instant::now();
    let path =
        format!("calendar/site/{BIOLOGY}?firstDate=2026-01-01&lastDate=9999-12-31&_limit=50");
    let list = bed.get("student1", &path).await.unwrap();
    assert_eq!(list.as_array().unwrap().len(), 50);
    let path = format!("calendar/site/{BIOLOGY}?firstDate=2026-01-01&_start=10001");
    let error = bed.get("student1", &path).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadRequest);
    assert!(
        begun.elapsed() < std::time::Duration::from_mins(1),
        "{:?}",
        begun.elapsed()
    );
}

#[tokio::test]
async fn x48_rules_that_seldom_match_take_few_steps_of_a_request() {
    let bed = Testbed::demo().await;
    let bomb = json!({"recurrenceRule": "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29",
        "firstTime": "2028-02-29T10:00:00Z", "timeZone": "UTC"});
    let body = json!({"siteId": BIOLOGY, "title": "Bomb", "duration": 0, "recurrenceRule": bomb["recurrenceRule"],
        "firstTime": bomb["firstTime"], "timeZone": "UTC"});
    assert_eq!(
        kind(&bed, Verb::Post, "calendar", &body).await,
        ErrorKind::BadRequest
    );
    // What was stored before such rules were refused is read, and bounded.
    for number in 0..100 {
        let fields = json!({"title": format!("Bomb {number}"), "recurrenceRule": "FREQ=DAILY",
            "firstTime": "2028-02-29T10:00:00Z", "timeZone": "UTC"});
        make(&bed, fields).await;
    }
    let stored = "UPDATE calendar_event SET recurrence_rule = 'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29' \
        WHERE recurrence_rule = 'FREQ=DAILY'";
    bed.db.writer.execute_unprepared(stored).await.unwrap();
    let reads = |days: (&'static str, &'static str)| {
        let bed = &bed;
        async move {
            let cx = bed.reader("student1").await;
            let range = Range::of_days(Some(("firstDate", days.0)), Some(("lastDate", days.1)));
            let mut search = Search::all();
            search.limit = 1000;
            search.narrow_to_site::<CalendarEvent>(BIOLOGY).unwrap();
            let page = super::range::list(&cx, search, range.unwrap().unwrap()).await;
            (
                page.map(|it| it.items.len()),
                cx.origin().read_budget.steps(),
            )
        }
    };
    let (far, steps) = reads(("2028-01-01", "2199-01-01")).await;
    assert_eq!(far.unwrap_err().kind(), ErrorKind::BadRequest);
    assert!((20_000..25_000).contains(&steps), "{steps}");
    let (before, steps) = reads(("2026-11-01", "2026-12-01")).await;
    assert!(before.unwrap() > 0);
    assert!(steps < 100, "{steps}");
    let path = format!("calendar/site/{BIOLOGY}?firstDate=2028-01-01&lastDate=2199-01-01");
    let error = bed.get("student1", &path).await.unwrap_err();
    assert!(error.to_string().contains("name fewer days"), "{error}");
}

#[tokio::test]
async fn a_dashboard_shows_the_occurrences_around_now() {
    let bed = Testbed::demo().await;
    let cx = bed.reader("student1").await;
    let agenda = view::mine(&cx, Call::default()).await.unwrap().data;
    assert_eq!(agenda.sites.len(), 2);
    let lectures = agenda.events.iter().filter(|it| it.title == LECTURE);
    assert_eq!(lectures.count(), 13);
    assert!(agenda.events.is_sorted_by_key(|it| it.start_time.clone()));
}

#[test]
fn an_icon_follows_from_the_category() {
    for (kind, icon) in [
        (
            "Class section - Small Group",
            "icon-calendar-class-section-small-group",
        ),
        ("Deadline", "icon-calendar-deadline"),
    ] {
        let cx = entity_core::testing::context(
            entity_core::testing::ToldAuthorizer::default(),
            Caller::anonymous(),
        );
        let event = CalendarEvent {
            kind: kind.to_owned(),
            ..CalendarEvent::blank(&cx)
        };
        assert_eq!(event.icon(&cx), icon);
        assert_eq!(event.end() - event.start(), TimeDelta::zero());
    }
}

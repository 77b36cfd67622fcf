//! Looks ahead, compared with lists of the same days.

use chrono::TimeDelta;
use entity_core::recurrence::Range;
use entity_core::{Search, Verb};
use serde_json::{Value, json};

use super::super::CalendarEvent;
use super::super::tests::make;
use super::{list, next};
use crate::base::university::BIOLOGY;
use crate::testbed::Testbed;

#[tokio::test]
async fn a_look_ahead_shows_what_the_list_of_its_days_begins_with() {
    async fn compare(bed: &Testbed) {
        let period = TimeDelta::days(366);
        for limit in [1, 2, 3, 5, 8, 13, 40, 1000] {
            let cx = bed.reader("student1").await;
            let range = Range {
                from: cx.now(),
                to: cx.now() + period,
            };
            let sites = vec![BIOLOGY.to_owned()];
            let mut search = Search::all();
            search.limit = limit;
            search
                .narrow_to_sites::<CalendarEvent>(sites.clone())
                .unwrap();
            let listed = list(&cx, search, range).await.unwrap();
            let next = next(&cx, sites, period, limit).await.unwrap();
            assert_eq!(next.items, listed.items, "{limit}");
            assert_eq!(next.has_more, listed.has_more, "{limit}");
        }
    }
    let bed = Testbed::demo().await;
    let now = bed.reader("student1").await.now();
    // The first ones that begin have lost their first occurrences.
    for number in 0..4 {
        let first = now + TimeDelta::minutes(10 + number);
        let fields = json!({"title": format!("Later {number}"), "firstTime": first.to_rfc3339()});
        let id = make(&bed, fields).await["eventId"].clone();
        let only = format!(
            "calendar/{}_{}",
            id.as_str().unwrap(),
            first.timestamp_millis()
        );
        bed.send("instructor1", Verb::Delete, &only, &Value::Null)
            .await
            .unwrap();
    }
    compare(&bed).await;
    for number in 0..30 {
        let first = now + TimeDelta::hours(5 * number);
        make(
            &bed,
            json!({"firstTime": first.to_rfc3339(), "recurrenceRule": null}),
        )
        .await;
    }
    for number in 1..9 {
        let first = now - TimeDelta::days(number);
        make(
            &bed,
            json!({"firstTime": first.to_rfc3339(), "recurrenceRule": "FREQ=DAILY;COUNT=20"}),
        )
        .await;
    }
    compare(&bed).await;
}

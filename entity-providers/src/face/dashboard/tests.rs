//! The dashboard against the lists that it is made of.

use entity_core::endpoint::Call;
use entity_core::{ErrorKind, db};
use sea_orm::ConnectionTrait as _;
use serde_json::{Value, json};

use super::of_user;
use crate::base::university::BIOLOGY;
use crate::courses::calendar::CalendarEvent;
use crate::testbed::{Testbed, texts};

async fn dashboard(bed: &Testbed, eid: &str) -> Value {
    let cx = bed.reader(eid).await;
    json!(of_user(&cx, call("me")).await.unwrap())
}

fn call(user: &str) -> Call {
    Call {
        variables: vec![("userId", user.to_owned())],
        ..Call::default()
    }
}

#[tokio::test]
async fn what_was_graded_last_comes_first() {
    let bed = Testbed::demo().await;
    let student = bed.id("student1");
    let before = dashboard(&bed, "student1").await;
    let oldest = texts(&before["grades"], "name")
        .last()
        .copied()
        .unwrap()
        .to_owned();
    let sql = format!(
        "UPDATE gradebook_score SET graded_on = 4000000000000 WHERE user_id = '{student}' \
         AND item_id = (SELECT item_id FROM gradebook_item WHERE site_id = '{BIOLOGY}' AND name = '{oldest}')"
    );
    bed.db.writer.execute_unprepared(&sql).await.unwrap();
    for eid in ["student1", "instructor1"] {
        let after = dashboard(&bed, eid).await;
        assert_eq!(texts(&after["grades"], "name")[0], oldest, "{eid}");
    }
    // Whose scores they are, others can't tell from the order.
    let other = dashboard(&bed, "student2").await;
    assert_ne!(
        texts(&other["grades"], "name").first(),
        Some(&oldest.as_str())
    );
}

#[tokio::test]
async fn too_many_events_are_no_reason_to_refuse() {
    let bed = Testbed::demo().await;
    let list = bed.get("student1", "calendar").await.unwrap();
    let exam = list
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["title"] == "Midterm exam");
    let id = exam.unwrap()["eventId"].as_str().unwrap().to_owned();
    let done = bed.write(bed.caller("instructor1"), |cx| {
        let id = id.clone();
        Box::pin(async move {
            let event: CalendarEvent = db::read(cx, &id).await?.unwrap();
            for number in 0..1001 {
                let event_id = format!("many-{number}");
                db::add(
                    cx,
                    CalendarEvent {
                        event_id,
                        ..event.clone()
                    },
                )
                .await?;
            }
            Ok(())
        })
    });
    done.await.unwrap();
    let error = bed
        .get("student1", "calendar/my?firstDate=2026-11-01")
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadRequest);
    let told = dashboard(&bed, "student1").await;
    assert_eq!(told["events"].as_array().unwrap().len(), 10);
}

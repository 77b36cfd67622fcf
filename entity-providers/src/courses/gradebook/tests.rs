//! Gradebooks, asked through the whole pipeline of a service with the demo university in it.

mod reading;

use entity_core::{ErrorKind, Result, Verb};
use sea_orm::ConnectionTrait as _;
use serde_json::{Value, json};

use crate::base::university::{BIOLOGY, FIELD_TRIP, LAB_A};
use crate::testbed::{Testbed, texts};

/// The id of the item with this name.
async fn item(bed: &Testbed, name: &str) -> String {
    let all = bed.get("admin", "gradebook-item").await.unwrap();
    let found = all.as_array().unwrap().iter().find(|it| it["name"] == name);
    found.unwrap()["itemId"].as_str().unwrap().to_owned()
}

fn kind(answer: Result<Value>) -> Option<ErrorKind> {
    answer.err().map(|it| it.kind())
}

fn rows(book: &Value) -> &Vec<Value> {
    book["assignments"].as_array().unwrap()
}

async fn take_ta_out_of_lab_a(bed: &Testbed) {
    let sql = format!(
        "DELETE FROM group_member WHERE group_id = '{}' AND user_id = '{}'",
        bed.group(LAB_A),
        bed.id("ta1")
    );
    bed.db.writer.execute_unprepared(&sql).await.unwrap();
    bed.forget();
}

#[tokio::test]
async fn each_sees_the_scores_that_are_for_them() {
    let bed = Testbed::demo().await;
    let own = bed.get("student1", "gradebook-score").await.unwrap();
    assert_eq!(texts(&own, "itemName").len(), 7);
    assert!(
        texts(&own, "userId")
            .iter()
            .all(|it| *it == bed.id("student1"))
    );
    assert!(!texts(&own, "itemName").contains(&"Midterm exam"));
    let all = bed.get("instructor1", "gradebook-score").await.unwrap();
    assert_eq!(all.as_array().unwrap().len(), 97);
    assert_eq!(
        bed.get("instructor2", "gradebook-score").await.unwrap(),
        json!([])
    );
    let of_lab = bed.get("ta1", "gradebook-score").await.unwrap();
    let numbers = 1..=10;
    let lab: Vec<&str> = numbers.map(|it| bed.id(&format!("student{it}"))).collect();
    assert!(texts(&of_lab, "userId").iter().all(|it| lab.contains(it)));
    assert_eq!(of_lab.as_array().unwrap().len(), 56);
    take_ta_out_of_lab_a(&bed).await;
    assert_eq!(bed.get("ta1", "gradebook-score").await.unwrap(), json!([]));
}

#[tokio::test]
async fn a_teaching_assistant_grades_the_own_group_only() {
    let bed = Testbed::demo().await;
    let final_exam = item(&bed, "Final exam").await;
    let draft = |eid: &str| json!({"siteId": BIOLOGY, "itemId": final_exam, "userId": bed.id(eid), "score": 50.5});
    let sent = bed
        .send("ta1", Verb::Post, "gradebook-score", &draft("student3"))
        .await;
    assert_eq!(sent.unwrap()["score"], 50.5);
    for eid in ["student11", "ta1"] {
        let sent = bed
            .send("ta1", Verb::Post, "gradebook-score", &draft(eid))
            .await;
        assert_eq!(kind(sent), Some(ErrorKind::Forbidden), "{eid}");
    }
    let many = json!({"scores": [
        {"itemId": final_exam, "userId": bed.id("student4"), "score": 1},
        {"itemId": final_exam, "userId": bed.id("student12"), "score": 1},
    ]});
    let path = format!("gradebook-score/site/{BIOLOGY}");
    let sent = bed.send("ta1", Verb::Post, &path, &many).await;
    assert_eq!(kind(sent), Some(ErrorKind::Forbidden));
    let essay = item(&bed, "Essay 1").await;
    let foreign = format!("gradebook-score/{essay}:{}", bed.id("student15"));
    let sent = bed
        .send("ta1", Verb::Put, &foreign, &json!({"score": 1}))
        .await;
    assert_eq!(kind(sent), Some(ErrorKind::NotFound));
}

#[tokio::test]
async fn many_scores_are_set_at_once_with_their_history() {
    let bed = Testbed::demo().await;
    let (essay, final_exam) = (item(&bed, "Essay 1").await, item(&bed, "Final exam").await);
    let path = format!("gradebook-score/site/{BIOLOGY}");
    let student = |number: usize| bed.id(&format!("student{number}")).to_owned();
    let mut scores: Vec<Value> = (1..=20)
        .map(|it| json!({"itemId": final_exam, "userId": student(it), "score": 70}))
        .collect();
    scores.push(json!({"itemId": essay, "userId": student(1), "comment": "Better than well."}));
    let body = json!({"scores": scores});
    let done = bed
        .send("instructor1", Verb::Post, &path, &body)
        .await
        .unwrap();
    assert_eq!(done, json!({"changed": 21}));
    // Nothing new is no change.
    let done = bed
        .send("instructor1", Verb::Post, &path, &body)
        .await
        .unwrap();
    assert_eq!(done, json!({"changed": 0}));
    let found = bed
        .get(
            "instructor1",
            &format!("gradebook-score/{essay}:{}", student(1)),
        )
        .await
        .unwrap();
    assert_eq!(found["comment"], "Better than well.");
    assert_eq!(
        (&found["version"], &found["score"]),
        (&json!(2), &json!(94.25))
    );
    let query = format!("gradebook-change?itemId={final_exam}&userId={}", student(7));
    let history = bed.get("instructor1", &query).await.unwrap();
    assert_eq!(history[0]["score"], 70.0);
    assert_eq!(history[0]["scoreBefore"], Value::Null);
    assert_eq!(history[0]["changedBy"], bed.id("instructor1"));
    let emptied = json!({"scores": [{"itemId": final_exam, "userId": student(7), "score": null}]});
    bed.send("instructor1", Verb::Post, &path, &emptied)
        .await
        .unwrap();
    let history = bed.get("instructor1", &query).await.unwrap();
    assert_eq!(history.as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn wrong_scores_are_refused_by_name() {
    let bed = Testbed::demo().await;
    let essay = item(&bed, "Essay 2").await;
    let (student, path) = (
        bed.id("student20"),
        format!("gradebook-score/site/{BIOLOGY}"),
    );
    for score in [
        json!(-1),
        json!(1e9),
        json!(1e300),
        json!(0.00001),
        json!("much"),
        json!([1]),
        json!({}),
    ] {
        let one = json!({"siteId": BIOLOGY, "itemId": essay, "userId": student, "score": score});
        let sent = bed
            .send("instructor1", Verb::Post, "gradebook-score", &one)
            .await;
        assert_eq!(kind(sent), Some(ErrorKind::BadRequest), "{score}");
        let many = json!({"scores": [{"itemId": essay, "userId": student, "score": score}]});
        let sent = bed.send("instructor1", Verb::Post, &path, &many).await;
        assert_eq!(kind(sent), Some(ErrorKind::BadRequest), "{score}");
    }
    let twice = json!({"itemId": essay, "userId": student, "score": 1});
    for scores in [
        json!([twice, twice]),
        json!([{"itemId": "none", "userId": student}]),
        json!([{"itemId": essay, "userId": bed.id("instructor1")}]),
        json!([{"itemId": essay, "userId": "nobody"}]),
        json!([{"itemId": essay, "userId": student, "comment": "\u{0}"}]),
        json!([{"itemId": essay}]),
        json!("many"),
        json!(vec![twice; 2_001]),
    ] {
        let sent = bed
            .send("instructor1", Verb::Post, &path, &json!({"scores": scores}))
            .await;
        assert_eq!(kind(sent), Some(ErrorKind::BadRequest), "{scores:.80}");
    }
    let own = json!({"siteId": BIOLOGY, "itemId": item(&bed, "Essay 1").await, "userId": student, "score": 1});
    let sent = bed
        .send("instructor1", Verb::Post, "gradebook-score", &own)
        .await;
    assert_eq!(kind(sent), Some(ErrorKind::Conflict));
}

#[tokio::test]
async fn names_are_unique_in_a_site() {
    let bed = Testbed::demo().await;
    let draft = json!({"siteId": BIOLOGY, "name": "Essay 1", "points": 5});
    let sent = bed
        .send("instructor1", Verb::Post, "gradebook-item", &draft)
        .await;
    assert_eq!(kind(sent), Some(ErrorKind::Conflict));
    let other = json!({"siteId": FIELD_TRIP, "name": "Essay 1", "points": 5});
    let made = bed
        .send("instructor1", Verb::Post, "gradebook-item", &other)
        .await
        .unwrap();
    assert_eq!(
        (&made["position"], &made["counted"]),
        (&json!(1), &json!(true))
    );
    let path = format!("gradebook-item/{}", item(&bed, "Essay 2").await);
    let sent = bed
        .send("instructor1", Verb::Put, &path, &json!({"name": "Essay 1"}))
        .await;
    assert_eq!(kind(sent), Some(ErrorKind::Conflict));
    for wrong in [
        json!({"points": -1}),
        json!({"points": 1_000_001}),
        json!({"categoryId": "none"}),
    ] {
        let sent = bed.send("instructor1", Verb::Put, &path, &wrong).await;
        assert_eq!(kind(sent), Some(ErrorKind::BadRequest), "{wrong}");
    }
}

#[tokio::test]
async fn scores_go_with_their_item() {
    let bed = Testbed::demo().await;
    let path = format!("gradebook-item/{}", item(&bed, "Essay 1").await);
    bed.send("instructor1", Verb::Delete, &path, &Value::Null)
        .await
        .unwrap();
    let all = bed.get("instructor1", "gradebook-score").await.unwrap();
    assert_eq!(all.as_array().unwrap().len(), 77);
    let sql = "SELECT 1 FROM gradebook_score s LEFT JOIN gradebook_item i ON i.item_id = s.item_id WHERE i.item_id IS NULL";
    let statement = sea_orm::Statement::from_string(sea_orm::DbBackend::Sqlite, sql);
    assert!(
        bed.db
            .reader
            .query_all_raw(statement)
            .await
            .unwrap()
            .is_empty()
    );
}

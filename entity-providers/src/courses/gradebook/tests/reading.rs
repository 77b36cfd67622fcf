//! Gradebooks as existing clients read them, course grades, and items that follow something else.

use entity_core::wire::Decimal;
use entity_core::{Error, ErrorKind, Verb};
use futures::FutureExt as _;
use serde_json::{Value, json};

use super::{kind, rows};
use crate::base::university::BIOLOGY;
use crate::courses::gradebook::{ItemSpec, follow_cause, set_score_of_cause};
use crate::testbed::Testbed;

#[tokio::test]
async fn a_gradebook_is_read_in_parts() {
    let bed = Testbed::demo().await;
    let part = bed
        .get(
            "instructor1",
            &format!("gradebook/site/{BIOLOGY}?_start=218&_limit=5"),
        )
        .await
        .unwrap();
    assert_eq!(rows(&part).len(), 2);
    assert!(part.get("nextAssignments").is_none());
    let part = bed
        .get("instructor1", &format!("gradebook/site/{BIOLOGY}?_limit=5"))
        .await
        .unwrap();
    let next = part["nextAssignments"].as_str().unwrap();
    assert!(
        next.ends_with("/direct/gradebook/site/biology-101?_start=5"),
        "{next}"
    );
}

#[tokio::test]
async fn course_grades_follow_from_what_the_caller_sees() {
    let bed = Testbed::demo().await;
    let path = format!("gradebook/course/{BIOLOGY}");
    let own = bed.get("student1", &path).await.unwrap();
    let own = own["students"].as_array().unwrap();
    assert_eq!(own.len(), 1);
    let class = bed.get("instructor1", &path).await.unwrap();
    let class = class["students"].as_array().unwrap();
    assert_eq!(class.len(), 20);
    let of_class = class
        .iter()
        .find(|it| it["userId"] == bed.id("student1"))
        .unwrap();
    // The midterm is not released.
    assert_ne!(
        of_class["courseGrade"]["calculatedGrade"],
        own[0]["courseGrade"]["calculatedGrade"]
    );
    let entered = json!({"siteId": BIOLOGY, "userId": bed.id("student1"), "grade": "A+"});
    bed.send("instructor1", Verb::Post, "gradebook-override", &entered)
        .await
        .unwrap();
    let own = bed.get("student1", &path).await.unwrap();
    assert_eq!(own["students"][0]["courseGrade"]["displayGrade"], "A+");
    assert_eq!(
        bed.get("student1", "gradebook-override").await.unwrap(),
        json!([])
    );
    for wrong in [json!({"grade": "Z"}), json!({"userId": "nobody"})] {
        let mut draft = entered.clone();
        draft
            .as_object_mut()
            .unwrap()
            .extend(wrong.as_object().unwrap().clone());
        draft["userId"] = wrong
            .get("userId")
            .cloned()
            .unwrap_or(json!(bed.id("student2")));
        let sent = bed
            .send("instructor1", Verb::Post, "gradebook-override", &draft)
            .await;
        assert_eq!(kind(sent), Some(ErrorKind::BadRequest), "{wrong}");
    }
}

#[tokio::test]
async fn an_item_follows_its_cause() {
    let bed = Testbed::demo().await;
    let spec = ItemSpec {
        site: BIOLOGY.to_owned(),
        name: "Term paper".to_owned(),
        points: Decimal::parse("30").unwrap(),
        due: None,
        is_withheld: false,
        fields: ["title", "maxPoints"],
    };
    let student = bed.id("student1").to_owned();
    let follow = |spec: Option<ItemSpec>| {
        let caller = bed.caller("instructor1");
        bed.write(caller, move |cx| {
            follow_cause(cx, "/essay/a1", spec.clone()).boxed()
        })
    };
    let id = follow(Some(spec.clone())).await.unwrap().unwrap();
    assert_eq!(follow(Some(spec.clone())).await.unwrap(), Some(id.clone()));
    let caller = bed.caller("instructor1");
    let score = Some(Decimal::parse("28.5").unwrap());
    let user = student.clone();
    let grading = bed.write(caller, move |cx| {
        let user = user.clone();
        async move { set_score_of_cause(cx, "/essay/a1", &user, score, None).await }.boxed()
    });
    assert!(grading.await.unwrap());
    let path = format!("gradebook-score/{id}:{student}");
    assert_eq!(bed.get("student1", &path).await.unwrap()["score"], 28.5);
    // What comes from elsewhere is graded and changed there.
    let sent = bed
        .send("instructor1", Verb::Put, &path, &json!({"score": 1}))
        .await;
    assert_eq!(kind(sent), Some(ErrorKind::Conflict));
    let path = format!("gradebook-item/{id}");
    let sent = bed
        .send("instructor1", Verb::Put, &path, &json!({"points": 1}))
        .await;
    assert_eq!(kind(sent), Some(ErrorKind::Conflict));
    let sent = bed
        .send("instructor1", Verb::Delete, &path, &Value::Null)
        .await;
    assert_eq!(kind(sent), Some(ErrorKind::Conflict));
    bed.send("instructor1", Verb::Put, &path, &json!({"counted": false}))
        .await
        .unwrap();
    let taken = ItemSpec {
        name: "Essay 1".to_owned(),
        ..spec.clone()
    };
    let refused: Error = follow(Some(taken)).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert_eq!(refused.field_errors()[0].name, "title", "{refused}");
    assert_eq!(follow(None).await.unwrap(), None);
    assert_eq!(
        kind(bed.get("instructor1", &path).await),
        Some(ErrorKind::NotFound)
    );
}

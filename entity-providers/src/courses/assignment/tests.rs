//! Tests of assignments and submissions, through the whole pipeline of a service with the demo university in it.

mod writing;

use entity_core::{ErrorKind, Verb};
use serde_json::{Value, json};

use crate::testbed::Testbed;

const SITE: &str = "assignment/site/biology-101";
const REPORT: &str = "Lab report: onion cells";
const ESSAY: &str = "Essay: what is alive?";
const WORK: &str = "assignment-submission";

/// The assignment with this title, as `eid` sees it in the list of the site.
async fn find(bed: &Testbed, eid: &str, title: &str) -> Value {
    let all = bed.get(eid, SITE).await.unwrap();
    let found = all.as_array().unwrap().iter();
    let mut found = found.filter(|it| it["title"] == title);
    found.next().unwrap().clone()
}

async fn id(bed: &Testbed, title: &str) -> String {
    let found = find(bed, "instructor1", title).await;
    found["id"].as_str().unwrap().to_owned()
}

/// The work of `student` for an assignment, as `eid` sees it.
async fn work(bed: &Testbed, eid: &str, assignment: &str, student: &str) -> Value {
    let path = format!(
        "{WORK}?gradableId={assignment}&submitter={}",
        bed.id(student)
    );
    let found = bed.get(eid, &path).await.unwrap();
    found[0].clone()
}

#[tokio::test]
async fn students_get_their_own_work_and_graders_all_of_it() {
    let bed = Testbed::demo().await;
    let path = format!("assignment/{}", id(&bed, REPORT).await);
    for (eid, count) in [
        ("student1", 1),
        ("student3", 1),
        ("student5", 0),
        ("ta1", 0),
        ("instructor1", 3),
    ] {
        let shown = bed.get(eid, &path).await.unwrap();
        let work = shown["submissions"].as_array().unwrap();
        assert_eq!(work.len(), count, "{eid}");
        for it in work {
            let is_own = it["submitter"] == bed.id(eid);
            assert!(is_own || eid == "instructor1", "{it}");
        }
        let listed = find(&bed, eid, REPORT).await;
        let own = listed["submissions"].as_array().unwrap().len();
        assert_eq!(own, if eid == "instructor1" { 0 } else { count }, "{eid}");
    }
}

#[tokio::test]
async fn other_work_is_in_no_list_filter_order_or_count() {
    let bed = Testbed::demo().await;
    let other = bed.id("student2").to_owned();
    for query in [
        String::new(),
        format!("?submitter={other}"),
        "?_order=grade".to_owned(),
        "?_order=submitter_desc".to_owned(),
        "?grade=47.5".to_owned(),
        "?context=biology-101".to_owned(),
    ] {
        let found = bed
            .get("student1", &format!("{WORK}{query}"))
            .await
            .unwrap();
        let found = found.as_array().unwrap();
        assert!(
            found.iter().all(|it| it["submitter"] == bed.id("student1")),
            "{query}"
        );
    }
    let report = id(&bed, REPORT).await;
    let theirs = work(&bed, "instructor1", &report, "student2").await;
    let theirs = theirs["id"].as_str().unwrap();
    for eid in ["student1", "ta1"] {
        let error = bed.get(eid, &format!("{WORK}/{theirs}")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{eid}");
        for action in ["itemSubmission", "getGrade"] {
            for name in [
                format!("submissionId={theirs}"),
                format!("studentId={other}"),
            ] {
                let path = format!("assignment/{action}?gradableId={report}&{name}");
                let error = bed.get(eid, &path).await.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::NotFound, "{eid} {path}");
            }
        }
    }
}

#[tokio::test]
async fn a_grade_is_never_shown_before_it_is_returned() {
    let bed = Testbed::demo().await;
    let report = id(&bed, REPORT).await;
    let seen = work(&bed, "instructor1", &report, "student1").await;
    assert_eq!(
        (&seen["grade"], &seen["graded"]),
        (&json!("91"), &json!(true))
    );
    let own = work(&bed, "student1", &report, "student1").await;
    let hidden = [
        &own,
        &bed.get(
            "student1",
            &format!("{WORK}/{}", own["id"].as_str().unwrap()),
        )
        .await
        .unwrap(),
        &find(&bed, "student1", REPORT).await["submissions"][0],
        &bed.get("student1", &format!("assignment/{report}"))
            .await
            .unwrap()["submissions"][0],
    ];
    for it in hidden {
        for key in ["grade", "feedbackText", "feedbackComment", "privateNotes"] {
            assert_eq!(it[key], Value::Null, "{key}");
        }
        assert_eq!(
            (&it["graded"], &it["submitters"][0]["grade"]),
            (&json!(false), &Value::Null)
        );
        assert!(
            it["status"].as_str().unwrap().starts_with("Submitted "),
            "{it}"
        );
    }
    for query in ["grade=91", "grade[ge]=9", "grade[null]=false"] {
        let found = bed
            .get("student1", &format!("{WORK}?gradableId={report}&{query}"))
            .await;
        assert_eq!(found.unwrap(), json!([]), "{query}");
    }
    let path = format!("{WORK}/{}/return", own["id"].as_str().unwrap());
    bed.send("instructor1", Verb::Post, &path, &Value::Null)
        .await
        .unwrap();
    let own = work(&bed, "student1", &report, "student1").await;
    assert_eq!(
        (&own["grade"], &own["graded"], &own["returned"]),
        (&json!("91"), &json!(true), &json!(true))
    );
}

#[tokio::test]
async fn the_version_is_that_of_what_the_caller_sees() {
    let bed = Testbed::demo().await;
    let report = id(&bed, REPORT).await;
    let path = format!("assignment/{report}");
    let version = async |eid: &str| {
        let cx = bed.reader(eid).await;
        let found = entity_core::gate::read::<super::Assignment>(&cx, &report).await;
        entity_core::Entity::version(&found.unwrap()).unwrap()
    };
    let (own, other, all) = (
        version("student1").await,
        version("student5").await,
        version("instructor1").await,
    );
    let mark = json!({"gradableId": report, "studentId": bed.id("student1"), "grade": "55", "privateNotes": "Late again"});
    bed.send("instructor1", Verb::Post, "assignment/setGrade", &mark)
        .await
        .unwrap();
    assert_eq!(
        (version("student1").await, version("student5").await),
        (own, other)
    );
    assert_ne!(version("instructor1").await, all);
    bed.send(
        "student2",
        Verb::Post,
        &format!("{path}/submit"),
        &json!({"submittedText": "More"}),
    )
    .await
    .unwrap();
    assert_eq!(
        (version("student1").await, version("student5").await),
        (own, other)
    );
}

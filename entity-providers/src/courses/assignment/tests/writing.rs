//! Handing in, grading and writing: reading back, refusals, and permissions.

use chrono::TimeDelta;
use entity_core::wire::iso;
use entity_core::{ErrorKind, Result, Verb};
use serde_json::{Value, json};

use super::{ESSAY, REPORT, WORK, id, work};
use crate::base::university::{BIOLOGY, HISTORY, LAB_A, LAB_B};
use crate::testbed::Testbed;

pub(super) async fn refused(
    bed: &Testbed,
    eid: &str,
    verb: Verb,
    path: &str,
    body: Value,
) -> ErrorKind {
    let done = bed.send(eid, verb, path, &body).await;
    done.expect_err(path).kind()
}

/// An instant so many hours from the one at which the service of the tests stands.
fn at(hours: i64) -> String {
    let now = chrono::DateTime::from_timestamp_millis(1_795_255_200_000).unwrap();
    iso(now + TimeDelta::hours(hours))
}

/// An assignment that is open, with more fields.
async fn make(bed: &Testbed, more: Value) -> Value {
    try_to_make(bed, more).await.unwrap()
}

async fn try_to_make(bed: &Testbed, more: Value) -> Result<Value> {
    let mut fields = json!({
        "context": BIOLOGY, "title": "Made", "openTime": at(-1), "dueTime": at(1), "closeTime": at(2),
        "gradeScale": "SCORE_GRADE_TYPE", "gradeScaleMaxPoints": "10",
    });
    let more = more.as_object().unwrap().clone();
    fields.as_object_mut().unwrap().extend(more);
    bed.send("instructor1", Verb::Post, "assignment", &fields)
        .await
}

#[tokio::test]
async fn x55_what_follows_is_refused_by_the_fields_that_were_sent() {
    let bed = Testbed::demo().await;
    make(&bed, json!({"title": "Taken", "inGradebook": true})).await;
    for (more, field) in [
        (
            json!({"dueTime": "2300-01-01T00:00:00Z", "closeTime": "2300-01-02T00:00:00Z", "inCalendar": true}),
            "dueTime",
        ),
        (json!({"title": "Taken", "inGradebook": true}), "title"),
    ] {
        let error = try_to_make(&bed, more).await.unwrap_err();
        let named: Vec<_> = error.field_errors().iter().map(|it| &it.name).collect();
        assert_eq!(named, [field], "{error}");
        assert!(error.to_string().contains(&format!("`{field}`")), "{error}");
    }
}

#[tokio::test]
async fn work_is_kept_handed_in_and_handed_in_again_as_often_as_allowed() {
    let bed = Testbed::demo().await;
    let made = make(&bed, json!({"resubmissions": 1})).await;
    let id = made["id"].as_str().unwrap();
    let path = format!("assignment/{id}/submit");
    let hand_in = async |body: Value| bed.send("student1", Verb::Post, &path, &body).await;

    let kept = hand_in(json!({"submittedText": "<p>Half</p>", "draft": true}))
        .await
        .unwrap();
    let kept = &kept["submissions"][0];
    assert_eq!(kept["submittedText"], "<p>Half</p>");
    assert_eq!(
        (&kept["draft"], &kept["submitted"], &kept["dateSubmitted"]),
        (&json!(true), &json!(false), &Value::Null)
    );
    let shown = work(&bed, "instructor1", id, "student1").await;
    assert_eq!(
        (&shown["submittedText"], &shown["status"]),
        (&Value::Null, &json!("Draft - In progress"))
    );
    assert_eq!(shown["submittedAttachments"], json!([]));

    let file = json!([{"name": "a.pdf", "url": "https://example.org/a.pdf"}]);
    let first = hand_in(json!({"submittedText": "Whole", "submittedAttachments": file}))
        .await
        .unwrap();
    let first = &first["submissions"][0];
    assert_eq!(
        (&first["submitted"], &first["late"], &first["canSubmit"]),
        (&json!(true), &json!(false), &json!(true))
    );
    assert_eq!(first["dateSubmitted"], "2026-11-21T10:00:00Z");
    assert_eq!(first["dateSubmittedEpochSeconds"], 1_795_255_200);
    assert_eq!(
        work(&bed, "instructor1", id, "student1").await["submittedText"],
        "Whole"
    );

    let error = hand_in(json!({"submittedText": "Back", "draft": true}))
        .await
        .unwrap_err();
    assert_eq!(error.field_errors()[0].name, "draft");
    let again = hand_in(json!({"submittedText": "Better"})).await.unwrap();
    let again = &again["submissions"][0];
    assert_eq!(
        (
            &again["canSubmit"],
            &again["properties"]["allow_resubmit_number"]
        ),
        (&json!(false), &json!("0"))
    );
    let error = hand_in(json!({"submittedText": "Once more"}))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
}

#[tokio::test]
async fn work_is_handed_in_only_while_the_assignment_is_open() {
    let bed = Testbed::demo().await;
    let body = json!({"submittedText": "Done"});
    for (times, late) in [
        (
            json!({"openTime": at(-3), "dueTime": at(-2), "closeTime": at(1)}),
            Some(true),
        ),
        (json!({}), Some(false)),
        (
            json!({"openTime": at(-3), "dueTime": at(-2), "closeTime": at(-1)}),
            None,
        ),
    ] {
        let made = make(&bed, times).await;
        let path = format!("assignment/{}/submit", made["id"].as_str().unwrap());
        match (bed.send("student1", Verb::Post, &path, &body).await, late) {
            (Ok(done), Some(late)) => assert_eq!(done["submissions"][0]["late"], late),
            (Err(error), None) => assert_eq!(error.kind(), ErrorKind::Conflict),
            (done, _) => panic!("{done:?}"),
        }
    }
    let later = make(
        &bed,
        json!({"openTime": at(1), "dueTime": at(2), "closeTime": at(3)}),
    )
    .await;
    let draft = make(&bed, json!({"draft": true})).await;
    for (made, kind) in [(&later, ErrorKind::NotFound), (&draft, ErrorKind::NotFound)] {
        let made = made["id"].as_str().unwrap();
        let path = format!("assignment/{made}/submit");
        assert_eq!(
            refused(&bed, "student1", Verb::Post, &path, body.clone()).await,
            kind
        );
        assert_eq!(
            refused(&bed, "instructor1", Verb::Post, &path, body.clone()).await,
            ErrorKind::Conflict
        );
        let direct = json!({"context": BIOLOGY, "gradableId": made, "submittedText": "Done"});
        assert_eq!(
            refused(&bed, "student1", Verb::Post, WORK, direct).await,
            ErrorKind::BadRequest
        );
    }
}

#[tokio::test]
async fn nobody_writes_the_part_of_the_other() {
    let bed = Testbed::demo().await;
    let report = id(&bed, REPORT).await;
    let own = work(&bed, "student2", &report, "student2").await;
    let own = format!("{WORK}/{}", own["id"].as_str().unwrap());
    let essay = id(&bed, ESSAY).await;
    let returned = work(&bed, "student1", &essay, "student1").await;
    let returned = format!("{WORK}/{}", returned["id"].as_str().unwrap());
    for (path, eid, body, kind) in [
        (
            &own,
            "student2",
            json!({"grade": "100"}),
            ErrorKind::Forbidden,
        ),
        (
            &own,
            "student2",
            json!({"returned": true}),
            ErrorKind::Forbidden,
        ),
        (
            &own,
            "student2",
            json!({"privateNotes": "x"}),
            ErrorKind::Forbidden,
        ),
        (
            &returned,
            "student1",
            json!({"grade": "50"}),
            ErrorKind::Forbidden,
        ),
        (
            &own,
            "instructor1",
            json!({"submittedText": "x"}),
            ErrorKind::Forbidden,
        ),
        (
            &own,
            "instructor1",
            json!({"draft": true}),
            ErrorKind::Forbidden,
        ),
        (
            &own,
            "instructor1",
            json!({"grade": "-1"}),
            ErrorKind::BadRequest,
        ),
        (
            &own,
            "instructor1",
            json!({"grade": "many"}),
            ErrorKind::BadRequest,
        ),
    ] {
        assert_eq!(
            refused(&bed, eid, Verb::Put, path, body.clone()).await,
            kind,
            "{eid} {body}"
        );
    }
}

#[tokio::test]
async fn nobody_forges_new_work() {
    let bed = Testbed::demo().await;
    let report = id(&bed, REPORT).await;
    let forged = json!({
        "context": BIOLOGY, "gradableId": report, "submittedText": "x", "grade": "100", "returned": true,
    });
    assert_eq!(
        refused(&bed, "student5", Verb::Post, WORK, forged).await,
        ErrorKind::Forbidden
    );
    let twice = json!({"context": BIOLOGY, "gradableId": report, "submittedText": "x"});
    assert_eq!(
        refused(&bed, "student2", Verb::Post, WORK, twice.clone()).await,
        ErrorKind::Conflict
    );
    let moved = json!({"context": HISTORY, "gradableId": report, "submittedText": "x"});
    assert_eq!(
        refused(&bed, "student20", Verb::Post, WORK, moved).await,
        ErrorKind::BadRequest
    );
    let forged = json!({"context": BIOLOGY, "gradableId": report, "submittedText": "x", "submitter": bed.id("student6")});
    let made = bed
        .send("student5", Verb::Post, WORK, &forged)
        .await
        .unwrap();
    assert_eq!(made["submitter"], bed.id("student5"));
}

#[tokio::test]
async fn graders_grade_also_who_handed_in_nothing_and_the_gradebook_learns_what_is_returned() {
    let bed = Testbed::demo().await;
    let made = make(
        &bed,
        json!({"title": "Oral exam", "inGradebook": true, "inCalendar": true}),
    )
    .await;
    assert_eq!(made["gradebookItemName"], "Oral exam");
    let id = made["id"].as_str().unwrap();
    let events = bed
        .get("student1", "calendar/site/biology-101")
        .await
        .unwrap();
    let events = events.as_array().unwrap();
    assert!(
        events
            .iter()
            .any(|it| it["assignmentId"] == *id && it["type"] == "Deadline")
    );
    let grade = async |more: Value| {
        let mut fields = json!({"gradableId": id, "studentId": bed.id("student7")});
        fields
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        bed.send("instructor1", Verb::Post, "assignment/setGrade", &fields)
            .await
    };
    let score = async || {
        let rows = bed
            .get("student7", "gradebook/site/biology-101")
            .await
            .unwrap();
        let rows = rows["assignments"].as_array().unwrap().clone();
        rows.into_iter()
            .find(|it| it["itemName"] == "Oral exam")
            .map(|it| it["grade"].clone())
    };
    let graded = grade(json!({"grade": "8.50"})).await.unwrap();
    let work = &graded["submissions"][0];
    assert_eq!(
        (&work["grade"], &work["submitted"], &work["userSubmission"]),
        (&json!("8.5"), &json!(false), &json!(false))
    );
    assert!(score().await.is_none_or(|it| it.is_null()));
    grade(json!({"returned": true})).await.unwrap();
    assert_eq!(score().await, Some(json!("8.5")));
    let stranger = json!({"gradableId": id, "studentId": bed.id("instructor2"), "grade": "1"});
    let error = bed.send("instructor1", Verb::Post, "assignment/setGrade", &stranger);
    assert_eq!(error.await.unwrap_err().field_errors()[0].name, "studentId");
    let path = format!("assignment/{id}");
    bed.send("instructor1", Verb::Delete, &path, &Value::Null)
        .await
        .unwrap();
    assert_eq!(score().await, None);
    let events = bed
        .get("student1", "calendar/site/biology-101")
        .await
        .unwrap();
    assert!(
        events
            .as_array()
            .unwrap()
            .iter()
            .all(|it| it["assignmentId"] != *id)
    );
    assert_eq!(
        bed.get("instructor1", &format!("{WORK}?gradableId={id}"))
            .await
            .unwrap(),
        json!([])
    );
}

#[tokio::test]
async fn wrong_fields_are_refused_by_name() {
    let bed = Testbed::demo().await;
    for (more, field) in [
        (json!({"dueTime": at(-2)}), "dueTime"),
        (json!({"closeTime": at(0)}), "closeTime"),
        (json!({"gradeScaleMaxPoints": null}), "gradeScaleMaxPoints"),
        (json!({"gradeScaleMaxPoints": "0"}), "gradeScaleMaxPoints"),
        (
            json!({"gradeScaleMaxPoints": "1e99"}),
            "gradeScaleMaxPoints",
        ),
        (json!({"gradeScale": "STARS"}), "gradeScale"),
        (json!({"submissionType": "SONG"}), "submissionType"),
        (json!({"resubmissions": i64::MAX}), "resubmissions"),
        (json!({"resubmissions": -2}), "resubmissions"),
        (
            json!({"gradeScale": "CHECK_GRADE_TYPE", "inGradebook": true}),
            "inGradebook",
        ),
        (json!({"groups": ["no-such-group"]}), "groups"),
    ] {
        let error = try_to_make(&bed, more.clone()).await.unwrap_err();
        assert_eq!(error.field_errors()[0].name, field, "{more}");
    }
    for (kind, body, field) in [
        (
            "TEXT_ONLY_ASSIGNMENT_SUBMISSION",
            json!({"submittedText": "x", "submittedAttachments": [{"name": "a", "url": "https://example.org/a"}]}),
            "submittedAttachments",
        ),
        (
            "ATTACHMENT_ONLY_ASSIGNMENT_SUBMISSION",
            json!({"submittedText": "x"}),
            "submittedText",
        ),
        (
            "SINGLE_ATTACHMENT_SUBMISSION",
            json!({}),
            "submittedAttachments",
        ),
        (
            "TEXT_AND_ATTACHMENT_ASSIGNMENT_SUBMISSION",
            json!({}),
            "submittedText",
        ),
    ] {
        let made = make(&bed, json!({"submissionType": kind})).await;
        let path = format!("assignment/{}/submit", made["id"].as_str().unwrap());
        let error = bed
            .send("student1", Verb::Post, &path, &body)
            .await
            .unwrap_err();
        assert_eq!(error.field_errors()[0].name, field, "{kind}");
    }
}

#[tokio::test]
async fn groups_notes_and_model_answers_are_for_some() {
    let bed = Testbed::demo().await;
    let more = json!({
        "groups": [bed.group(LAB_B)], "privateNoteText": "Easy", "modelAnswerText": "42", "showModelAnswer": true,
        "openTime": at(-3), "dueTime": at(-2), "closeTime": at(-1),
    });
    let made = make(&bed, more).await;
    assert_eq!(
        (&made["access"], &made["privateNoteText"]),
        (&json!("GROUP"), &json!("Easy"))
    );
    let path = format!("assignment/{}", made["id"].as_str().unwrap());
    let error = bed.get("student1", &path).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let shown = bed.get("student11", &path).await.unwrap();
    assert_eq!(
        (&shown["modelAnswerText"], &shown["privateNoteText"]),
        (&json!("42"), &Value::Null)
    );
    let open = json!({"closeTime": at(1), "groups": [bed.group(LAB_A)]});
    bed.send("instructor1", Verb::Put, &path, &open)
        .await
        .unwrap();
    assert_eq!(
        bed.get("student1", &path).await.unwrap()["modelAnswerText"],
        Value::Null
    );
    assert_eq!(
        bed.get("student11", &path).await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
}

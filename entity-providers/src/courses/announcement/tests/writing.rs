//! Writing announcements: reading back, refusals, and permissions.

use entity_core::{ErrorKind, Verb};
use serde_json::{Value, json};

use crate::base::university::{BIOLOGY, LAB_A, LAB_B};
use crate::testbed::Testbed;

async fn kind(bed: &Testbed, eid: &str, verb: Verb, path: &str, body: Value) -> ErrorKind {
    bed.send(eid, verb, path, &body).await.unwrap_err().kind()
}

#[tokio::test]
async fn wrong_fields_are_refused_by_name() {
    let bed = Testbed::demo().await;
    for (field, value) in [
        ("groups", json!(["no-group"])),
        ("retractDate", json!("2026-11-19T00:00:00Z")),
        (
            "attachments",
            json!([{"name": "x", "url": "javascript:alert(1)"}]),
        ),
        ("attachments[0].url", json!([{"name": "x"}])),
    ] {
        let mut draft =
            json!({"siteId": BIOLOGY, "title": "x", "releaseDate": "2026-11-20T00:00:00Z"});
        draft[field.split('[').next().unwrap()] = value;
        let error = bed
            .send("instructor1", Verb::Post, "announcement", &draft)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadRequest, "{field}");
        assert_eq!(error.field_errors()[0].name, field);
    }
}

#[tokio::test]
async fn authors_see_their_drafts_and_write_only_for_groups_of_their_own() {
    let bed = Testbed::demo().await;
    for function in ["annc.new", "annc.revise.own"] {
        bed.grant(BIOLOGY, "Student", function).await;
    }
    let draft = |group: &str| json!({"siteId": BIOLOGY, "title": "Study group", "draft": true, "groups": [bed.group(group)]});
    let refused = kind(&bed, "student1", Verb::Post, "announcement", draft(LAB_B)).await;
    assert_eq!(refused, ErrorKind::Forbidden);
    let made = bed
        .send("student1", Verb::Post, "announcement", &draft(LAB_A))
        .await
        .unwrap();
    let path = format!("announcement/{}", made["id"].as_str().unwrap());
    for (eid, is_seen) in [
        ("student1", true),
        ("instructor1", true),
        ("student2", false),
        ("student11", false),
        ("ta1", false),
    ] {
        assert_eq!(bed.get(eid, &path).await.is_ok(), is_seen, "{eid}");
    }
    let change = json!({"draft": false});
    bed.send("student1", Verb::Put, &path, &change)
        .await
        .unwrap();
    for (eid, is_seen) in [("student2", true), ("student11", false), ("ta1", true)] {
        assert_eq!(bed.get(eid, &path).await.is_ok(), is_seen, "{eid}");
    }
    let change = json!({"groups": [bed.group(LAB_B)]});
    let refused = kind(&bed, "student1", Verb::Put, &path, change).await;
    assert_eq!(refused, ErrorKind::Forbidden);
    let refused = kind(&bed, "student2", Verb::Put, &path, json!({"title": "x"})).await;
    assert_eq!(refused, ErrorKind::Forbidden);
    let refused = kind(&bed, "student1", Verb::Delete, &path, Value::Null).await;
    assert_eq!(refused, ErrorKind::Forbidden);
}

//! Writing announcements: reading back, refusals, and permissions.

use entity_core::{ErrorKind, IfMatch, Verb, Version};
use serde_json::{Value, json};

use super::{DAY, MIDTERM, WELCOME, id};
use crate::base::university::{BIOLOGY, LAB_A, LAB_B};
use crate::testbed::Testbed;

async fn kind(bed: &Testbed, eid: &str, verb: Verb, path: &str, body: Value) -> ErrorKind {
    bed.send(eid, verb, path, &body).await.unwrap_err().kind()
}

#[tokio::test]
async fn what_is_written_reads_back() {
    let bed = Testbed::demo().await;
    let draft = json!({
        "siteId": BIOLOGY, "title": "Excursion", "body": "<p>Boots!</p>", "draft": true,
        "releaseDate": "2026-11-20T10:00:00Z", "retractDate": 1_795_255_200_000_i64 + DAY,
        "groups": [bed.group(LAB_B), bed.group(LAB_A)], "highlight": true,
        "attachments": [{"name": "Map", "url": "http://localhost/access/content/group/biology-101/map.pdf"}],
    });
    let made = bed
        .send("instructor1", Verb::Post, "announcement", &draft)
        .await
        .unwrap();
    let path = format!("announcement/{}", made["id"].as_str().unwrap());
    let read = bed.get("instructor1", &path).await.unwrap();
    assert_eq!(read, made);
    assert_eq!(read["createdOn"], 1_795_255_200_000_i64 - DAY);
    assert_eq!(
        read["attachments"][0]["ref"],
        "/content/group/biology-101/map.pdf"
    );
    assert_eq!(read["groups"].as_array().unwrap().len(), 2);

    let unchanged = bed
        .send("instructor1", Verb::Put, &path, &read)
        .await
        .unwrap();
    assert_eq!(unchanged, read);
    let emptied = json!({"releaseDate": null, "retractDate": null, "groups": null, "attachments": [], "draft": false});
    let emptied = bed
        .send("instructor1", Verb::Put, &path, &emptied)
        .await
        .unwrap();
    assert_eq!(emptied["createdOn"], 1_795_255_200_000_i64);
    assert_eq!(emptied["groups"], json!([]));
    assert_eq!(emptied["title"], "Excursion");
    assert!(bed.get("student11", &path).await.is_ok());

    bed.send("instructor1", Verb::Delete, &path, &Value::Null)
        .await
        .unwrap();
    let error = bed.get("instructor1", &path).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn wrong_fields_are_refused_by_name() {
    let bed = Testbed::demo().await;
    for (field, value) in [
        ("title", json!("")),
        ("title", json!("x".repeat(256))),
        ("groups", json!(["no-group"])),
        ("retractDate", json!("2026-11-19T00:00:00Z")),
        (
            "attachments",
            json!([{"name": "x", "url": "javascript:alert(1)"}]),
        ),
        ("attachments[0].url", json!([{"name": "x"}])),
        ("nonsense", json!(1)),
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
async fn only_those_who_may_write_write() {
    let bed = Testbed::demo().await;
    let draft = |site: &str| json!({"siteId": site, "title": "Mine"});
    for (eid, site, expected) in [
        ("student1", BIOLOGY, ErrorKind::Forbidden),
        ("ta1", BIOLOGY, ErrorKind::Forbidden),
        ("instructor2", BIOLOGY, ErrorKind::Forbidden),
        ("instructor1", "!site", ErrorKind::Forbidden),
        ("instructor1", "nowhere", ErrorKind::NotFound),
        ("", BIOLOGY, ErrorKind::Unauthenticated),
    ] {
        let found = kind(&bed, eid, Verb::Post, "announcement", draft(site)).await;
        assert_eq!(found, expected, "{eid} {site}");
    }
    let welcome = format!("announcement/{}", id(&bed, WELCOME).await);
    let hidden = format!("announcement/{}", id(&bed, MIDTERM).await);
    for verb in [Verb::Put, Verb::Delete] {
        let refused = kind(&bed, "student1", verb, &welcome, json!({"title": "x"})).await;
        assert_eq!(refused, ErrorKind::Forbidden);
        let refused = kind(&bed, "student1", verb, &hidden, json!({"title": "x"})).await;
        assert_eq!(refused, ErrorKind::NotFound);
    }
    let motd = bed
        .send("admin", Verb::Post, "announcement", &draft("!site"))
        .await
        .unwrap();
    assert_eq!(motd["channel"], "motd");
}

#[tokio::test]
async fn a_stale_version_is_not_overwritten() {
    let bed = Testbed::demo().await;
    let path = format!("announcement/{}", id(&bed, WELCOME).await);
    let stale = Some(IfMatch::Versions(vec![Version(1)]));
    let change = json!({"title": "x"});
    let error = bed
        .send_if("instructor1", Verb::Put, &path, &change, stale)
        .await;
    assert_eq!(error.unwrap_err().kind(), ErrorKind::PreconditionFailed);
    assert_eq!(
        bed.get("instructor1", &path).await.unwrap()["title"],
        WELCOME
    );
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

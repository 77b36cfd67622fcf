//! Tests of sites, in the demo university.

use entity_core::{ErrorKind, Result, Verb};
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};

use crate::testbed::{Testbed, texts};

fn kind<T: std::fmt::Debug>(answer: Result<T>) -> ErrorKind {
    answer.unwrap_err().kind()
}

async fn sql(bed: &Testbed, statement: &str) {
    bed.db.writer.execute_unprepared(statement).await.unwrap();
    bed.forget();
}

#[tokio::test]
async fn lists_hold_what_is_selected_by_title() {
    let bed = Testbed::demo().await;
    sql(
        &bed,
        "UPDATE site SET is_pub_view = TRUE WHERE id = 'history-210'",
    )
    .await;
    let all = vec!["biology-101", "field-trip", "history-210"];
    for (eid, query, expected) in [
        ("instructor1", "site", vec!["biology-101", "field-trip"]),
        ("instructor1", "site?_limit=1", vec!["biology-101"]),
        ("instructor1", "site?_limit=50&_start=1", vec!["field-trip"]),
        ("instructor1", "site?_limit=50&_start=50", vec![]),
        ("instructor1", "site?search=marsh", vec!["field-trip"]),
        (
            "instructor1",
            "site?select=update",
            vec!["biology-101", "field-trip"],
        ),
        ("student1", "site?select=update", vec![]),
        (
            "student1",
            "site?select=pubView",
            vec!["history-210", "university-news"],
        ),
        ("instructor2", "site?select=joinable", vec!["field-trip"]),
        ("instructor2", "site?select=any", vec!["history-210"]),
    ] {
        let list = bed.get(eid, query).await.unwrap();
        assert_eq!(texts(&list, "id"), expected, "{eid} {query}");
    }
    let list = bed.get("admin", "site?select=any").await.unwrap();
    let found: Vec<&str> = texts(&list, "id")
        .into_iter()
        .filter(|it| all.contains(it))
        .collect();
    assert_eq!(found, all);
    assert_eq!(
        kind(bed.get("admin", "site?select=x").await),
        ErrorKind::BadRequest
    );
}

#[tokio::test]
async fn a_site_is_made_changed_and_deleted() {
    let bed = Testbed::demo().await;
    let draft = json!({"id": "chess-1", "title": "Chess", "type": "project",
        "description": "<p onclick=x>Play<script>x</script></p>"});
    let site = bed
        .send("student1", Verb::Post, "site", &draft)
        .await
        .unwrap();
    assert_eq!(site["owner"], bed.id("student1"));
    assert_eq!(site["maintainRole"], "maintain");
    assert_eq!(
        kind(bed.send("student1", Verb::Post, "site", &draft).await),
        ErrorKind::Conflict
    );
    let pages = bed.get("student1", "site/chess-1/pages").await.unwrap();
    assert!(texts(&pages, "title").contains(&"Announcements"));

    let path = "site/chess-1";
    let change = json!({"title": "Go", "joinable": true, "joinerRole": "access"});
    bed.send("student1", Verb::Put, path, &change)
        .await
        .unwrap();
    let site = bed.get("student2", path).await.unwrap();
    assert_eq!(
        (&site["title"], &site["joinable"]),
        (&json!("Go"), &json!(true))
    );

    bed.send("student1", Verb::Delete, path, &Value::Null)
        .await
        .unwrap();
    assert_eq!(kind(bed.get("student1", path).await), ErrorKind::NotFound);
    let admin = bed
        .send("admin", Verb::Delete, "site/!admin", &Value::Null)
        .await;
    assert_eq!(kind(admin), ErrorKind::Conflict);
}

#[tokio::test]
async fn wrong_sites_are_refused_by_field() {
    let bed = Testbed::demo().await;
    for (draft, field) in [
        (json!({"title": ""}), "title"),
        (json!({"title": "x", "id": "!admin2"}), "id"),
        (json!({"title": "x", "id": "a/b"}), "id"),
        (json!({"title": "x", "type": "portal"}), "type"),
        (
            json!({"title": "x", "joinerRole": "maintain"}),
            "joinerRole",
        ),
        (
            json!({"title": "x", "joinerRole": "nonsense"}),
            "joinerRole",
        ),
        (json!({"title": "x", "props": {"term": "spring"}}), "props"),
        (json!({"title": "x", "props": {"other": "1"}}), "props"),
    ] {
        let error = bed
            .send("student1", Verb::Post, "site", &draft)
            .await
            .unwrap_err();
        assert_eq!(error.field_errors()[0].name, field, "{draft}: {error}");
    }
}

//! Memberships, asked through the whole pipeline of a service with the demo university in it.

use entity_core::{ErrorKind, Verb};
use sea_orm::{EntityTrait, PaginatorTrait};
use serde_json::{Value, json};

use crate::base::university::{BIOLOGY, FIELD_TRIP, HISTORY};
use crate::storage::db::{group_member, membership};
use crate::testbed::{Testbed, texts};

fn path(bed: &Testbed, eid: &str, site: &str) -> String {
    format!("membership/{}::site:{site}", bed.id(eid))
}

async fn refusal(bed: &Testbed, eid: &str, verb: Verb, path: &str, body: Value) -> ErrorKind {
    bed.send(eid, verb, path, &body).await.unwrap_err().kind()
}

#[tokio::test]
async fn members_come_by_name_and_by_role() {
    let bed = Testbed::demo().await;
    let list = bed.get("instructor1", "membership/site/field-trip").await;
    assert_eq!(
        texts(&list.unwrap(), "userSortName"),
        [
            "Jiménez, Carla",
            "Kowalski, David",
            "Moreau, Ada",
            "Okafor, Maria",
            "Osei, Benjamin",
            "Raman, Priya"
        ]
    );
    let query = "membership?siteId=biology-101&role=Teaching Assistant";
    let list = bed.get("instructor1", query).await.unwrap();
    assert_eq!(texts(&list, "userEid"), ["ta1"]);
    let query = "membership?siteId=field-trip&_order=userDisplayName_desc&_limit=2";
    let list = bed.get("instructor1", query).await.unwrap();
    assert_eq!(
        texts(&list, "userDisplayName"),
        ["Priya Raman", "Maria Okafor"]
    );
}

#[tokio::test]
async fn addresses_are_for_those_who_may_know_them() {
    let bed = Testbed::demo().await;
    for (eid, site, about, email, external_id) in [
        (
            "instructor1",
            BIOLOGY,
            "student2",
            "student2@example.edu",
            "student2",
        ),
        (
            "admin",
            BIOLOGY,
            "student2",
            "student2@example.edu",
            "student2",
        ),
        ("student1", FIELD_TRIP, "student2", "", ""),
        (
            "student1",
            FIELD_TRIP,
            "student1",
            "student1@example.edu",
            "student1",
        ),
        (
            "student2",
            BIOLOGY,
            "student2",
            "student2@example.edu",
            "student2",
        ),
    ] {
        let item = bed.get(eid, &path(&bed, about, site)).await.unwrap();
        assert_eq!(item["userEmail"], email, "{eid}");
        assert_eq!(item["userEid"], external_id, "{eid}");
    }
}

#[tokio::test]
async fn a_member_is_made_changed_and_removed() {
    let bed = Testbed::demo().await;
    let draft = json!({"userEid": "STUDENT1", "locationReference": "/site/history-210"});
    let made = bed
        .send("instructor2", Verb::Post, "membership", &draft)
        .await
        .unwrap();
    assert_eq!(made["memberRole"], "Student");
    assert_eq!(made["active"], true);
    assert_eq!(
        made["id"],
        format!("{}::site:history-210", bed.id("student1"))
    );
    assert!(
        bed.get("student1", "announcement/site/history-210")
            .await
            .is_ok()
    );
    let again = refusal(&bed, "instructor2", Verb::Post, "membership", draft).await;
    assert_eq!(again, ErrorKind::Conflict);

    let path = path(&bed, "student1", HISTORY);
    let change = json!({"active": false});
    let changed = bed
        .send("instructor2", Verb::Put, &path, &change)
        .await
        .unwrap();
    assert_eq!(
        (&changed["active"], &changed["memberRole"]),
        (&json!(false), &json!("Student"))
    );
    let error = bed
        .get("student1", "announcement/site/history-210")
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Forbidden);

    bed.send("instructor2", Verb::Delete, &path, &Value::Null)
        .await
        .unwrap();
    let error = bed.get("instructor2", &path).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn whoever_leaves_a_site_leaves_its_groups() {
    let bed = Testbed::demo().await;
    let before = group_member::Entity::find()
        .count(&bed.db.reader)
        .await
        .unwrap();
    let path = path(&bed, "student1", BIOLOGY);
    bed.send("instructor1", Verb::Delete, &path, &Value::Null)
        .await
        .unwrap();
    let after = group_member::Entity::find()
        .count(&bed.db.reader)
        .await
        .unwrap();
    assert_eq!(after, before - 1);
}

#[tokio::test]
async fn wrong_drafts_are_refused_by_field() {
    let bed = Testbed::demo().await;
    for (field, draft) in [
        ("userId", json!({"locationReference": "/site/biology-101"})),
        (
            "userId",
            json!({"locationReference": "/site/biology-101", "userId": "nobody"}),
        ),
        (
            "userEid",
            json!({"locationReference": "/site/biology-101", "userEid": "nobody"}),
        ),
        (
            "memberRole",
            json!({"locationReference": "/site/biology-101", "userEid": "instructor2", "memberRole": "maintain"}),
        ),
        ("locationReference", json!({"userEid": "instructor2"})),
    ] {
        let error = bed
            .send("instructor1", Verb::Post, "membership", &draft)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadRequest);
        assert_eq!(error.field_errors()[0].name, field, "{draft}");
    }
    let path = path(&bed, "student1", BIOLOGY);
    let change = json!({"memberRole": "king"});
    let error = bed
        .send("instructor1", Verb::Put, &path, &change)
        .await
        .unwrap_err();
    assert_eq!(error.field_errors()[0].name, "memberRole");
}

/// AUTHZ-9: role by role, who may give it to whom.
#[tokio::test]
async fn nobody_gives_a_role_above_their_own() {
    let bed = Testbed::demo().await;
    bed.grant(BIOLOGY, "Teaching Assistant", "site.upd.site.mbrshp")
        .await;
    bed.grant(BIOLOGY, "Teaching Assistant", "roster.viewallmembers")
        .await;
    let count = membership::Entity::find()
        .count(&bed.db.reader)
        .await
        .unwrap();
    let forbidden = Some(ErrorKind::Forbidden);
    for (eid, about, role, expected) in [
        ("student1", "student1", "Instructor", forbidden),
        ("student1", "student1", "Teaching Assistant", forbidden),
        ("ta1", "ta1", "Instructor", forbidden),
        ("ta1", "student1", "Instructor", forbidden),
        ("ta1", "student1", "Teaching Assistant", None),
        ("ta1", "instructor1", "Teaching Assistant", forbidden),
        ("instructor1", "student2", "Instructor", None),
        ("instructor1", "student2", "Student", None),
        ("admin", "student3", "Instructor", None),
        ("admin", "student3", "Student", None),
    ] {
        let path = path(&bed, about, BIOLOGY);
        let change = json!({"memberRole": role});
        let done = bed.send(eid, Verb::Put, &path, &change).await;
        assert_eq!(
            done.err().map(|it| it.kind()),
            expected,
            "{eid} makes {about} {role}"
        );
    }
    let of_instructor = path(&bed, "instructor1", BIOLOGY);
    let refused = refusal(&bed, "ta1", Verb::Delete, &of_instructor, Value::Null).await;
    assert_eq!(refused, ErrorKind::Forbidden);
    let draft = json!({"userEid": "instructor2", "locationReference": "/site/biology-101", "memberRole": "Instructor"});
    let refused = refusal(&bed, "ta1", Verb::Post, "membership", draft).await;
    assert_eq!(refused, ErrorKind::Forbidden);
    let after = membership::Entity::find()
        .count(&bed.db.reader)
        .await
        .unwrap();
    assert_eq!(after, count);
}

#[tokio::test]
async fn only_super_users_make_super_users() {
    let bed = Testbed::demo().await;
    let draft = json!({"userEid": "instructor1", "locationReference": "/site/!admin", "memberRole": "admin"});
    for eid in ["instructor1", "student1"] {
        let refused = refusal(&bed, eid, Verb::Post, "membership", draft.clone()).await;
        assert_eq!(refused, ErrorKind::Forbidden, "{eid}");
    }
    bed.send("admin", Verb::Post, "membership", &draft)
        .await
        .unwrap();
    let list = bed
        .get("instructor1", "membership/site/!admin")
        .await
        .unwrap();
    assert_eq!(texts(&list, "userEid"), ["admin", "instructor1"]);
}

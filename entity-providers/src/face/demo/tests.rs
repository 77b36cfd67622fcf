//! Tests of the demo university.

use entity_core::Caller;
use entity_core::engine::demo::Demo;
use entity_core::testing::origin;
use sea_orm::{EntityTrait, PaginatorTrait};

use crate::base::university::NEWS;
use crate::base::university::{BIOLOGY, FIELD_TRIP, HISTORY};
use crate::people::user::user;
use crate::storage::db::membership;
use crate::storage::db::site_parts::site_tool;
use crate::testbed::{Testbed, texts};

#[tokio::test]
async fn an_empty_database_is_filled_once() {
    let bed = Testbed::empty().await;
    let cx = bed.reader("").await;
    assert!(super::is_empty(&cx).await.unwrap());
    let summary = bed.fill().await.unwrap().unwrap();
    assert_eq!(summary.sites, [BIOLOGY, HISTORY, FIELD_TRIP, NEWS]);
    assert!(!super::is_empty(&cx).await.unwrap());
    let users = user::Entity::find().count(&bed.db.reader).await;
    assert_eq!(bed.fill().await.unwrap(), None);
    assert_eq!(user::Entity::find().count(&bed.db.reader).await, users);
}

#[tokio::test]
async fn everybody_is_where_they_belong() {
    let bed = Testbed::demo().await;
    for (eid, sites) in [
        ("admin", &["!admin"][..]),
        ("instructor1", &[BIOLOGY, FIELD_TRIP]),
        ("instructor2", &[HISTORY]),
        ("ta1", &[BIOLOGY, FIELD_TRIP]),
        ("student1", &[BIOLOGY, FIELD_TRIP]),
        ("student20", &[BIOLOGY, HISTORY]),
    ] {
        let list = bed.get(eid, "membership").await.unwrap();
        assert_eq!(texts(&list, "siteId"), sites, "{eid}");
    }
    let members = membership::Entity::find().count(&bed.db.reader).await;
    assert_eq!(members.unwrap(), 6 + 20 + 10 + 4);
    let tools = site_tool::Entity::find().count(&bed.db.reader).await;
    assert_eq!(tools.unwrap(), 11 + 11 + 5 + 1);
}

#[tokio::test]
async fn what_is_wrong_in_demo_data_is_told() {
    let bed = Testbed::demo().await;
    let origin = origin(Caller::anonymous());
    let poll = r#""send": "POST poll", "body": {"siteId": "biology-101", "text": "Why?"}"#;
    for (text, told) in [
        ("{}".to_owned(), "invalid type"),
        (
            format!(r#"[{{"as": "nobody", {poll}}}]"#),
            "no `person nobody`",
        ),
        (
            format!(r#"[{{"as": "student1", {poll}}}]"#),
            "`POST poll` of the demo data, as `student1`",
        ),
    ] {
        let mut unit = bed.dispatcher.atomic(&origin).await.unwrap();
        let mut demo = Demo::of([("student1", bed.id("student1"))], []);
        let error = demo.fill(&mut unit, &origin, &text).await.unwrap_err();
        assert!(format!("{error:?}").contains(told), "{error:?}");
    }
}

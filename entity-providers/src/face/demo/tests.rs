//! Tests of the demo university.

use sea_orm::{EntityTrait, PaginatorTrait};

use crate::base::university::NEWS;
use crate::base::university::{BIOLOGY, FIELD_TRIP, HISTORY};
use crate::people::user::user;
use crate::storage::db::{membership, site_tool};
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

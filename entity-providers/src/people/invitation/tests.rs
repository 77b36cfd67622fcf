//! Tests of invitations that the service itself removes.

use entity_core::{Caller, Context};
use sea_orm::{ConnectionTrait, EntityTrait, PaginatorTrait};

use super::invitation::Entity as Rows;
use super::sweep;
use crate::testbed::{Testbed, texts};

async fn sweep_once(bed: &Testbed) -> u64 {
    let done = bed.write(Caller::anonymous(), |cx: &Context| {
        Box::pin(sweep(cx, cx.now()))
    });
    done.await.unwrap()
}

#[tokio::test]
async fn what_is_over_is_removed_and_nothing_else() {
    let bed = Testbed::demo().await;
    let count = async || Rows::find().count(&bed.db.reader).await.unwrap();
    assert_eq!((sweep_once(&bed).await, count().await), (0, 2));
    let end = "UPDATE invitation SET expires = 1 WHERE invitee = 'student5'";
    bed.db.writer.execute_unprepared(end).await.unwrap();
    let seen = bed.get("instructor1", "invitation").await.unwrap();
    assert_eq!(texts(&seen, "invitee"), ["instructor2@example.edu"]);
    assert_eq!((sweep_once(&bed).await, count().await), (1, 1));
    let seen = bed.get("instructor2", "invitation").await.unwrap();
    assert_eq!(texts(&seen, "siteId"), ["field-trip"]);
}

#[tokio::test]
async fn a_sweep_takes_no_more_than_its_share() {
    let bed = Testbed::demo().await;
    let host = bed.id("instructor1");
    let rows: Vec<String> = (0..600)
        .map(|it| format!("('i{it}', 'field-trip', 'access', 'n{it}', 'n{it}', '{host}', 0, 1)"))
        .collect();
    let insert = format!(
        "INSERT INTO invitation (id, site_id, role, invitee, invitee_lower, invited_by, created, expires) VALUES {}",
        rows.join(", ")
    );
    bed.db.writer.execute_unprepared(&insert).await.unwrap();
    let mut swept = Vec::new();
    for _ in 0..3 {
        swept.push(sweep_once(&bed).await);
    }
    assert_eq!(swept, [500, 100, 0]);
}

//! Tests on database files of their own.

use entity_core::ErrorKind;
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, PaginatorTrait, QueryFilter};
use sea_orm_migration::MigrationTrait;

use super::{connect, migrate, realm_grant};
use crate::people::site::site;
use crate::storage::migration::{self, Tables};
use crate::testbed::Testbed;

#[tokio::test]
async fn migrating_again_changes_nothing() {
    let bed = Testbed::empty().await;
    let before = realm_grant::Entity::find()
        .count(&bed.db.reader)
        .await
        .unwrap();
    migrate(&bed.db, migration::migrations).await.unwrap();
    let after = realm_grant::Entity::find()
        .count(&bed.db.reader)
        .await
        .unwrap();
    assert!(before > 500);
    assert_eq!(before, after);
}

#[tokio::test]
async fn a_newer_database_is_refused() {
    fn newer() -> Vec<Box<dyn MigrationTrait>> {
        let mut all = migration::migrations();
        all.push(Box::new(Tables {
            name: "m29990101_000001_future",
            sql: "CREATE TABLE future (id TEXT NOT NULL);",
        }));
        all
    }
    let bed = Testbed::empty().await;
    migrate(&bed.db, newer).await.unwrap();
    let error = migrate(&bed.db, migration::migrations).await.unwrap_err();
    assert!(error.message().contains("m29990101_000001_future"));
}

#[tokio::test]
async fn a_migration_that_fails_leaves_nothing_behind() {
    fn broken() -> Vec<Box<dyn MigrationTrait>> {
        let mut all = migration::migrations();
        all.push(Box::new(Tables {
            name: "m29990101_000001_broken",
            sql: "CREATE TABLE half (id TEXT NOT NULL);\nCREATE NONSENSE;",
        }));
        all
    }
    let bed = Testbed::empty().await;
    assert!(migrate(&bed.db, broken).await.is_err());
    let half = bed
        .db
        .writer
        .execute_unprepared("SELECT id FROM half")
        .await;
    assert!(half.is_err());
    migrate(&bed.db, migration::migrations).await.unwrap();
}

#[tokio::test]
async fn readers_have_no_way_to_write() {
    let bed = Testbed::empty().await;
    let before = site::Entity::find().count(&bed.db.reader).await.unwrap();
    let done = bed.db.reader.execute_unprepared("DELETE FROM site").await;
    assert!(done.is_err());
    let after = site::Entity::find().count(&bed.db.reader).await.unwrap();
    assert!(before > 0);
    assert_eq!(before, after);
}

#[tokio::test]
async fn the_same_row_twice_is_a_conflict() {
    let bed = Testbed::empty().await;
    let row = realm_grant::ActiveModel {
        realm: Set("!pubview".to_owned()),
        role: Set("pubview".to_owned()),
        function: Set("site.visit".to_owned()),
        is_granted: Set(true),
    };
    let error = realm_grant::Entity::insert(row)
        .exec_without_returning(&bed.db.writer)
        .await
        .unwrap_err();
    assert_eq!(entity_core::Error::from(error).kind(), ErrorKind::Conflict);
}

#[tokio::test]
async fn addresses_that_are_no_database_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = format!("sqlite://{}/nowhere/at/all.db", folder.path().display());
    for url in [
        "",
        "lectern.db",
        "mysql://localhost/x",
        "sqlite::memory:",
        "sqlite://",
        "sqlite://x?mode=memory",
        &nowhere,
    ] {
        assert!(connect(url).await.is_err(), "{url}");
    }
}

#[tokio::test]
async fn the_default_grants_are_those_of_the_roles() {
    let bed = Testbed::empty().await;
    let holders = |function: &'static str| {
        let reader = bed.db.reader.clone();
        async move {
            let rows = realm_grant::Entity::find()
                .filter(realm_grant::Column::Realm.eq("!site.template.course"))
                .filter(realm_grant::Column::Function.eq(function))
                .all(&reader)
                .await
                .unwrap();
            let mut roles: Vec<String> = rows.into_iter().map(|it| it.role).collect();
            roles.sort();
            roles
        }
    };
    assert_eq!(
        holders("annc.read").await,
        ["Instructor", "Student", "Teaching Assistant"]
    );
    assert_eq!(holders("site.upd").await, ["Instructor"]);
    assert_eq!(
        holders("gradebook.gradeSection").await,
        ["Teaching Assistant"]
    );
    assert_eq!(
        holders("task.create").await,
        ["Instructor", "Teaching Assistant"]
    );
}

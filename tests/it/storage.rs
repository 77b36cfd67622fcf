//! The databases: those of the harness, of which each test has an empty one, and tables that change.

mod derived;
mod folded;
mod landed;
mod queries;
mod row_migrations;
mod schema;
mod searches;
mod trial;

use std::fs;
use std::time::Duration;

use http::StatusCode;
use sea_orm::{ConnectionTrait, Database as Connection, Statement};
use tests::{Backend, Database, OnBackend as _, TestApp, both};

both! {
    async fn a_test_has_an_empty_database_of_its_own(database: Database) {
        let connection = Connection::connect(database.url()).await.expect("it connects");
        connection
            .execute_unprepared("CREATE TABLE witness (seen INTEGER)")
            .await
            .expect("nobody else made this table");
        let query = Statement::from_string(
            connection.get_database_backend(),
            "SELECT count(*) AS number FROM witness",
        );
        let row = connection.query_one_raw(query).await.expect("it is there").expect("one row");
        assert_eq!(row.try_get::<i64>("", "number").expect("a number"), 0);
    }

    async fn another_test_may_use_the_same_names(database: Database) {
        let connection = Connection::connect(database.url()).await.expect("it connects");
        connection
            .execute_unprepared("CREATE TABLE witness (seen INTEGER)")
            .await
            .expect("nobody else made this table");
    }
}

/// Parts of a service once kept each other for ever, with the connections to its database.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_service_that_is_gone_has_no_file_open() {
    let app = TestApp::on_backend(Backend::Sqlite)
        .await
        .expect("SQLite is always there");
    let student = app.user("student1").await;
    student
        .get("/direct/site.json")
        .await
        .expect(StatusCode::OK);
    let folder = app.database().folder();
    let open_files = || {
        let links = fs::read_dir("/proc/self/fd").expect("a process of Linux");
        let targets = links.filter_map(|it| fs::read_link(it.ok()?.path()).ok());
        targets.filter(|it| it.starts_with(&folder)).count()
    };
    assert!(open_files() > 0, "the service has its database open");
    drop((student, app.into_database()));
    for _ in 0..1_200 {
        if open_files() == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{} files of the service are still open", open_files());
}

//! The databases: those of the harness, of which each test has an empty one, and tables that change.

mod derived;
mod folded;
mod schema;

use sea_orm::{ConnectionTrait, Database as Connection, Statement};
use tests::{Database, both};

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

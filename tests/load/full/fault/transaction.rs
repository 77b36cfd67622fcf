//! A transaction is over when its COMMIT succeeded, and nothing goes on after one of its statements failed.

use entity_core::ErrorKind;
use entity_core::db::{Db, Transaction};
use entity_providers::storage::db::connect;
use load::{Backend, Database, OnBackend, both};
use sea_orm::{ConnectionTrait, Statement};

async fn begin(db: &Db) -> Transaction {
    let begun = Transaction::begin(&db.writer, &db.faults).await;
    begun.expect("a transaction")
}

/// The numbers that others see.
async fn numbers(db: &Db) -> Vec<i64> {
    let backend = db.reader.get_database_backend();
    let sql = "SELECT CAST(number AS BIGINT) AS number FROM witness ORDER BY number";
    let found = db
        .reader
        .query_all_raw(Statement::from_string(backend, sql));
    let rows = found.await.expect("rows");
    let numbers = rows.iter().map(|it| it.try_get("", "number"));
    numbers.collect::<Result<_, _>>().expect("numbers")
}

async fn with_table(database: &Database) -> Db {
    let db = connect(database.url()).await.expect("a database");
    let sql = "CREATE TABLE witness (number BIGINT PRIMARY KEY)";
    db.writer.execute_unprepared(sql).await.expect("a table");
    db
}

both! {
    async fn rel_2_nothing_of_a_transaction_is_kept_after_one_of_its_statements_failed(database: Database) {
        let db = with_table(&database).await;
        let first = begin(&db).await;
        first.execute_unprepared("INSERT INTO witness VALUES (1)").await.expect("a row");
        first.commit().await.expect("it is kept");
        for _ in 0..3 {
            let failed = begin(&db).await;
            failed.execute_unprepared("INSERT INTO witness VALUES (2)").await.expect("a row");
            failed.execute_unprepared("INSERT INTO witness VALUES (1)").await.expect_err("a double");
            failed.execute_unprepared("INSERT INTO witness VALUES (3)").await.expect_err("it failed");
            let error = failed.commit().await.expect_err("it failed");
            assert_eq!(error.kind(), ErrorKind::Internal);
        }
        drop(begin(&db).await);
        let last = begin(&db).await;
        last.execute_unprepared("INSERT INTO witness VALUES (4)").await.expect("a row");
        last.commit().await.expect("it is kept");
        assert_eq!(numbers(&db).await, [1, 4]);
    }
}

#[tokio::test]
async fn rel_1_a_connection_that_was_left_in_a_transaction_does_not_serve() {
    let database = Database::on_backend(Backend::Sqlite).await.expect("a file");
    let db = with_table(&database).await;
    // The only connection that writes; the driver knows nothing of it.
    let left = "BEGIN IMMEDIATE; INSERT INTO witness VALUES (1)";
    db.writer.execute_unprepared(left).await.expect("a row");
    let next = begin(&db).await;
    next.execute_unprepared("INSERT INTO witness VALUES (2)")
        .await
        .expect("a row");
    next.commit().await.expect("it is kept");
    assert_eq!(numbers(&db).await, [2]);
}

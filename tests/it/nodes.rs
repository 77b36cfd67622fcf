//! Several nodes of one service, on one PostgreSQL database.

use std::thread;
use std::time::{Duration, Instant};

use sea_orm::{ConnectionTrait as _, Database as Connection, TransactionTrait as _};
use tests::process::{Process, run, service};
use tests::rows::texts;
use tests::{Client, Database};

const NODES: usize = 3;
/// More than a start takes on a machine that has much else to do.
const LONG: Duration = Duration::from_mins(2);
const WAITING: &str = "SELECT application_name AS line FROM pg_stat_activity WHERE datname = current_database() \
    AND wait_event_type = 'Lock'";

#[tokio::test]
async fn of_nodes_that_start_at_once_on_an_empty_database_one_fills_it_and_all_serve() {
    let Some(database) = Database::postgres(None).await else {
        return;
    };
    let made = run(&database, &["migrate"]).await;
    assert!(made.status.success(), "{made:?}");
    let connection = Connection::connect(database.url()).await;
    let connection = connection.expect("it connects");
    // All of them find it empty, before any can make an account.
    let transaction = connection.begin().await.expect("a transaction");
    let sql = "LOCK TABLE user_account IN SHARE MODE";
    transaction.execute_unprepared(sql).await.expect("a lock");
    let program = service(false);
    let (url, folder) = (database.url().to_owned(), database.folder());
    let starting = (0..NODES).map(|_| {
        let (program, url, folder) = (program.clone(), url.clone(), folder.clone());
        thread::spawn(move || Process::start_service_at(&program, &url, &folder, true))
    });
    let starting: Vec<_> = starting.collect();
    let since = Instant::now();
    while texts(&connection, WAITING).await.len() < NODES {
        assert!(since.elapsed() < LONG, "not all nodes come so far");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    transaction.commit().await.expect("the lock ends");
    for node in starting {
        let node = node.join().expect("each of them serves");
        let student = Client::on_port(node.port())
            .log_in("student1", "lectern-demo")
            .await;
        let sites = student.get("/direct/site.json").await.json();
        assert_eq!(sites["site_collection"].as_array().map(Vec::len), Some(2));
    }
    let filled = texts(&connection, "SELECT hash AS line FROM demo_password").await;
    assert_eq!(filled.len(), 1);
}

//! An audit log that stands still now and then, as on a disk that is slow: another program holds its lock.

use std::time::Duration;

use sea_orm::{ConnectOptions, ConnectionTrait as _, Database};
use tokio::time::{Instant, sleep, timeout_at};

use super::super::ground::Ground;
use super::super::tally::{NO_ANSWER, Tally};
use crate::Backend;

/// The time for which it stands still, and how long it goes on then.
const STALL: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_millis(1_500);

pub(super) async fn attack(ground: &Ground, until: Instant) -> Tally {
    let file = ground.database.folder().join("lectern.db.audit");
    let (url, lock) = match ground.database.backend() {
        Backend::Sqlite => (format!("sqlite://{}", file.display()), "BEGIN IMMEDIATE"),
        Backend::Postgres => (
            ground.database.url().to_owned(),
            "BEGIN; LOCK TABLE audit IN SHARE MODE",
        ),
    };
    let mut options = ConnectOptions::new(url);
    options.max_connections(1).sqlx_logging(false);
    let connection = Database::connect(options).await;
    let connection = connection.expect("the database is there");
    let mut tally = Tally::default();
    let stalls = async {
        loop {
            // The service may be writing right now.
            let is_locked = connection.execute_unprepared(lock).await.is_ok();
            sleep(STALL).await;
            if is_locked {
                drop(connection.execute_unprepared("ROLLBACK").await);
            }
            tally.add(if is_locked { 200 } else { NO_ANSWER });
            sleep(PAUSE).await;
        }
    };
    let over: Result<(), _> = timeout_at(until, stalls).await;
    drop(over);
    connection.close().await.expect("it closes");
    tally
}

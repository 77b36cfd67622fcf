//! Units of work that share one COMMIT on a SQLite file.

mod dispatched;

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use entity_core::db::{Db, Faults, GroupCommit, QueryPools, Session, Stop, Stops, is_at_rest};
use entity_core::unit::{CommitOutcome, End, Mode, Store as _, Unit};
use entity_core::{ErrorKind, Result};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use sea_orm::sqlx::Sqlite;
use sea_orm::sqlx::pool::PoolOptions;
use sea_orm::sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode};
use sea_orm::{ConnectionTrait as _, DbBackend, SqlxSqliteConnector, Statement};
use tempfile::TempDir;
use tokio::time::timeout;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_mins(1);
/// A statement that takes hours.
const ENDLESS: &str = "WITH RECURSIVE counted (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM counted WHERE number < 30000)
    UPDATE witness SET number = number WHERE (SELECT count(*) FROM counted AS a, counted AS b, counted AS c) > 0";

/// Stops the statement of the connection that was opened last.
#[derive(Debug, Default)]
struct LastStops(Mutex<Arc<AtomicBool>>);

#[derive(Debug)]
struct LastStop(Arc<AtomicBool>);

impl Stops for LastStops {
    fn begin(&self) -> Box<dyn Stop> {
        Box::new(LastStop(Arc::clone(&self.0.lock().unwrap())))
    }
}

impl Stop for LastStop {
    fn name(&self) -> Option<&str> {
        None
    }

    fn stop(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A file with a table, and how often something was committed to it.
struct File {
    _directory: TempDir,
    db: Db,
    commits: Arc<AtomicU32>,
}

impl File {
    async fn new(longest: Duration, most: usize) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let options = SqliteConnectOptions::new()
            .filename(directory.path().join("group.db"))
            .create_if_missing(true)
            .foreign_keys(true)
            .journal_mode(SqliteJournalMode::Wal);
        let (commits, stops) = (Arc::<AtomicU32>::default(), Arc::<LastStops>::default());
        let (count, own) = (Arc::clone(&commits), Arc::clone(&stops));
        let writer = PoolOptions::<Sqlite>::new()
            .max_connections(1)
            .before_acquire(|connection, _| {
                let may_serve = is_at_rest::<Sqlite>(connection);
                Box::pin(async move { Ok(may_serve) })
            })
            .after_connect(move |connection, _| {
                let (count, is_stopped) = (Arc::clone(&count), Arc::<AtomicBool>::default());
                *own.0.lock().unwrap() = Arc::clone(&is_stopped);
                Box::pin(async move {
                    let mut handle = connection.lock_handle().await?;
                    handle.set_progress_handler(1_000, move || !is_stopped.load(Ordering::SeqCst));
                    handle.set_commit_hook(move || {
                        count.fetch_add(1, Ordering::SeqCst);
                        true
                    });
                    Ok(())
                })
            });
        let writer = writer.connect_with(options.clone()).await.unwrap();
        let writer = SqlxSqliteConnector::from_sqlx_sqlite_pool(writer);
        let table = "CREATE TABLE witness (number INTEGER PRIMARY KEY,
            needs INTEGER REFERENCES witness (number) DEFERRABLE INITIALLY DEFERRED)";
        writer.execute_unprepared(table).await.unwrap();
        let usage = "CREATE TABLE usage (kind TEXT, id TEXT, entities INTEGER, bytes INTEGER)";
        writer.execute_unprepared(usage).await.unwrap();
        let reader = PoolOptions::<Sqlite>::new()
            .connect_with(options.read_only(true))
            .await;
        commits.store(0, Ordering::SeqCst);
        Self {
            _directory: directory,
            db: Db {
                reader: SqlxSqliteConnector::from_sqlx_sqlite_pool(reader.unwrap()),
                writer,
                file: None,
                query_pools: QueryPools::default(),
                faults: Faults::default(),
                stops: Some(stops),
                groups: GroupCommit::new(longest, most),
            },
            commits,
        }
    }

    async fn share(&self) -> Box<dyn Unit> {
        self.db.begin(Mode::Share).await.unwrap()
    }

    /// The numbers that others see.
    async fn numbers(&self) -> Vec<i64> {
        let sql = "SELECT number FROM witness ORDER BY number";
        let statement = Statement::from_string(DbBackend::Sqlite, sql);
        let rows = self.db.reader.query_all_raw(statement).await.unwrap();
        rows.iter()
            .map(|it| it.try_get("", "number").unwrap())
            .collect()
    }

    fn commits(&self) -> u32 {
        self.commits.load(Ordering::SeqCst)
    }
}

async fn run(unit: &dyn Unit, sql: &str) -> Result<()> {
    let session: &Session = unit.as_any().downcast_ref().unwrap();
    session.execute_unprepared(sql).await?;
    Ok(())
}

async fn insert(unit: &dyn Unit, number: u32) -> Result<()> {
    run(
        unit,
        &format!("INSERT INTO witness (number) VALUES ({number})"),
    )
    .await
}

/// Ends `unit` while others wait; what it answers later.
async fn leave(unit: Box<dyn Unit>, end: End) -> BoxFuture<'static, Result<()>> {
    match unit.end(end, true).await.unwrap() {
        CommitOutcome::Later(outcome) => outcome,
        CommitOutcome::Now => panic!("it was over at once"),
    }
}

/// Ends `unit` when nobody waits.
async fn end_last(unit: Box<dyn Unit>) -> Result<()> {
    match unit.end(End::Keep, false).await? {
        CommitOutcome::Now => Ok(()),
        CommitOutcome::Later(_) => panic!("it waits for nobody"),
    }
}

async fn soon<T>(outcome: impl Future<Output = T>) -> T {
    timeout(LONG, outcome).await.unwrap()
}

#[track_caller]
fn assert_lost(outcome: &Result<()>) {
    let error = outcome.as_ref().unwrap_err();
    assert!(error.is_transient(), "{error:?}");
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert_ne!(error.code(), Some(entity_core::engine::OUTCOME_UNKNOWN));
}

#[tokio::test]
async fn rel_9_units_of_work_share_one_commit_and_are_told_after_it() {
    let file = File::new(LONG, 64).await;
    let mut told = Vec::new();
    for number in 1..=3 {
        let unit = file.share().await;
        assert_eq!(unit.is_joined(), number > 1);
        insert(&*unit, number).await.unwrap();
        told.push(leave(unit, End::Keep).await);
    }
    for outcome in &mut told {
        assert!(outcome.now_or_never().is_none());
    }
    assert_eq!(file.numbers().await, [0; 0]);
    let last = file.share().await;
    insert(&*last, 4).await.unwrap();
    end_last(last).await.unwrap();
    for outcome in told {
        soon(outcome).await.unwrap();
    }
    assert_eq!(file.numbers().await, [1, 2, 3, 4]);
    assert_eq!(file.commits(), 1);
}

#[tokio::test]
async fn rel_9_one_that_fails_takes_nothing_with_it_and_is_told_after_the_commit() {
    let file = File::new(LONG, 64).await;
    let first = file.share().await;
    insert(&*first, 1).await.unwrap();
    let first = leave(first, End::Keep).await;
    let refused = file.share().await;
    insert(&*refused, 2).await.unwrap();
    let error = insert(&*refused, 1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    let mut refused = leave(refused, End::GiveUp).await;
    assert!((&mut refused).now_or_never().is_none());
    let last = file.share().await;
    insert(&*last, 2).await.unwrap();
    end_last(last).await.unwrap();
    soon(first).await.unwrap();
    soon(refused).await.unwrap();
    assert_eq!(file.numbers().await, [1, 2]);
    assert_eq!(file.commits(), 1);
}

#[tokio::test]
async fn rel_9_where_the_commit_fails_all_are_told_to_try_again() {
    let file = File::new(LONG, 64).await;
    let first = file.share().await;
    insert(&*first, 1).await.unwrap();
    let first = leave(first, End::Keep).await;
    let refused = file.share().await;
    insert(&*refused, 1).await.unwrap_err();
    let refused = leave(refused, End::GiveUp).await;
    let last = file.share().await;
    run(&*last, "INSERT INTO witness VALUES (2, 3)")
        .await
        .unwrap();
    assert_lost(&end_last(last).await);
    assert_lost(&soon(first).await);
    assert_lost(&soon(refused).await);
    assert_eq!(file.numbers().await, [0; 0]);
    let next = file.share().await;
    assert!(!next.is_joined());
    insert(&*next, 1).await.unwrap();
    end_last(next).await.unwrap();
    assert_eq!(file.numbers().await, [1]);
}

#[tokio::test]
async fn rel_9_one_that_is_dropped_between_statements_takes_nothing_with_it() {
    let file = File::new(LONG, 64).await;
    let first = file.share().await;
    insert(&*first, 1).await.unwrap();
    let first = leave(first, End::Keep).await;
    let dropped = file.share().await;
    insert(&*dropped, 2).await.unwrap();
    drop(dropped);
    soon(first).await.unwrap();
    assert_eq!(file.numbers().await, [1]);
    // One that nobody waits for yet is simply gone.
    let alone = file.share().await;
    insert(&*alone, 3).await.unwrap();
    drop(alone);
    let next = file.share().await;
    insert(&*next, 4).await.unwrap();
    end_last(next).await.unwrap();
    assert_eq!(file.numbers().await, [1, 4]);
}

#[tokio::test]
async fn rel_9_a_statement_that_is_stopped_loses_those_before_it_who_are_told_so() {
    let file = File::new(LONG, 64).await;
    for end in [Some(End::GiveUp), None] {
        let first = file.share().await;
        insert(&*first, 1).await.unwrap();
        let first = leave(first, End::Keep).await;
        let endless = file.share().await;
        let work = run(&*endless, ENDLESS);
        assert!(timeout(Duration::from_millis(500), work).await.is_err());
        match end {
            Some(end) => assert_lost(&endless.end(end, true).await.map(drop)),
            None => drop(endless),
        }
        assert_lost(&soon(first).await);
        assert_eq!(file.numbers().await, [0; 0]);
    }
    let next = file.share().await;
    insert(&*next, 1).await.unwrap();
    end_last(next).await.unwrap();
    assert_eq!(file.numbers().await, [1]);
}

#[tokio::test]
async fn rel_9_nobody_waits_for_one_who_never_comes() {
    let file = File::new(Duration::from_millis(5), 64).await;
    for number in 1..=3 {
        let unit = file.share().await;
        insert(&*unit, number).await.unwrap();
        soon(leave(unit, End::Keep).await).await.unwrap();
    }
    let unit = file.share().await;
    insert(&*unit, 4).await.unwrap();
    // Neither does it matter whether the one who waits is still there.
    drop(leave(unit, End::Keep).await);
    let last = file.share().await;
    insert(&*last, 5).await.unwrap();
    end_last(last).await.unwrap();
    assert_eq!(file.numbers().await, [1, 2, 3, 4, 5]);
}

#[tokio::test]
async fn rel_9_a_group_has_an_end_and_who_writes_alone_ends_it() {
    let file = File::new(LONG, 2).await;
    let first = file.share().await;
    insert(&*first, 1).await.unwrap();
    let first = leave(first, End::Keep).await;
    let second = file.share().await;
    insert(&*second, 2).await.unwrap();
    assert!(matches!(
        second.end(End::Keep, true).await,
        Ok(CommitOutcome::Now)
    ));
    soon(first).await.unwrap();
    let third = file.share().await;
    assert!(!third.is_joined());
    insert(&*third, 3).await.unwrap();
    let third = leave(third, End::Keep).await;
    let alone = file.db.begin(Mode::Write).await.unwrap();
    assert!(!alone.is_joined());
    assert_eq!(file.numbers().await, [1, 2, 3]);
    soon(third).await.unwrap();
    insert(&*alone, 4).await.unwrap();
    assert!(matches!(
        alone.end(End::Keep, true).await,
        Ok(CommitOutcome::Now)
    ));
    assert_eq!(file.numbers().await, [1, 2, 3, 4]);
    assert_eq!(file.commits(), 3);
}

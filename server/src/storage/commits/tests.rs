//! Who shares a commit, and who does not suffer from it.

use std::future::Future as _;
use std::task::{Context, Poll, Waker};

use sea_orm::{ConnectionTrait as _, DbBackend, Statement};
use tempfile::TempDir;
use tokio::task::JoinSet;

use super::*;

struct Fixture {
    _folder: TempDir,
    commits: SharedCommits,
}

impl Fixture {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("test.db");
        let url = format!("sqlite://{}", file.display());
        let db = entity_providers::db::connect(&url).await.unwrap();
        for sql in [
            "CREATE TABLE note (id INTEGER PRIMARY KEY)",
            "CREATE TABLE reply (note INTEGER REFERENCES note (id) DEFERRABLE INITIALLY DEFERRED)",
        ] {
            db.writer.execute_unprepared(sql).await.unwrap();
        }
        Self {
            _folder: folder,
            // Long enough for the slowest machine.
            commits: SharedCommits {
                patience: Duration::from_mins(1),
                window: Duration::from_mins(1),
                ..SharedCommits::new(db)
            },
        }
    }

    async fn begin(&self) -> Session {
        self.commits.begin_part().await.unwrap()
    }

    /// What everybody else sees, who does not write.
    async fn seen(&self) -> Vec<i32> {
        let sql = Statement::from_string(DbBackend::Sqlite, "SELECT id FROM note ORDER BY id");
        let rows = self.commits.db.reader.query_all_raw(sql).await.unwrap();
        rows.iter()
            .map(|it| it.try_get("", "id").unwrap())
            .collect()
    }
}

async fn insert(unit: &Session, id: i32) -> bool {
    let sql = format!("INSERT INTO note (id) VALUES ({id})");
    unit.execute_unprepared(&sql).await.is_ok()
}

async fn commit(unit: Session) -> Result<()> {
    Box::new(unit).commit().await
}

#[tokio::test]
async fn rel_9_who_waits_goes_into_the_commit_and_nobody_is_told_before_it() {
    let fixture = Fixture::new().await;
    let first = fixture.begin().await;
    assert!(insert(&first, 1).await);
    let mut waiting = Box::pin(fixture.begin());
    let mut idle = Context::from_waker(Waker::noop());
    assert!(waiting.as_mut().poll(&mut idle).is_pending());

    let first = tokio::spawn(commit(first));
    let second = waiting.await;
    assert!(insert(&second, 2).await);
    assert!(fixture.seen().await.is_empty(), "nothing is committed");
    assert!(!first.is_finished(), "the first is not told");
    let second = tokio::spawn(commit(second));
    first.await.unwrap().unwrap();
    assert_eq!(fixture.seen().await, [1, 2], "one commit for both");
    second.await.unwrap().unwrap();
}

#[tokio::test]
async fn rel_9_alone_nobody_waits_for_company() {
    let fixture = Fixture::new().await;
    for id in 0..20 {
        let unit = fixture.begin().await;
        assert!(insert(&unit, id).await);
        commit(unit).await.unwrap();
        assert_eq!(fixture.seen().await.last(), Some(&id));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rel_9_what_is_given_up_takes_nobody_along() {
    let fixture = Arc::new(Fixture::new().await);
    let mut units = JoinSet::new();
    for id in 0..200 {
        let fixture = Arc::clone(&fixture);
        units.spawn(async move {
            let unit = fixture.begin().await;
            assert!(insert(&unit, id).await);
            match id % 4 {
                // It was dropped, or a statement failed first; a failed statement alone is no failure.
                1 => return None,
                2 => {
                    assert!(!insert(&unit, id).await, "the same row twice");
                    return None;
                }
                3 => assert!(!insert(&unit, id).await, "the same row twice"),
                _ => {}
            }
            commit(unit).await.unwrap();
            Some(id)
        });
    }
    let done = units.join_all().await;
    let mut expected: Vec<i32> = done.into_iter().flatten().collect();
    expected.sort_unstable();
    assert_eq!(expected.len(), 100);
    assert_eq!(fixture.seen().await, expected);
}

#[tokio::test]
async fn rel_9_when_the_commit_fails_all_are_told_to_run_again() {
    let fixture = Fixture::new().await;
    let innocent = fixture.begin().await;
    assert!(insert(&innocent, 1).await);
    let mut waiting = Box::pin(fixture.begin());
    let mut idle = Context::from_waker(Waker::noop());
    assert!(waiting.as_mut().poll(&mut idle).is_pending());
    let innocent = tokio::spawn(commit(innocent));
    let guilty = waiting.await;
    // It is found out at the commit only.
    let orphan = "INSERT INTO reply (note) VALUES (99)";
    guilty.execute_unprepared(orphan).await.unwrap();
    let guilty = tokio::spawn(commit(guilty));
    for unit in [innocent, guilty] {
        assert!(unit.await.unwrap().unwrap_err().is_transient());
    }
    assert!(fixture.seen().await.is_empty());

    let again = fixture.begin().await;
    assert!(insert(&again, 1).await);
    commit(again).await.unwrap();
    let alone = fixture.begin().await;
    alone.execute_unprepared(orphan).await.unwrap();
    assert!(
        !commit(alone).await.unwrap_err().is_transient(),
        "its own fault"
    );
    assert_eq!(fixture.seen().await, [1]);
}

#[tokio::test]
async fn rel_9_who_is_cut_off_leaves_the_writer_to_others() {
    let fixture = Fixture::new().await;
    // Cut off while it waits, while it works, and while it waits for its commit.
    let holder = fixture.begin().await;
    let mut idle = Context::from_waker(Waker::noop());
    {
        let mut waiting = Box::pin(fixture.begin());
        assert!(waiting.as_mut().poll(&mut idle).is_pending());
    }
    drop(holder);
    let unit = fixture.begin().await;
    assert!(insert(&unit, 1).await);
    let mut committing = Box::pin(commit(unit));
    while fixture.seen().await.is_empty() {
        if let Poll::Ready(done) = committing.as_mut().poll(&mut idle) {
            done.unwrap();
            break;
        }
    }
    drop(committing);
    let unit = fixture.begin().await;
    assert!(insert(&unit, 2).await);
    commit(unit).await.unwrap();
    assert_eq!(fixture.seen().await, [1, 2]);
}

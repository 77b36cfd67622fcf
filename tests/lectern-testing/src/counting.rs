//! A database that counts the statements that read it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use entity_core::Dispatcher;
use entity_core::db::{Db, Lane, LaneCounts, Lanes, Take};
use entity_core::testing::KeptEvents;
use sea_orm::{ConnectionTrait, DatabaseConnection, DbErr, QueryResult, Statement};
use server::App;

/// The number of statements so far.
#[derive(Clone, Debug, Default)]
pub struct Count(Arc<AtomicUsize>);

impl Count {
    /// Returns the number, and begins anew.
    pub fn take(&self) -> usize {
        self.0.swap(0, Ordering::SeqCst)
    }
}

/// Returns a dispatcher of the same service that counts in `count` the statements by which it reads.
pub fn counting_dispatcher(app: &App, count: &Count) -> Dispatcher {
    Dispatcher::new(
        Arc::new(app.dispatcher.registry().clone()),
        Arc::new(counted(&app.storage.content, count)),
        Arc::new(KeptEvents::default()),
        Arc::clone(app.dispatcher.shared()),
    )
}

/// Returns `db` with each statement that reads counted in `count`.
fn counted(db: &Db, count: &Count) -> Db {
    let lane = |inner: &Option<Arc<dyn Lane>>| -> Option<Arc<dyn Lane>> {
        Some(Arc::new(Counting {
            inner: inner.clone(),
            reader: db.reader.clone(),
            count: count.clone(),
        }))
    };
    Db {
        // What is read without a connection can't be counted.
        file: None,
        lanes: Lanes {
            reads: lane(&db.lanes.reads),
            scans: lane(&db.lanes.scans),
            probe: db.lanes.probe.clone(),
        },
        ..db.clone()
    }
}

/// A lane that counts, and passes statements on to another one or, without one, to the readers.
#[derive(Debug)]
struct Counting {
    inner: Option<Arc<dyn Lane>>,
    reader: DatabaseConnection,
    count: Count,
}

impl Counting {
    fn note(&self) {
        self.count.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl Lane for Counting {
    async fn query_all(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        self.note();
        match &self.inner {
            Some(inner) => inner.query_all(statement).await,
            None => self.reader.query_all_raw(statement).await,
        }
    }

    async fn each(&self, statement: Statement, take: &mut Take<'_>) -> Result<(), DbErr> {
        self.note();
        if let Some(inner) = &self.inner {
            return inner.each(statement, take).await;
        }
        for row in self.reader.query_all_raw(statement).await? {
            if !take(row) {
                break;
            }
        }
        Ok(())
    }

    fn counts(&self) -> LaneCounts {
        LaneCounts::default()
    }
}

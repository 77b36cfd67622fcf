//! A database that counts the statements that read it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use entity_core::db::{Db, Lane, LaneCounts, Lanes, Take};
use entity_core::testing::{KeptEvents, origin};
use entity_core::{
    Body, Caller, DirectPath, Dispatcher, Input, Origin, Piece, Preconditions, Reply, Request, Verb,
};
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

/// Reads a service as a caller does, and counts the statements that this takes.
#[derive(Debug)]
pub struct Counter {
    dispatcher: Dispatcher,
    count: Count,
}

/// What reading something took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The number of statements.
    pub statements: usize,
    /// The number of entities of a list, or 1 for any other answer.
    pub shown: usize,
}

impl Counter {
    /// Returns a counter of the statements of `app`.
    pub fn of(app: &App) -> Self {
        let count = Count::default();
        Self {
            dispatcher: counting_dispatcher(app, &count),
            count,
        }
    }

    /// Returns what it takes to read `path` with `query` on behalf of `caller`. What is remembered from request to request
    /// is counted the first time.
    ///
    /// # Errors
    /// Returns an error if the caller may not read this, or if there is nothing at `path`.
    pub async fn read(
        &self,
        caller: &Caller,
        path: &str,
        query: &[(String, String)],
    ) -> entity_core::Result<Cost> {
        let request = Request {
            path: DirectPath::parse(path, |_| false)?,
            verb: Verb::Get,
            query: query.to_vec(),
            input: Input::default(),
            preconditions: Preconditions::default(),
            is_dry_run: false,
            wants_abilities: false,
            origin: origin(caller.clone()),
        };
        self.count.take();
        let reply = self.dispatcher.dispatch(&request).await?;
        let shown = match &reply.body {
            Body::Collection(list) => list.items.len(),
            _ => 1,
        };
        drained(&self.dispatcher, &request.origin, reply).await?;
        let statements = self.count.take();
        Ok(Cost { statements, shown })
    }
}

/// Returns the pieces of `reply` to a request of `origin`, if it is streamed.
///
/// # Errors
/// Returns an error if a piece can't be read.
///
/// # Panics
/// Panics if the pieces were read before.
pub async fn drained(
    dispatcher: &Dispatcher,
    origin: &Origin,
    reply: Reply,
) -> entity_core::Result<Vec<Piece>> {
    let Body::Stream(streaming) = reply.body else {
        return Ok(Vec::new());
    };
    let mut source = streaming.take().expect("pieces that nobody has read");
    let mut pieces = Vec::new();
    loop {
        let work = dispatcher.read(origin, move |cx| {
            Box::pin(async move { Ok((source.next(cx).await?, source)) })
        });
        let (piece, rest) = work.await?;
        source = rest;
        let is_last = piece.is_last;
        pieces.push(piece);
        if is_last {
            return Ok(pieces);
        }
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

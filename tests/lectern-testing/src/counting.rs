//! A database that counts the statements that read it and those of what writes to it.

use std::mem::take;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use entity_core::db::{Db, QueryPool, QueryPoolCounts, QueryPools, RowVisitor, Stop, Stops};
use entity_core::engine::{DirectPath, Dispatcher, Origin, Piece, Request};
use entity_core::reply::{Body, Reply};
use entity_core::testing::{KeptEvents, origin};
use entity_core::{Caller, Input, Preconditions, Verb};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbErr, QueryResult, Statement};
use serde_json::{Map, Value};
use server::App;

/// The number of statements so far.
#[derive(Clone, Debug, Default)]
pub struct Count(Arc<Mutex<Noted>>);

#[derive(Debug, Default)]
struct Noted {
    number: usize,
    /// Those of them that read on their own.
    reads: Vec<Statement>,
}

impl Count {
    fn note(&self, read: Option<&Statement>) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.number += 1;
        noted.reads.extend(read.cloned());
    }

    /// Returns the number, and begins anew.
    pub fn take(&self) -> usize {
        self.take_all().number
    }

    fn take_all(&self) -> Noted {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        take(&mut noted)
    }
}

/// Asks a service as a caller does, and counts the statements that this takes.
#[derive(Debug)]
pub struct Counter {
    dispatcher: Dispatcher,
    count: Count,
}

/// The cost of a request.
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

    /// Returns the cost of reading `path` with `query` on behalf of `caller`. Caches are filled the first time, which
    /// counts.
    ///
    /// # Errors
    /// Returns an error if the caller may not read this, or if there is nothing at `path`.
    pub async fn read(
        &self,
        caller: &Caller,
        path: &str,
        query: &[(String, String)],
    ) -> entity_core::Result<Cost> {
        let asked = self.ask(caller, Verb::Get, path, (query, Input::default()));
        Ok(asked.await?.0)
    }

    /// Returns the statements that it takes to read `path` with `query` on behalf of `caller`, without those of which the
    /// result is remembered from request to request.
    ///
    /// # Errors
    /// Fails as [`read`](Self::read) does.
    pub async fn statements(
        &self,
        caller: &Caller,
        path: &str,
        query: &[(String, String)],
    ) -> entity_core::Result<Vec<Statement>> {
        self.read(caller, path, query).await?;
        let again = self.ask(caller, Verb::Get, path, (query, Input::default()));
        Ok(again.await?.1)
    }

    /// Returns what it takes to post `fields` to `path` on behalf of `caller`.
    ///
    /// # Errors
    /// Fails as the request does.
    pub async fn post(
        &self,
        caller: &Caller,
        path: &str,
        fields: Map<String, Value>,
    ) -> entity_core::Result<Cost> {
        let input = Input {
            fields,
            ..Input::default()
        };
        Ok(self.ask(caller, Verb::Post, path, (&[], input)).await?.0)
    }

    async fn ask(
        &self,
        caller: &Caller,
        verb: Verb,
        path: &str,
        (query, input): (&[(String, String)], Input),
    ) -> entity_core::Result<(Cost, Vec<Statement>)> {
        let request = Request {
            path: DirectPath::parse(path, |_| false)?,
            verb,
            query: query.to_vec(),
            input,
            preconditions: Preconditions::default(),
            is_dry_run: false,
            wants_allowed_actions: false,
            origin: origin(caller.clone()),
        };
        self.count.take();
        let reply = self.dispatcher.dispatch(&request).await?;
        let shown = match &reply.body {
            Body::Collection(list) => list.items.len(),
            _ => 1,
        };
        drained(&self.dispatcher, &request.origin, reply).await?;
        let noted = self.count.take_all();
        let cost = Cost {
            statements: noted.number,
            shown,
        };
        Ok((cost, noted.reads))
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
    let pool = |inner: &Option<Arc<dyn QueryPool>>| -> Option<Arc<dyn QueryPool>> {
        Some(Arc::new(Counting {
            inner: inner.clone(),
            reader: db.reader.clone(),
            count: count.clone(),
        }))
    };
    Db {
        // What is read without a connection can't be counted.
        file: None,
        query_pools: QueryPools {
            reads: pool(&db.query_pools.reads),
            scans: pool(&db.query_pools.scans),
            probe: db.query_pools.probe.clone(),
        },
        stops: Some(Arc::new(CountingStops {
            inner: db.stops.clone(),
            count: count.clone(),
        })),
        ..db.clone()
    }
}

/// A query pool that counts, and passes statements on to another one or, without one, to the readers.
#[derive(Debug)]
struct Counting {
    inner: Option<Arc<dyn QueryPool>>,
    reader: DatabaseConnection,
    count: Count,
}

#[async_trait]
impl QueryPool for Counting {
    async fn query_all(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        self.count.note(Some(&statement));
        match &self.inner {
            Some(inner) => inner.query_all(statement).await,
            None => self.reader.query_all_raw(statement).await,
        }
    }

    async fn each(&self, statement: Statement, take: &mut RowVisitor<'_>) -> Result<(), DbErr> {
        self.count.note(Some(&statement));
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

    fn counts(&self) -> QueryPoolCounts {
        QueryPoolCounts::default()
    }
}

/// Counts the statements of transactions.
#[derive(Debug)]
struct CountingStops {
    inner: Option<Arc<dyn Stops>>,
    count: Count,
}

impl Stops for CountingStops {
    fn begin(&self) -> Box<dyn Stop> {
        Box::new(CountingStop {
            inner: self.inner.as_ref().map(|it| it.begin()),
            count: self.count.clone(),
        })
    }
}

#[derive(Debug)]
struct CountingStop {
    inner: Option<Box<dyn Stop>>,
    count: Count,
}

impl Stop for CountingStop {
    fn name(&self) -> Option<&str> {
        self.inner.as_ref().and_then(|it| it.name())
    }

    fn see(&self) {
        self.count.note(None);
    }

    fn stop(&self) {
        if let Some(inner) = &self.inner {
            inner.stop();
        }
    }
}

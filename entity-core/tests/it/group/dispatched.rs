//! The same through the dispatcher: requests of several people who wait for their turns to write.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use entity_core::db::{Quota, Quotas};
use entity_core::engine::{
    Audit, DirectPath, Dispatcher, Origin, QUOTA_EXCEEDED, Request, Route, Timer, Turn, WriteLimit,
    WritePermit, WriteQueue,
};
use entity_core::testing::{KeptEvents, ToldAuthorizer, origin, shared};
use entity_core::{
    Access, Context, Create, Entity, Error, ErrorKind, Fields, Need, Preconditions, Provider, Read,
    Registry, Result, Verb,
};
use futures::future::{BoxFuture, join_all};
use sea_orm::ConnectionTrait as _;
use serde::Serialize;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{File, LONG, soon};
use crate::notes::{caller, input};

/// One after the other, first come, first served.
#[derive(Clone)]
struct Line {
    place: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
}

struct Place {
    _permit: OwnedSemaphorePermit,
    waiting: Arc<AtomicUsize>,
}

impl Line {
    fn new() -> Self {
        Self {
            place: Arc::new(Semaphore::new(1)),
            waiting: Arc::default(),
        }
    }

    /// Waits until so many wait for their turn.
    async fn has(&self, count: usize) {
        while self.waiting.load(Ordering::SeqCst) < count {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

#[async_trait]
impl WriteQueue for Line {
    async fn wait(&self, _origin: &Origin, _shares: bool) -> Result<Turn> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let permit = Arc::clone(&self.place).acquire_owned().await;
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        Ok(Turn::of(Place {
            _permit: permit.map_err(Error::internal)?,
            waiting: Arc::clone(&self.waiting),
        }))
    }
}

impl WritePermit for Place {
    fn is_shared(&self) -> bool {
        true
    }

    fn is_awaited(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    fn rest(&mut self) {}
}

struct Alarm;

impl Timer for Alarm {
    fn after(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Something that counts as ada's.
#[derive(Clone, Debug, Serialize, Entity)]
struct Thing {
    #[entity(id)]
    id: String,
}

#[derive(Debug)]
struct Things;

impl Provider for Things {
    type Entity = Thing;
    const PREFIX: &'static str = "thing";
    const ACCESS: Access = Access::new(Need::Session, Need::Session);
}

impl Read for Things {
    async fn read(_cx: &Context, _id: &str) -> Result<Option<Thing>> {
        Ok(None)
    }
}

impl Create for Things {
    type Draft = Fields;

    fn site(_draft: &Fields) -> Option<&str> {
        None
    }

    async fn create(cx: &Context, _draft: Fields) -> Result<Thing> {
        let count = "UPDATE usage SET entities = entities + 1 WHERE id = 'ada'";
        cx.db()?.execute_unprepared(count).await?;
        Ok(Thing { id: cx.new_id() })
    }
}

struct Service {
    file: File,
    line: Line,
    dispatcher: Dispatcher,
    events: Arc<KeptEvents>,
}

impl Service {
    /// A service whose units of work have all the time that they need.
    async fn start() -> Self {
        Self::with_time_for_the_joined(LONG).await
    }

    async fn with_time_for_the_joined(joined: Duration) -> Self {
        let (file, line) = (File::new(LONG, 64).await, Line::new());
        let events = Arc::<KeptEvents>::default();
        let limit = WriteLimit {
            length: LONG,
            joined,
            timer: Arc::new(Alarm),
        };
        let route = Route::of::<Things>(("tests", "1.0.0"))
            .read()
            .create()
            .build();
        let most = Quota {
            entities: 90,
            bytes: 0,
        };
        let quotas = Quotas::new(most, Quota::default(), file.db.reader.clone());
        let mut shared = shared(ToldAuthorizer::default());
        shared.services.insert(Arc::new(quotas));
        let dispatcher = Dispatcher::new(
            Arc::new(Registry::new([route]).unwrap()),
            Arc::new(file.db.clone()),
            events.clone(),
            shared,
        );
        Self {
            dispatcher: dispatcher
                .with_write_queue(Some(Arc::new(line.clone())))
                .with_write_limit(Some(limit)),
            file,
            line,
            events,
        }
    }

    /// The results of `all`, `count` of which wait for their turn before the first one has it.
    async fn gather<T>(&self, count: usize, all: impl Future<Output = T>) -> T {
        let held = Arc::clone(&self.line.place).acquire_owned().await.unwrap();
        let begin = async move {
            self.line.has(count).await;
            drop(held);
        };
        soon(async { tokio::join!(begin, all).1 }).await
    }

    /// Writes by `sql` in the name of `eid`, and has the right to write until `waiting` others wait for it, on the first
    /// try. How often it was tried.
    async fn write(&self, eid: &str, sql: &str, waiting: usize) -> (Result<()>, u32) {
        let tries = Arc::<AtomicU32>::default();
        let (sql, line, count) = (sql.to_owned(), self.line.clone(), Arc::clone(&tries));
        let origin = origin(caller(eid));
        let written = self.dispatcher.write(&origin, move |cx| {
            let (sql, line, count) = (sql.clone(), line.clone(), Arc::clone(&count));
            Box::pin(async move {
                let is_first = count.fetch_add(1, Ordering::SeqCst) == 0;
                cx.db()?.execute_unprepared(&sql).await?;
                if is_first {
                    line.has(waiting).await;
                }
                cx.emit("written", sql, None);
                Ok(((), Audit::Later))
            })
        });
        let written = written.await;
        (written, tries.load(Ordering::SeqCst))
    }
}

#[tokio::test]
async fn rel_9_many_that_write_at_once_need_few_commits() {
    let service = Service::start().await;
    // The first one waits for the fifteen others, and so begins the group of all.
    let all = (0..16).map(|number| {
        let row = number / 2;
        let sql = format!("INSERT INTO witness (number) VALUES ({row})");
        let service = &service;
        async move { service.write("ada", &sql, 15 - number).await.0 }
    });
    let all = Box::pin(service.gather(16, join_all(all))).await;
    // Of two with the same number the second one is refused.
    for (number, written) in all.iter().enumerate() {
        let expected = (number % 2 == 1).then_some(ErrorKind::Conflict);
        assert_eq!(written.as_ref().err().map(Error::kind), expected);
    }
    assert_eq!(service.file.numbers().await, (0..8).collect::<Vec<_>>());
    assert_eq!(service.file.commits(), 1);
    assert_eq!(service.events.all().len(), 8);
}

#[tokio::test]
async fn rel_9_nobody_is_refused_because_of_what_was_never_kept() {
    let service = Service::start().await;
    let wrong = service.write("ada", "INSERT INTO witness VALUES (1, 9)", 2);
    let refused = service.write("bob", "INSERT INTO witness (number) VALUES (1)", 1);
    let beside = service.write("eve", "INSERT INTO witness (number) VALUES (2)", 0);
    let all = async { tokio::join!(wrong, refused, beside) };
    let (wrong, refused, beside) = Box::pin(service.gather(3, all)).await;
    // Only the one to blame is told so, and the others do not notice.
    assert_eq!(wrong.0.unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(wrong.1, 2);
    refused.0.unwrap();
    beside.0.unwrap();
    assert_eq!((refused.1, beside.1), (2, 2));
    assert_eq!(service.file.numbers().await, [1, 2]);
    assert_eq!(service.events.all().len(), 2);
}

#[tokio::test]
async fn rel_9_nobody_waits_long_for_one_who_came_after() {
    let service = Service::with_time_for_the_joined(Duration::from_millis(50)).await;
    let first = service.write("ada", "INSERT INTO witness (number) VALUES (1)", 1);
    // It waits for somebody who never comes, and is run again by itself.
    let long = service.write("bob", "INSERT INTO witness (number) VALUES (2)", 1);
    let both = async { tokio::join!(first, long) };
    let (first, long) = Box::pin(service.gather(2, both)).await;
    assert_eq!((first.0.is_ok(), first.1), (true, 1));
    assert_eq!((long.0.is_ok(), long.1), (true, 2));
    assert_eq!(service.file.numbers().await, [1, 2]);
    assert_eq!(service.file.commits(), 2);
}

#[tokio::test]
async fn dos_quotas_count_what_those_before_in_the_same_commit_have_freed() {
    let service = Service::start().await;
    let has = "INSERT INTO usage VALUES ('account', 'ada', 100, 0)";
    service.write("bob", has, 0).await.0.unwrap();
    // Ada has more than the 90 that she may have, and frees some of it.
    let frees = "UPDATE usage SET entities = 95 WHERE id = 'ada'";
    let frees = service.write("bob", frees, 1);
    let more = Request {
        path: DirectPath::parse("/thing", |_| false).unwrap(),
        verb: Verb::Post,
        query: Vec::new(),
        input: input(json!({})),
        preconditions: Preconditions::default(),
        is_dry_run: false,
        wants_allowed_actions: false,
        origin: origin(caller("ada")),
    };
    let more = service.dispatcher.dispatch(&more);
    let both = async { tokio::join!(frees, more) };
    let (frees, more) = Box::pin(service.gather(2, both)).await;
    frees.0.unwrap();
    // One more is less than what is committed when she asks, and still too much.
    assert_eq!(more.unwrap_err().code(), Some(QUOTA_EXCEEDED));
}

//! What is prepared before a unit of work opens: by whom, how often, and while who else writes.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use entity_core::context::Shared;
use entity_core::engine::{DirectPath, Dispatcher, Patch, Prepare, Request, Route};
use entity_core::reply::Reply;
use entity_core::testing::{KeptEvents, ToldAuthorizer, origin, shared};
use entity_core::unit::{Mode, Store, Unit};
use entity_core::{
    Access, Action, Actions, Context, Create, Entity, Error, ErrorKind, Fields, IfMatch, Input,
    Need, Operation, Outcome, Permit, Preconditions, Provider, Read, Registry, Result, Update,
    Verb, Version,
};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::notes::{caller, input};

/// More than anything here takes, unless it waits for what never comes.
const LONG: Duration = Duration::from_mins(1);

/// A lock with a code, which is kept as what the smith makes of it. Only its owner changes it.
#[derive(Clone, Debug, PartialEq, Serialize, Entity)]
#[entity(version = Self::to_version)]
struct Lock {
    #[entity(id)]
    id: String,
    #[entity(owner)]
    owner: String,
    #[entity(writable)]
    hint: String,
    #[entity(writable)]
    code: String,
    #[serde(skip)]
    #[entity(skip)]
    changes: u64,
}

impl Lock {
    fn to_version(&self) -> Version {
        Version(self.changes)
    }
}

/// Keeps the locks, and makes of codes what is kept of them: one at a time, when it is let.
struct Smith {
    locks: Mutex<BTreeMap<String, Lock>>,
    calls: AtomicU32,
    begun: Semaphore,
    may_end: Semaphore,
}

impl Smith {
    fn find(&self, id: &str) -> Option<Lock> {
        self.locks.lock().unwrap().get(id).cloned()
    }

    fn put(&self, lock: Lock) {
        self.locks.lock().unwrap().insert(lock.id.clone(), lock);
    }

    fn calls(&self) -> u32 {
        self.calls.load(Ordering::SeqCst)
    }

    /// Waits until one is at work.
    async fn is_at_work(&self) {
        let begun = timeout(LONG, self.begun.acquire()).await;
        begun.unwrap().unwrap().forget();
    }
}

#[derive(Debug)]
struct Locks;

impl Provider for Locks {
    type Entity = Lock;
    const PREFIX: &'static str = "lock";
    const ACCESS: Access = Access::new(Need::Public, Need::Session);

    async fn permits(cx: &Context, lock: &Lock, operation: Operation) -> Result<Permit> {
        let is_own = operation == Operation::Read || cx.caller().user_id() == Some(&lock.owner);
        Ok(if is_own {
            Permit::Allowed
        } else {
            Permit::Forbidden
        })
    }
}

impl Read for Locks {
    async fn read(cx: &Context, id: &str) -> Result<Option<Lock>> {
        Ok(cx.service::<Smith>()?.find(id))
    }
}

impl Create for Locks {
    type Draft = Fields;

    fn site(_draft: &Fields) -> Option<&str> {
        None
    }

    async fn create(cx: &Context, draft: Fields) -> Result<Lock> {
        let lock = Lock {
            id: cx.new_id(),
            owner: cx.user_id()?.to_owned(),
            hint: String::new(),
            code: String::new(),
            changes: 0,
        };
        Self::update(cx, lock, draft).await
    }
}

impl Update for Locks {
    type Changes = Fields;

    async fn update(cx: &Context, current: Lock, changes: Fields) -> Result<Lock> {
        let code = match Self::raw(&changes) {
            Some(code) => (*cx.prepared::<Self>(&code).await?).clone(),
            None => current.code,
        };
        let lock = Lock {
            hint: changes.text("hint").unwrap_or(&current.hint).to_owned(),
            code,
            changes: current.changes + 1,
            ..current
        };
        cx.service::<Smith>()?.put(lock.clone());
        Ok(lock)
    }
}

impl Actions for Locks {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::on_entity(Verb::Post, "recode", Need::Superuser, |cx, lock, sent| {
                Box::pin(async move {
                    Self::update(cx, lock, Fields(sent.input.fields)).await?;
                    Ok(Outcome::Done)
                })
            })
            .prepared(),
            Action::on_collection(Verb::Post, "melt", Need::Session, |cx, sent| {
                Box::pin(async move {
                    let code = Self::raw(&Fields(sent.input.fields)).unwrap_or_default();
                    let made = cx.prepared::<Self>(&code).await?;
                    Ok(Outcome::value((*made).clone()))
                })
            })
            .prepared(),
        ]
    }
}

impl Prepare for Locks {
    type Raw = String;
    type Prepared = String;

    fn raw(fields: &Fields) -> Option<String> {
        fields.text("code").map(ToOwned::to_owned)
    }

    async fn prepare(shared: &Shared, raw: &String) -> Result<String> {
        let smith = shared.service::<Smith>()?;
        smith.calls.fetch_add(1, Ordering::SeqCst);
        smith.begun.add_permits(1);
        smith
            .may_end
            .acquire()
            .await
            .map_err(Error::internal)?
            .forget();
        match raw.is_empty() {
            true => Err(Error::field("code", "must not be empty")),
            false => Ok(raw.chars().rev().collect()),
        }
    }
}

/// A store with one writer at a time; it loses as many races as it is told.
struct OneWriter {
    writer: Arc<Semaphore>,
    writes: AtomicU32,
    races: AtomicU32,
}

struct Writing {
    store: Arc<OneWriter>,
    _turn: Option<OwnedSemaphorePermit>,
}

struct OneWriterStore(Arc<OneWriter>);

#[async_trait]
impl Store for OneWriterStore {
    async fn begin(&self, mode: Mode) -> Result<Box<dyn Unit>> {
        let store = Arc::clone(&self.0);
        let turn = match mode {
            Mode::Read => None,
            Mode::Write | Mode::Join | Mode::Share => {
                let turn = Arc::clone(&store.writer).acquire_owned().await;
                store.writes.fetch_add(1, Ordering::SeqCst);
                Some(turn.map_err(Error::internal)?)
            }
        };
        Ok(Box::new(Writing { store, _turn: turn }))
    }
}

#[async_trait]
impl Unit for Writing {
    async fn commit(self: Box<Self>) -> Result<()> {
        let races = &self.store.races;
        let left = races.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |it| it.checked_sub(1));
        match left {
            Ok(_) => Err(Error::unavailable("lost a race", 1).transient()),
            Err(_) => Ok(()),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

struct Service {
    smith: Arc<Smith>,
    store: Arc<OneWriter>,
    dispatcher: Dispatcher,
}

impl Service {
    /// Two locks of ada's. The smith ends `free` pieces of work without being let.
    fn start(free: usize) -> Self {
        let smith = Arc::new(Smith {
            locks: Mutex::default(),
            calls: AtomicU32::default(),
            begun: Semaphore::new(0),
            may_end: Semaphore::new(free),
        });
        for id in ["a", "b"] {
            smith.put(Lock {
                id: id.to_owned(),
                owner: "ada".to_owned(),
                hint: "dog".to_owned(),
                code: String::new(),
                changes: 1,
            });
        }
        let store = Arc::new(OneWriter {
            writer: Arc::new(Semaphore::new(1)),
            writes: AtomicU32::default(),
            races: AtomicU32::default(),
        });
        let mut shared = shared(ToldAuthorizer::default());
        shared.services.insert(Arc::clone(&smith));
        let route = Route::of::<Locks>(("tests", "1.0.0"))
            .read()
            .create()
            .update()
            .actions()
            .prepare()
            .build();
        assert!(route.prepares());
        let dispatcher = Dispatcher::new(
            Arc::new(Registry::new([route]).unwrap()),
            Arc::new(OneWriterStore(Arc::clone(&store))),
            Arc::new(KeptEvents::default()),
            shared,
        );
        Self {
            smith,
            store,
            dispatcher,
        }
    }

    fn spawn(&self, request: Request) -> tokio::task::JoinHandle<Result<Reply>> {
        let dispatcher = self.dispatcher.clone();
        tokio::spawn(async move { dispatcher.dispatch(&request).await })
    }

    async fn ask(&self, request: &Request) -> Result<Reply> {
        let done = timeout(LONG, self.dispatcher.dispatch(request)).await;
        done.unwrap()
    }

    fn code(&self, id: &str) -> String {
        self.smith.find(id).unwrap().code
    }

    fn writes(&self) -> u32 {
        self.store.writes.load(Ordering::SeqCst)
    }
}

fn request(eid: &str, verb: Verb, path: &str, body: Value) -> Request {
    Request {
        path: DirectPath::parse(path, |_| false).unwrap(),
        verb,
        query: Vec::new(),
        input: input(body),
        preconditions: Preconditions::default(),
        is_dry_run: false,
        wants_abilities: false,
        origin: origin(caller(eid)),
    }
}

fn patch(document: Value) -> Request {
    Request {
        input: Input {
            patch: Some(Patch::operations(document).unwrap()),
            ..Input::default()
        },
        ..request("ada", Verb::Patch, "/lock/a", json!({}))
    }
}

#[tokio::test]
async fn what_is_prepared_keeps_nobody_else_from_writing() {
    let copy = json!([{"op": "copy", "from": "/hint", "path": "/code"}]);
    for (write, lock, code) in [
        (
            request("ada", Verb::Put, "/lock/a", json!({"code": "cat"})),
            "a",
            "tac",
        ),
        (
            request("ada", Verb::Post, "/lock", json!({"code": "cat"})),
            "id-1",
            "tac",
        ),
        (
            request("ada", Verb::Post, "/lock/a/edit", json!({"code": "cat"})),
            "a",
            "tac",
        ),
        (patch(copy), "a", "god"),
    ] {
        let service = Service::start(0);
        let waiting = service.spawn(write);
        service.smith.is_at_work().await;
        let other = request("ada", Verb::Put, "/lock/b", json!({"hint": "bird"}));
        service.ask(&other).await.unwrap();
        assert!(!waiting.is_finished());
        service.smith.may_end.add_permits(1);
        waiting.await.unwrap().unwrap();
        assert_eq!(service.code(lock), code);
        assert_eq!((service.smith.calls(), service.writes()), (1, 2));
    }
}

#[tokio::test]
async fn nothing_is_prepared_for_what_is_refused() {
    use ErrorKind::{
        BadRequest, Forbidden, MethodNotAllowed, NotFound, PreconditionFailed, Unauthenticated,
    };
    let code = json!({"code": "cat"});
    for (eid, verb, path, body, expected) in [
        ("", Verb::Post, "/lock", &code, Unauthenticated),
        ("", Verb::Put, "/lock/a", &code, Unauthenticated),
        ("eve", Verb::Put, "/lock/a", &code, Forbidden),
        ("eve", Verb::Put, "/lock/none", &code, NotFound),
        ("ada", Verb::Delete, "/lock/a", &code, MethodNotAllowed),
        ("ada", Verb::Put, "/lock/a", &json!({"code": 5}), BadRequest),
        (
            "ada",
            Verb::Post,
            "/lock",
            &json!({"key": "x", "code": "cat"}),
            BadRequest,
        ),
        ("ada", Verb::Post, "/lock/a/recode", &code, Forbidden),
        ("ada", Verb::Post, "/lock/none/recode", &code, NotFound),
        ("", Verb::Post, "/lock/melt", &code, Unauthenticated),
    ] {
        let service = Service::start(9);
        let error = service.ask(&request(eid, verb, path, body.clone())).await;
        assert_eq!(
            error.unwrap_err().kind(),
            expected,
            "{eid} {} {path}",
            verb.name()
        );
        assert_eq!((service.smith.calls(), service.writes()), (0, 0), "{path}");
    }
    let service = Service::start(9);
    let stale = Request {
        preconditions: IfMatch::Versions(vec![Version(9)]).into(),
        ..request("ada", Verb::Put, "/lock/a", code)
    };
    let error = service.ask(&stale).await.unwrap_err();
    assert_eq!(error.kind(), PreconditionFailed);
    assert_eq!((service.smith.calls(), service.writes()), (0, 0));
}

#[tokio::test]
async fn what_can_not_be_prepared_opens_no_unit_of_work() {
    let service = Service::start(1);
    let empty = request("ada", Verb::Put, "/lock/a", json!({"code": ""}));
    let error = service.ask(&empty).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadRequest);
    assert_eq!((service.smith.calls(), service.writes()), (1, 0));
    // Where there is nothing to prepare, nothing is.
    let hint = request("ada", Verb::Put, "/lock/a", json!({"hint": "bird"}));
    service.ask(&hint).await.unwrap();
    assert_eq!((service.smith.calls(), service.writes()), (1, 1));
}

#[tokio::test]
async fn everything_is_checked_again_when_it_is_prepared() {
    let service = Service::start(0);
    let code = json!({"code": "cat"});
    let waiting = service.spawn(request("ada", Verb::Put, "/lock/a", code.clone()));
    let versioned = service.spawn(Request {
        preconditions: IfMatch::Versions(vec![Version(1)]).into(),
        ..request("ada", Verb::Put, "/lock/b", code)
    });
    service.smith.is_at_work().await;
    service.smith.is_at_work().await;
    let sold = |lock: Lock, owner: &str| Lock {
        owner: owner.to_owned(),
        changes: 2,
        ..lock
    };
    service
        .smith
        .put(sold(service.smith.find("a").unwrap(), "bob"));
    service
        .smith
        .put(sold(service.smith.find("b").unwrap(), "ada"));
    service.smith.may_end.add_permits(2);
    let kind = |it: Result<Reply>| it.unwrap_err().kind();
    assert_eq!(kind(waiting.await.unwrap()), ErrorKind::Forbidden);
    assert_eq!(
        kind(versioned.await.unwrap()),
        ErrorKind::PreconditionFailed
    );
    assert_eq!((service.code("a"), service.code("b")), Default::default());
}

#[tokio::test]
async fn what_was_prepared_of_something_else_is_not_used() {
    let service = Service::start(0);
    let copy = json!([{"op": "copy", "from": "/hint", "path": "/code"}]);
    let waiting = service.spawn(patch(copy));
    service.smith.is_at_work().await;
    let hint = request("ada", Verb::Put, "/lock/a", json!({"hint": "bird"}));
    service.ask(&hint).await.unwrap();
    service.smith.may_end.add_permits(2);
    waiting.await.unwrap().unwrap();
    assert_eq!(service.code("a"), "drib");
    assert_eq!(service.smith.calls(), 2);
}

#[tokio::test]
async fn a_lost_race_is_run_again_with_what_was_prepared() {
    let service = Service::start(1);
    service.store.races.store(3, Ordering::SeqCst);
    let put = request("ada", Verb::Put, "/lock/a", json!({"code": "cat"}));
    service.ask(&put).await.unwrap();
    assert_eq!(service.code("a"), "tac");
    assert_eq!((service.smith.calls(), service.writes()), (1, 4));
}

#[tokio::test]
async fn the_body_of_an_action_is_prepared_where_it_is_declared() {
    let service = Service::start(0);
    let waiting = service.spawn(request(
        "ada",
        Verb::Post,
        "/lock/melt",
        json!({"code": "cat"}),
    ));
    service.smith.is_at_work().await;
    assert_eq!(service.writes(), 0);
    service.smith.may_end.add_permits(1);
    waiting.await.unwrap().unwrap();
    assert_eq!((service.smith.calls(), service.writes()), (1, 1));
}

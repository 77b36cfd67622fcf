//! Work at the edge: done once before a unit of work opens, while others write, and looked up inside.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use entity_core::engine::{DirectPath, Dispatcher, Made, Patch, Request, Route, Work};
use entity_core::html::{Sanitized, Sanitizer};
use entity_core::reply::Reply;
use entity_core::testing::{KeptEvents, ToldAuthorizer, origin, shared};
use entity_core::unit::{Mode, Store, Unit};
use entity_core::{
    Access, Action, Actions, Arguments, Caller, Context, Create, Done, Entity, Error, ErrorKind,
    Fields, Input, Need, Preconditions, Provider, Read, Registry, Result, Update, Verb, gate,
};
use futures::future::BoxFuture;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::notes::{caller, input};

/// More than anything here takes, unless it waits for what never comes.
const LONG: Duration = Duration::from_mins(1);

/// A lock with a code, of which the smith makes what is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
struct Lock {
    #[entity(id)]
    id: String,
    #[entity(writable)]
    hint: String,
    #[entity(writable)]
    code: String,
    #[entity(writable, html)]
    text: String,
    #[entity(writable, html)]
    more: String,
}

/// Keeps the locks, makes of codes what is kept of them, and sanitises: one at a time, when it is let.
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

    async fn work(&self) {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.begun.add_permits(1);
        self.may_end.acquire().await.unwrap().forget();
    }

    /// Waits until one is at work.
    async fn is_at_work(&self) {
        let begun = timeout(LONG, self.begun.acquire()).await;
        begun.unwrap().unwrap().forget();
    }
}

struct SmithSanitizer(Arc<Smith>);

#[async_trait]
impl Sanitizer for SmithSanitizer {
    fn takes_long(&self, text: &str) -> bool {
        text.len() > 20
    }

    fn sanitize(&self, html: &str) -> Sanitized {
        assert!(!self.takes_long(html), "{html} is long");
        Ok(html.to_uppercase())
    }

    async fn sanitize_apart(&self, _caller: &Caller, html: &str) -> Result<Sanitized> {
        self.0.work().await;
        match html.contains("bad") {
            true => Ok(Err("is bad".to_owned())),
            false => Ok(Ok(html.to_uppercase())),
        }
    }
}

#[derive(Debug)]
struct Locks;

impl Provider for Locks {
    type Entity = Lock;
    const PREFIX: &'static str = "lock";
    const ACCESS: Access = Access::new(Need::Public, Need::Session);
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
        let id = cx.new_id();
        let lock = Lock {
            id,
            ..Lock::default()
        };
        Self::update(cx, lock, draft).await
    }
}

impl Update for Locks {
    type Changes = Fields;

    async fn update(cx: &Context, mut lock: Lock, changes: Fields) -> Result<Lock> {
        let set = |field: &mut String, name| {
            let text = changes.text(name);
            text.map(|it| it.clone_into(field)).is_some()
        };
        set(&mut lock.hint, "hint");
        set(&mut lock.text, "text");
        set(&mut lock.more, "more");
        if set(&mut lock.code, "code") {
            let made = cx.made::<(String, String)>().filter(|it| it.0 == lock.code);
            let made = made.ok_or_else(|| Error::field("code", "must be sent"))?;
            lock.code.clone_from(&made.1);
        }
        cx.service::<Smith>()?.put(lock.clone());
        Ok(lock)
    }
}

impl Actions for Locks {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::entity(Verb::Post, "engrave", Need::Session, engrave)
                .making_texts(|sent| sent.text("word").map(twice).into_iter().collect()),
        ]
    }
}

fn twice(word: &str) -> String {
    format!("{word} {word}")
}

/// Writes `word` twice, and `words` as they are.
async fn engrave(cx: &Context, lock: Lock, sent: Arguments) -> Result<Done> {
    let sent = Fields(sent.input.fields);
    let fields = [
        ("text", sent.text("word").map(twice)),
        ("more", sent.text("words").map(ToOwned::to_owned)),
    ];
    let fields = fields.into_iter();
    let input: Input = fields.filter_map(|it| Some((it.0, it.1?))).collect();
    gate::update::<Locks>(cx, &lock.id, &input, &Preconditions::default()).await?;
    Ok(Done)
}

fn edge<'a>(
    cx: &'a Context,
    _id: &'a str,
    sent: &'a Fields,
) -> BoxFuture<'a, Result<Option<Work>>> {
    Box::pin(async move {
        let Some(code) = sent.text("code").map(ToOwned::to_owned) else {
            return Ok(None);
        };
        if code.is_empty() {
            return Err(Error::field("code", "must not be empty"));
        }
        let smith = cx.service::<Smith>()?;
        let work: Work = Box::pin(async move {
            smith.work().await;
            let reversed: String = code.chars().rev().collect();
            let made: Made = Arc::new((code, reversed));
            Ok(made)
        });
        Ok(Some(work))
    })
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
            Mode::Write => {
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
    /// Two locks. The smith ends `free` pieces of work without being let.
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
                hint: "a dog that is older than the cat".to_owned(),
                more: "IS STORED AND NEVER SANITISED AGAIN".to_owned(),
                ..Lock::default()
            });
        }
        let store = Arc::new(OneWriter {
            writer: Arc::new(Semaphore::new(1)),
            writes: AtomicU32::default(),
            races: AtomicU32::default(),
        });
        let mut shared = shared(ToldAuthorizer::default());
        shared.services.insert(Arc::clone(&smith));
        shared.sanitizer = Arc::new(SmithSanitizer(Arc::clone(&smith)));
        let route = Route::of::<Locks>(("tests", "1.0.0")).read().create();
        let route = route.update().actions().edge(edge).build();
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

    async fn ask(&self, request: &Request) -> Result<Reply> {
        let done = timeout(LONG, self.dispatcher.dispatch(request)).await;
        done.unwrap()
    }

    fn counts(&self) -> (u32, u32) {
        (self.smith.calls(), self.store.writes.load(Ordering::SeqCst))
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
        wants_allowed_actions: false,
        origin: origin(caller(eid)),
    }
}

fn put(body: Value) -> Request {
    request("ada", Verb::Put, "/lock/a", body)
}

fn patch(patch: Patch) -> Request {
    let patch = Some(patch);
    Request {
        input: Input {
            patch,
            ..Input::default()
        },
        ..request("ada", Verb::Patch, "/lock/a", json!({}))
    }
}

#[tokio::test]
async fn others_write_while_there_is_work_at_the_edge() {
    let text = "a text that is not short";
    let operations = |value: Value| patch(Patch::operations(value).unwrap());
    let written = json!([{"op": "add", "path": "/text", "value": text}]);
    let code = json!([{"op": "replace", "path": "/code", "value": "cat"}]);
    let with_text = |id: &str| (id.to_owned(), text.to_uppercase(), String::new());
    let with_code = |id: &str| (id.to_owned(), String::new(), "tac".to_owned());
    for (write, expected) in [
        (put(json!({"text": text})), with_text("a")),
        (
            request("ada", Verb::Post, "/lock", json!({"text": text})),
            with_text("id-1"),
        ),
        (
            patch(Patch::merge(json!({"text": text})).unwrap()),
            with_text("a"),
        ),
        (operations(written), with_text("a")),
        (
            request(
                "ada",
                Verb::Post,
                "/lock/a/engrave",
                json!({"word": "a long word"}),
            ),
            (
                "a".to_owned(),
                "A LONG WORD A LONG WORD".to_owned(),
                String::new(),
            ),
        ),
        (put(json!({"code": "cat"})), with_code("a")),
        (
            request("ada", Verb::Post, "/lock/a/edit", json!({"code": "cat"})),
            with_code("a"),
        ),
        (operations(code), with_code("a")),
    ] {
        let service = Service::start(0);
        service.store.races.store(2, Ordering::SeqCst);
        let dispatcher = service.dispatcher.clone();
        let waiting = tokio::spawn(async move { dispatcher.dispatch(&write).await });
        service.smith.is_at_work().await;
        let other = request("ada", Verb::Put, "/lock/b", json!({"hint": "bird"}));
        service.ask(&other).await.unwrap();
        assert!(!waiting.is_finished());
        service.smith.may_end.add_permits(1);
        waiting.await.unwrap().unwrap();
        let lock = service.smith.find(&expected.0).unwrap();
        assert_eq!((lock.id, lock.text, lock.code), expected);
        // The other one lost both races: it ran three times.
        assert_eq!(service.counts(), (1, 4));
    }
}

#[tokio::test]
async fn a_lost_race_is_run_again_without_the_work() {
    let service = Service::start(3);
    service.store.races.store(3, Ordering::SeqCst);
    let both = json!({"code": "cat", "text": "a text that is not short", "more": "short"});
    service.ask(&put(both)).await.unwrap();
    assert_eq!(service.counts(), (2, 4));
    assert_eq!(service.smith.find("a").unwrap().more, "SHORT");
}

#[tokio::test]
async fn what_is_refused_at_the_edge_opens_no_unit_of_work() {
    let service = Service::start(9);
    let error = service.ask(&put(json!({"code": ""}))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadRequest);
    for (verb, path) in [(Verb::Put, "/lock/a"), (Verb::Post, "/lock/a/engrave")] {
        let sent = json!({"code": "cat", "text": "a text that is not short"});
        let error = service.ask(&request("", verb, path, sent)).await;
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Unauthenticated);
    }
    assert_eq!(service.counts(), (0, 0));
    let bad = put(json!({"text": "a bad text that is not short"}));
    let error = service.ask(&bad).await.unwrap_err();
    assert_eq!(error.field_errors()[0].message, "is bad");
}

#[tokio::test]
async fn a_patch_copies_long_html_and_no_other_long_text() {
    let service = Service::start(0);
    let copy = |from: &str, to: &str| {
        let copied = json!([{"op": "copy", "from": from, "path": to}]);
        patch(Patch::operations(copied).unwrap())
    };
    service.ask(&copy("/more", "/text")).await.unwrap();
    let lock = service.smith.find("a").unwrap();
    assert_eq!(lock.text, lock.more);
    for (from, to, told) in [
        ("/hint", "/text", "send it whole"),
        ("/hint", "/code", "must be sent"),
    ] {
        let error = service.ask(&copy(from, to)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadRequest);
        assert!(error.field_errors()[0].message.contains(told), "{error:?}");
    }
    assert_eq!(service.smith.calls(), 0);
}

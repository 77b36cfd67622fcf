//! One request, one unit of work: what is found, run, committed, told and tried again.

use std::any::Any;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use entity_core::engine::{
    Audit, DirectPath, Dispatcher, Event, EventSink, Request, Route, allowed,
};
use entity_core::reply::{Body, Effect, Reply};
use entity_core::testing::{KeptEvents, ToldAuthorizer, origin};
use entity_core::unit::{Mode, Store, Unit};
use entity_core::{Context, Error, ErrorKind, Preconditions, Reference, Registry, Result, Verb};
use serde_json::json;

use crate::notes::{self, Notes, Shelf, caller, input, shared_with};

/// A store that only counts, and whose commits fail as often as it is told.
#[derive(Debug, Default)]
struct Counter {
    modes: Mutex<Vec<Mode>>,
    commits: AtomicU32,
    failures: AtomicU32,
    is_transient: bool,
}

struct Counted(Arc<Counter>);

struct CountingStore(Arc<Counter>);

#[async_trait]
impl Store for CountingStore {
    async fn begin(&self, mode: Mode) -> Result<Box<dyn Unit>> {
        self.0.modes.lock().unwrap().push(mode);
        Ok(Box::new(Counted(Arc::clone(&self.0))))
    }
}

#[async_trait]
impl Unit for Counted {
    async fn commit(self: Box<Self>) -> Result<()> {
        let counter = &self.0;
        let left = counter
            .failures
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |it| it.checked_sub(1));
        match (left, counter.is_transient) {
            (Ok(_), true) => Err(Error::unavailable("lost a race", 1).transient()),
            (Ok(_), false) => Err(Error::unavailable("the storage is full", 30)),
            (Err(_), _) => {
                counter.commits.fetch_add(1, Ordering::SeqCst);
                Ok(())
            }
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A sink that can't record.
struct FullSink(KeptEvents);

#[async_trait]
impl EventSink for FullSink {
    async fn record(&self, _cx: &Context, _events: &[Event], _audit: Audit) -> Result<()> {
        Err(Error::unavailable("the journal is full", 30))
    }

    fn published(&self, events: &[Event]) {
        self.0.published(events);
    }
}

struct Service {
    shelf: Arc<Shelf>,
    counter: Arc<Counter>,
    events: Arc<KeptEvents>,
    dispatcher: Dispatcher,
}

fn registry() -> Arc<Registry> {
    let route = Route::of::<Notes>(("tests", "1.0.0"))
        .read()
        .list()
        .create()
        .update()
        .delete()
        .actions()
        .build();
    Arc::new(Registry::new([route]).unwrap())
}

fn authorizer() -> ToldAuthorizer {
    [
        "note.read",
        "note.new",
        "note.revise.any",
        "note.delete.any",
        "note.shout",
        "note.sign.own",
    ]
    .iter()
    .fold(ToldAuthorizer::default(), |told, it| told.grant(it, "s"))
    .grant("note.read", "t")
}

impl Service {
    fn start() -> Self {
        Self::on(Counter::default())
    }

    fn on(counter: Counter) -> Self {
        let shelf = Shelf::of(&[
            ("a", "s", "ada", ""),
            ("b", "s", "ada", "hidden"),
            ("c", "t", "ada", ""),
            ("d", "nowhere", "ada", ""),
            ("e", "s", "ada", "locked"),
        ]);
        let counter = Arc::new(counter);
        let events = Arc::new(KeptEvents::default());
        let dispatcher = Dispatcher::new(
            registry(),
            Arc::new(CountingStore(Arc::clone(&counter))),
            events.clone(),
            shared_with(authorizer(), &shelf),
        );
        Self {
            shelf,
            counter,
            events,
            dispatcher,
        }
    }

    async fn ask(&self, eid: &str, verb: Verb, path: &str) -> Result<Reply> {
        self.dispatcher.dispatch(&request(eid, verb, path)).await
    }

    async fn kind(&self, eid: &str, verb: Verb, path: &str) -> Option<ErrorKind> {
        self.ask(eid, verb, path).await.err().map(|it| it.kind())
    }
}

/// A request whose body suits a creation and a change alike.
fn request(eid: &str, verb: Verb, address: &str) -> Request {
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    Request {
        path: DirectPath::parse(path, |_| false).unwrap(),
        verb,
        query: query
            .split('&')
            .filter_map(|it| it.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        input: match verb {
            Verb::Post | Verb::Put => input(json!({"siteId": "s", "text": "new"})),
            _ => entity_core::Input::default(),
        },
        preconditions: Preconditions::default(),
        is_dry_run: false,
        wants_allowed_actions: false,
        origin: origin(caller(eid)),
    }
}

/// The kind of the answer.
fn shape(reply: &Reply) -> &'static str {
    match &reply.body {
        Body::Empty => "empty",
        Body::Entity(_) => "entity",
        Body::Collection(_) => "collection",
        Body::Value(_) => "value",
        Body::Bytes(_) => "bytes",
        Body::File(_) => "file",
        Body::Bundle(_) => "bundle",
        Body::Stream(_) => "stream",
        Body::Archive(_) => "archive",
        Body::Forward(_) => "forward",
        Body::Form(_) => "form",
        Body::Action(_) => "action",
        Body::Incomplete(_) => "incomplete",
    }
}

#[tokio::test]
async fn a_form_asks_once_for_what_two_fields_are_offered() {
    let page = Request {
        wants_allowed_actions: true,
        ..request("ada", Verb::Get, "/note/new")
    };
    let reply = Service::start().dispatcher.dispatch(&page).await.unwrap();
    let Body::Form(form) = reply.body else {
        panic!("no form");
    };
    assert_eq!(form.offered("text"), form.offered("mood"));
    assert_eq!((form.offered.len(), notes::ASKED.get()), (2, 1));
}

#[tokio::test]
async fn owners_run_an_action_on_what_they_own() {
    for (eid, expected) in [("ada", None), ("eve", Some(ErrorKind::Forbidden))] {
        let service = Service::start();
        assert_eq!(
            service.kind(eid, Verb::Post, "/note/a/sign").await,
            expected
        );
        let page = Request {
            wants_allowed_actions: true,
            ..request(eid, Verb::Get, "/note/a")
        };
        let reply = service.dispatcher.dispatch(&page).await.unwrap();
        let mut offered = reply.allowed_actions.actions.iter();
        let is_offered = offered.any(|it| it.name == "sign");
        assert_eq!(is_offered, expected.is_none(), "{eid}");
    }
}

#[tokio::test]
async fn every_shape_of_address_has_its_verbs() {
    use Verb::{Delete, Get, Patch, Post, Put};
    for (path, answers) in [
        ("/note", &[(Get, "collection"), (Post, "entity")][..]),
        ("/note/new", &[(Get, "form"), (Post, "entity")]),
        (
            "/note/a",
            &[
                (Get, "entity"),
                (Post, "entity"),
                (Put, "entity"),
                (Patch, "entity"),
                (Delete, "empty"),
            ],
        ),
        (
            "/note/a/edit",
            &[(Get, "form"), (Post, "entity"), (Put, "entity")],
        ),
        ("/note/a/delete", &[(Get, "form"), (Delete, "empty")]),
        ("/note/a/shout", &[(Get, "value")]),
        ("/note/a/praise", &[(Post, "empty")]),
        ("/note/site/s", &[(Get, "collection")]),
        ("/note/first", &[(Get, "entity")]),
    ] {
        let verbs: Vec<Verb> = answers.iter().map(|it| it.0).collect();
        let address = DirectPath::parse(path, |_| false).unwrap();
        assert_eq!(allowed(&registry(), &address).unwrap(), verbs, "{path}");
        for (verb, expected) in answers {
            let reply = Service::start().ask("ada", *verb, path).await.unwrap();
            assert_eq!(shape(&reply), *expected, "{} {path}", verb.name());
        }
        for verb in [Get, Post, Put, Patch, Delete] {
            if verbs.contains(&verb) {
                continue;
            }
            let error = Service::start().ask("ada", verb, path).await.unwrap_err();
            assert_eq!(
                error.kind(),
                ErrorKind::MethodNotAllowed,
                "{} {path}",
                verb.name()
            );
            let mut allow = error.allow().to_vec();
            allow.sort();
            allow.dedup();
            assert_eq!(allow, verbs, "{} {path}", verb.name());
        }
    }
}

#[tokio::test]
async fn an_answer_carries_remarks_beside_its_body() {
    let service = Service::start();
    let reply = service.ask("ada", Verb::Get, "/note/a/shout").await;
    let headers = reply.unwrap().headers.into_iter();
    let headers: Vec<_> = headers.map(|it| (it.name, it.value)).collect();
    let length = service.shelf.notes.lock().unwrap()["a"].text.len();
    let expected = [
        ("x-length", length.to_string()),
        ("x-volume", "loud".to_owned()),
    ];
    assert_eq!(headers, expected);
    let reply = service.ask("ada", Verb::Get, "/note/a").await;
    assert!(reply.unwrap().headers.is_empty());
}

#[tokio::test]
async fn other_addresses_are_nothing() {
    let service = Service::start();
    for path in [
        "/nothing",
        "/note/a/nothing",
        "/note/a/edit/b",
        "/note/a/shout/b",
        "/note/site/s/x",
        "/note/nothing",
    ] {
        let kind = service.kind("ada", Verb::Get, path).await;
        assert_eq!(kind, Some(ErrorKind::NotFound), "{path}");
    }
    let kind = service.kind("ada", Verb::Get, "/note/site").await;
    assert_eq!(kind, Some(ErrorKind::BadRequest), "a segment is missing");
    let nothing = DirectPath::parse("/note/a/nothing", |_| false).unwrap();
    assert_eq!(
        allowed(&registry(), &nothing).unwrap_err().kind(),
        ErrorKind::NotFound
    );
}

#[tokio::test]
async fn strangers_get_no_further_than_what_is_public() {
    let service = Service::start();
    for (path, expected) in [
        ("/note/open/a", true),
        ("/note/open", false),
        ("/note/a", false),
        ("/note/a/nothing", false),
        ("/nothing", false),
    ] {
        let address = DirectPath::parse(path, |_| false).unwrap();
        let done = service.dispatcher.admit(&address, Verb::Get, &caller(""));
        assert_eq!(done.is_ok(), expected, "{path}");
        let known = service
            .dispatcher
            .admit(&address, Verb::Get, &caller("ada"));
        assert!(known.is_ok(), "{path}");
    }
}

#[tokio::test]
async fn an_action_asks_for_its_own_need_and_for_its_entity() {
    use ErrorKind::{Forbidden, NotFound, Unauthenticated};
    let service = Service::start();
    for (eid, path, expected) in [
        ("", "/note/a/shout", Some(Unauthenticated)),
        ("eve", "/note/a/shout", None),
        ("eve", "/note/b/shout", Some(NotFound)),
        ("ada", "/note/b/shout", None),
        ("eve", "/note/c/shout", Some(Forbidden)),
        ("eve", "/note/site/nowhere", Some(NotFound)),
        // What a public action answers is for everybody, unless the entity itself is not.
        ("", "/note/open/a", None),
        ("", "/note/open/d", None),
        ("", "/note/open/b", Some(NotFound)),
        ("", "/note/open/e", Some(Unauthenticated)),
        ("eve", "/note/open/e", None),
        // What another one answers must be readable besides.
        ("", "/note/own/a", Some(Unauthenticated)),
        ("eve", "/note/own/a", None),
        ("eve", "/note/own/d", Some(NotFound)),
    ] {
        let kind = service.kind(eid, Verb::Get, path).await;
        assert_eq!(kind, expected, "{eid} {path}");
    }
}

#[tokio::test]
async fn the_list_of_an_action_knows_which_part_it_is() {
    let service = Service::start();
    for (query, expected) in [
        ("", (0, 10, false)),
        ("?_start=1&_limit=2", (1, 2, true)),
        ("?_page=2&_perpage=3", (3, 3, false)),
        ("?_limit=99&other=1", (0, 10, false)),
    ] {
        let path = format!("/note/site/s{query}");
        let reply = service.ask("ada", Verb::Get, &path).await.unwrap();
        let Body::Collection(list) = reply.body else {
            panic!("a collection")
        };
        assert_eq!((list.start, list.limit, list.has_more), expected, "{query}");
        // One of the five is in a site that does not exist.
        assert!(list.items.iter().all(|it| it.id() != "d"));
    }
    let kind = service
        .kind("ada", Verb::Get, "/note/site/s?_start=x")
        .await;
    assert_eq!(kind, Some(ErrorKind::BadRequest));
}

#[tokio::test]
async fn a_forward_is_followed_once() {
    let service = Service::start();
    let reply = service.ask("ada", Verb::Get, "/note/first").await.unwrap();
    assert_eq!(shape(&reply), "entity");
    assert_eq!(
        service.kind("ada", Verb::Get, "/note/twice").await,
        Some(ErrorKind::Internal)
    );
}

#[tokio::test]
async fn only_what_writes_is_committed_and_told() {
    let service = Service::start();
    service.ask("ada", Verb::Get, "/note/a").await.unwrap();
    assert_eq!(*service.counter.modes.lock().unwrap(), [Mode::Read]);
    assert_eq!(service.counter.commits.load(Ordering::SeqCst), 0);
    let reply = service.ask("ada", Verb::Post, "/note").await.unwrap();
    assert_eq!(
        reply.effect,
        Effect::Created(Reference::entity("note", "id-1"))
    );
    let reply = service
        .ask("ada", Verb::Post, "/note/a/praise")
        .await
        .unwrap();
    assert_eq!(reply.effect, Effect::Acted(Reference::entity("note", "a")));
    assert_eq!(
        *service.counter.modes.lock().unwrap(),
        [Mode::Read, Mode::Write, Mode::Write]
    );
    assert_eq!(service.counter.commits.load(Ordering::SeqCst), 2);
    let kinds: Vec<_> = service.events.all().into_iter().map(|it| it.kind).collect();
    assert_eq!(kinds, ["note.new"]);
}

#[tokio::test]
async fn nothing_is_told_of_what_was_not_committed() {
    let service = Service::on(Counter {
        failures: AtomicU32::new(1),
        ..Counter::default()
    });
    let kind = service.kind("ada", Verb::Post, "/note").await;
    assert_eq!(kind, Some(ErrorKind::Unavailable));
    assert!(service.events.all().is_empty());
    assert_eq!(service.shelf.calls(), ["create"], "tried once");
}

#[tokio::test]
async fn nothing_is_committed_that_was_not_recorded() {
    let Service { shelf, counter, .. } = Service::start();
    let sink = Arc::new(FullSink(KeptEvents::default()));
    let dispatcher = Dispatcher::new(
        registry(),
        Arc::new(CountingStore(Arc::clone(&counter))),
        sink.clone(),
        shared_with(authorizer(), &shelf),
    );
    let error = dispatcher
        .dispatch(&request("ada", Verb::Delete, "/note/a"))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert_eq!(counter.commits.load(Ordering::SeqCst), 0);
    assert!(sink.0.all().is_empty());
}

#[tokio::test]
async fn a_lost_race_is_run_again_three_times() {
    for (failures, is_done, tries) in [(0, true, 1), (1, true, 2), (3, true, 4), (4, false, 4)] {
        let service = Service::on(Counter {
            failures: AtomicU32::new(failures),
            is_transient: true,
            ..Counter::default()
        });
        let done = service.ask("ada", Verb::Post, "/note").await;
        assert_eq!(done.is_ok(), is_done, "{failures}");
        assert_eq!(service.counter.modes.lock().unwrap().len(), tries);
        let told = usize::from(is_done);
        assert_eq!(service.events.all().len(), told, "told once, or never");

        let service = Service::on(Counter {
            failures: AtomicU32::new(failures),
            is_transient: true,
            ..Counter::default()
        });
        let origin = origin(caller("ada"));
        let work = service.dispatcher.write(&origin, |cx| {
            Box::pin(async move {
                cx.emit("note.praise", "/note/a", None);
                Ok((5, Effect::Read))
            })
        });
        assert_eq!(work.await.ok(), is_done.then_some(5));
        assert_eq!(service.counter.modes.lock().unwrap().len(), tries);
        assert_eq!(service.events.all().len(), told);
    }
}

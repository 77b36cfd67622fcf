//! A provider that keeps its notes in memory and writes down what it was asked.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use entity_core::access::Authorizer;
use entity_core::context::Shared;
use entity_core::engine::DirectPath;
use entity_core::testing::{origin, shared};
use entity_core::unit::NoStore;
use entity_core::{
    Access, Action, ActionResult, Actions, Arguments, Caller, Context, Create, Delete, Entity,
    Input, List, Need, Operation, Page, Permit, Provider, Read, Result, Search, Update, Verb,
    Version, Window,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Something that somebody wrote down. A `locked` one can't be written, a `hidden` one is its owner's secret.
#[derive(Clone, Debug, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(version = Self::to_version)]
pub(crate) struct Note {
    #[entity(id)]
    pub(crate) id: String,
    #[entity(site, on_create, column)]
    pub(crate) site_id: String,
    #[entity(owner)]
    pub(crate) owner: String,
    #[entity(title, writable, required, offered = "word")]
    pub(crate) text: String,
    #[entity(writable, offered = "word")]
    pub(crate) mood: String,
    #[serde(skip)]
    #[entity(skip)]
    pub(crate) changes: u64,
}

thread_local! {
    /// The number of times that the words which forms offer were asked for.
    pub(crate) static ASKED: Cell<usize> = const { Cell::new(0) };
}

entity_core::register_options!("word", |_cx, _site| {
    ASKED.set(ASKED.get() + 1);
    Box::pin(async { Ok(vec![("calm".to_owned(), "Calm".to_owned())]) })
});

impl Note {
    fn to_version(&self) -> Version {
        Version(self.changes)
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Draft {
    site_id: String,
    text: String,
    #[serde(default)]
    mood: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Changes {
    text: Option<String>,
    mood: Option<String>,
}

/// Where the notes are, and what was done to them.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    pub(crate) notes: Mutex<BTreeMap<String, Note>>,
    calls: Mutex<Vec<&'static str>>,
}

impl Shelf {
    /// A shelf with these notes: id, site, owner, mood.
    pub(crate) fn of(notes: &[(&str, &str, &str, &str)]) -> Arc<Self> {
        let shelf = Self::default();
        for (id, site, owner, mood) in notes {
            shelf.put(Note {
                id: (*id).to_owned(),
                site_id: (*site).to_owned(),
                owner: (*owner).to_owned(),
                text: format!("text of {id}"),
                mood: (*mood).to_owned(),
                changes: 1,
            });
        }
        Arc::new(shelf)
    }

    pub(crate) fn put(&self, note: Note) {
        self.notes.lock().unwrap().insert(note.id.clone(), note);
    }

    pub(crate) fn find(&self, id: &str) -> Option<Note> {
        self.notes.lock().unwrap().get(id).cloned()
    }

    /// The calls of the provider since the last time.
    pub(crate) fn calls(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }

    fn called(cx: &Context, call: &'static str) -> Result<Arc<Self>> {
        let shelf = cx.service::<Self>()?;
        shelf.calls.lock().unwrap().push(call);
        Ok(shelf)
    }
}

#[derive(Debug)]
pub(crate) struct Notes;

impl Provider for Notes {
    type Entity = Note;
    const PREFIX: &'static str = "note";
    const ACCESS: Access = Access {
        read: Need::Site("note.read"),
        create: Need::Site("note.new"),
        update: Need::SiteOrOwn("note.revise.any", "note.revise.own"),
        delete: Need::SiteOrOwn("note.delete.any", "note.delete.own"),
    };

    async fn permits(cx: &Context, note: &Note, operation: Operation) -> Result<Permit> {
        Ok(match (note.mood.as_str(), operation) {
            ("hidden", _) if cx.caller().user_id() != Some(&note.owner) => Permit::Hidden,
            ("locked", Operation::Create | Operation::Update | Operation::Delete) => {
                Permit::Forbidden
            }
            ("locked", Operation::Read) if cx.caller().is_anonymous() => Permit::Forbidden,
            _ => Permit::Allowed,
        })
    }
}

impl Read for Notes {
    async fn read(cx: &Context, id: &str) -> Result<Option<Note>> {
        Ok(Shelf::called(cx, "read")?.find(id))
    }
}

impl List for Notes {
    /// Careless on purpose: it answers everything, whatever the search says.
    async fn list(cx: &Context, _search: &Search) -> Result<Page<Note>> {
        let shelf = Shelf::called(cx, "list")?;
        let notes = shelf.notes.lock().unwrap().values().cloned().collect();
        Ok(Page::whole(notes))
    }
}

impl Create for Notes {
    type Draft = Draft;

    fn site(draft: &Draft) -> Option<&str> {
        Some(&draft.site_id)
    }

    async fn create(cx: &Context, draft: Draft) -> Result<Note> {
        let note = Note {
            id: cx.new_id(),
            site_id: draft.site_id,
            owner: cx.user_id()?.to_owned(),
            text: draft.text,
            mood: draft.mood,
            changes: 1,
        };
        Shelf::called(cx, "create")?.put(note.clone());
        Ok(note)
    }
}

impl Update for Notes {
    type Changes = Changes;

    async fn update(cx: &Context, current: Note, changes: Changes) -> Result<Note> {
        let note = Note {
            text: changes.text.unwrap_or(current.text),
            mood: changes.mood.unwrap_or(current.mood),
            changes: current.changes + 1,
            ..current
        };
        Shelf::called(cx, "update")?.put(note.clone());
        Ok(note)
    }
}

impl Delete for Notes {
    async fn delete(cx: &Context, current: Note) -> Result<()> {
        let shelf = Shelf::called(cx, "delete")?;
        shelf.notes.lock().unwrap().remove(&current.id);
        Ok(())
    }
}

impl Actions for Notes {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::on_entity(
                Verb::Get,
                "shout",
                Need::Site("note.shout"),
                |_, note: Note, _| {
                    Box::pin(async move {
                        let shouted = ActionResult::value(note.text.to_uppercase());
                        let shouted = shouted.with_header("x-length", note.text.len().to_string());
                        Ok(shouted.with_header("x-volume", "loud"))
                    })
                },
            ),
            Action::on_entity(Verb::Post, "praise", Need::Session, |_, _, _| {
                Box::pin(async { Ok(ActionResult::Done) })
            }),
            Action::on_entity(
                Verb::Post,
                "sign",
                Need::SiteOrOwn("note.sign.any", "note.sign.own"),
                |_, _, _| Box::pin(async { Ok(ActionResult::Done) }),
            ),
            Action::on_collection(
                Verb::Get,
                "site",
                Need::Site("note.read"),
                |cx, arguments| Box::pin(async move { of_site(cx, &arguments) }),
            )
            .argument("siteId", "The site."),
            Action::on_collection(Verb::Get, "open", Need::Public, |cx, arguments| {
                Box::pin(async move { one(cx, &arguments) })
            })
            .argument("noteId", "The note."),
            Action::on_collection(Verb::Get, "own", Need::Session, |cx, arguments| {
                Box::pin(async move { one(cx, &arguments) })
            })
            .argument("noteId", "The note."),
            Action::on_collection(Verb::Get, "first", Need::Session, |_, _| {
                Box::pin(async { Ok(ActionResult::Forward(DirectPath::new("note", ["a"]))) })
            }),
            Action::on_collection(Verb::Get, "twice", Need::Session, |_, _| {
                Box::pin(async { Ok(ActionResult::Forward(DirectPath::new("note", ["first"]))) })
            }),
        ]
    }
}

fn of_site(cx: &Context, arguments: &Arguments) -> Result<ActionResult<Notes>> {
    let window = Window::parse(&arguments.query, 10)?;
    let shelf = Shelf::called(cx, "site")?;
    let notes = shelf.notes.lock().unwrap();
    let (start, count) = (
        usize::try_from(window.start).unwrap(),
        usize::try_from(window.limit).unwrap(),
    );
    let items = notes
        .values()
        .skip(start)
        .take(count + 1)
        .cloned()
        .collect();
    Ok(ActionResult::Collection {
        page: Page::cut(items, window.limit),
        window,
    })
}

fn one(cx: &Context, arguments: &Arguments) -> Result<ActionResult<Notes>> {
    let found = Shelf::called(cx, "one")?.find(arguments.argument("noteId")?);
    found
        .map(ActionResult::Entity)
        .ok_or_else(entity_core::Error::not_found)
}

/// Ada, or nobody.
pub(crate) fn caller(eid: &str) -> Caller {
    match eid {
        "" => Caller::anonymous(),
        eid => Caller::user(eid, eid),
    }
}

pub(crate) fn shared_with(authorizer: impl Authorizer + 'static, shelf: &Arc<Shelf>) -> Shared {
    let mut shared = shared(authorizer);
    shared.services.insert(Arc::clone(shelf));
    shared
}

/// A unit of work of the user `eid`, or of nobody, on `shelf`.
pub(crate) fn context(
    authorizer: impl Authorizer + 'static,
    shelf: &Arc<Shelf>,
    eid: &str,
) -> Context {
    let shared = shared_with(authorizer, shelf);
    Context::new(shared, origin(caller(eid)), Box::new(NoStore))
}

pub(crate) fn input(data: Value) -> Input {
    let Value::Object(fields) = data else {
        panic!("an object")
    };
    Input {
        fields,
        ..Input::default()
    }
}

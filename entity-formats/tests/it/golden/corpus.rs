//! The answers that every format must write.

use std::borrow::Cow;
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use entity_core::catalog::{
    ActionEntry, Address, ArgumentEntry, Catalog, FieldEntry, FormatsEntry, ParameterEntry,
    PermissionEntry, Place, TypeEntry,
};
use entity_core::format::{Formats, Problem, View};
use entity_core::reply::{
    AllowedActions, Body, Collection, Form, FormPurpose, Item, Offer, Refusal, Value,
};
use entity_core::schema::{Field, Kind, Meaning, Role, Schema};
use entity_core::wire::{Millis, Moment};
use entity_core::{
    Content, Enclosure, Entity, ErrorKind, EventEntry, EventStatus, FeedEntry, FieldError,
    Reference, Registry, Verb, Version,
};
use serde::Serialize;
use serde_json::json;

/// Text that means something to every parser on its way.
pub(crate) const HOSTILE: &str = "<script>alert(1)</script>\"' onload=x ]]> \u{0}\u{1}\u{fffe}\u{202e}RTL\r\n&amp; \u{2028} javascript:alert(1) 日本";

/// A note.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Note {
    pub(crate) id: String,
    pub(crate) subject: String,
    pub(crate) body: String,
    pub(crate) created_on: Millis,
    pub(crate) modified: DateTime<Utc>,
    pub(crate) due: Moment,
    pub(crate) points: f64,
    pub(crate) is_draft: bool,
    pub(crate) nothing: Option<String>,
    pub(crate) link: String,
    pub(crate) words: Vec<String>,
    pub(crate) attachments: Vec<serde_json::Value>,
    pub(crate) submissions: Vec<serde_json::Value>,
    pub(crate) props: serde_json::Value,
}

const FIELDS: &[Field] = &[
    Field::new("id", Kind::Text(99), "").role(Role::Id),
    Field::new("subject", Kind::Text(200), "What it is about.")
        .writable()
        .required()
        .searchable()
        .column("subject")
        .role(Role::Title),
    Field::new("body", Kind::Html(5000), "The text.")
        .writable()
        .searchable()
        .role(Role::Content),
    Field::new("createdOn", Kind::Millis, "")
        .column("created_on")
        .role(Role::Created),
    Field::new("modified", Kind::Instant, "").role(Role::Updated),
    Field::new("due", Kind::Moment, "When it must be done.").writable(),
    Field::new("points", Kind::Number, "")
        .writable()
        .column("points"),
    Field::new("isDraft", Kind::Boolean, "")
        .writable()
        .required()
        .column("is_draft"),
    Field::new("isOpen", Kind::Boolean, "")
        .writable()
        .default("true"),
    Field::new("kind", Kind::Text(9), "")
        .writable()
        .choices(&["one", "two"]),
    Field::new("mail", Kind::Text(99), "")
        .writable()
        .meaning(Meaning::Email),
    Field::new("home", Kind::Text(99), "")
        .writable()
        .meaning(Meaning::Address),
    Field::new("secret", Kind::Text(99), "")
        .writable()
        .meaning(Meaning::NewPassword),
    Field::new("words", Kind::List, "").writable(),
    Field::new("props", Kind::Object, "").writable(),
];

static NOTE: Schema = Schema {
    doc: "Notes of <a> site & more.",
    fields: FIELDS,
    has_feed: true,
    has_events: true,
    has_site: false,
    look: entity_core::schema::Look::PLAIN,
};
static SESSION: Schema = Schema {
    doc: "",
    fields: &[],
    has_feed: false,
    has_events: false,
    has_site: false,
    look: entity_core::schema::Look::PLAIN,
};

impl Entity for Note {
    fn schema() -> &'static Schema {
        &NOTE
    }
    fn id(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.id)
    }
    fn title(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(&self.subject))
    }
    fn version(&self) -> Option<Version> {
        Some(Version(255))
    }
    fn feed_entry(&self) -> Option<FeedEntry> {
        let file = |url: &str| Enclosure {
            url: url.to_owned(),
            name: HOSTILE.to_owned(),
            media_type: "application/pdf".to_owned(),
            length: Some(9),
        };
        let mut entry = FeedEntry::new(self.subject.clone(), self.modified);
        entry.published = Some(self.created_on.0);
        entry.author = (self.id != "n2").then(|| HOSTILE.to_owned());
        entry.content = Some(Content::Html(self.body.clone()));
        entry.categories = vec![HOSTILE.to_owned()];
        entry.enclosures = vec![
            file("javascript:alert(1)"),
            file("https://lms.example/a?b=1&c=2"),
        ];
        entry.in_reply_to = (self.id == "n2").then(|| Reference::entity("note", "n1"));
        Some(entry)
    }
    fn event_entry(&self) -> Option<EventEntry> {
        let is_second = self.id == "n2";
        let mut entry = EventEntry::new(
            self.subject.clone(),
            self.created_on.0,
            self.created_on.0 + chrono::TimeDelta::hours(2),
            self.modified,
        );
        entry.description = Some(format!("{}; {HOSTILE}", "Räume, und \\ mehr ".repeat(9)));
        entry.location = (!is_second).then(|| HOSTILE.to_owned());
        entry.is_all_day = is_second;
        if is_second {
            entry.status = EventStatus::Cancelled;
        }
        entry.sequence = 3;
        entry.created = Some(self.created_on.0);
        entry.recurrence = Some(
            match is_second {
                true => "FREQ=WEEKLY;COUNT=5",
                false => "FREQ=DAILY\r\nATTENDEE:x",
            }
            .to_owned(),
        );
        Some(entry)
    }
}

pub(crate) fn note(id: &str, subject: &str, seconds: i64) -> Note {
    let instant = DateTime::from_timestamp(1_796_436_929 + seconds, 0).unwrap();
    Note {
        id: id.to_owned(),
        subject: subject.to_owned(),
        body: "<p>Hello <b>you</b> &amp; me</p>".to_owned(),
        created_on: Millis(instant),
        modified: instant,
        due: Moment::from(instant),
        points: 2.5,
        is_draft: false,
        nothing: None,
        link: "https://lms.example/x?a=1&b=\"2\"".to_owned(),
        words: vec!["one".to_owned(), HOSTILE.to_owned()],
        attachments: vec![
            json!({"name": "a.pdf", "size": 9}),
            json!({"name": HOSTILE, "size": 10}),
        ],
        submissions: vec![json!({"status": "NEW", "grades": [1, null, {"x": []}]})],
        props: json!({"1 bad name": "v", "xmlns": "w", "": true}),
    }
}

pub(crate) fn notes() -> Vec<Note> {
    vec![note("n 1", HOSTILE, 0), note("n2", "Second", 60)]
}

fn item(note: Note) -> Item {
    Item::new("note", note)
}

/// An entity that writes a metadata key itself.
#[derive(Serialize)]
struct OwnKeys {
    #[serde(rename = "entityURL")]
    url: &'static str,
    inner: serde_json::Value,
}

impl Entity for OwnKeys {
    fn schema() -> &'static Schema {
        &SESSION
    }
    fn id(&self) -> Cow<'_, str> {
        Cow::Borrowed("s1")
    }
}

pub(crate) fn own_keys() -> Body {
    Body::Entity(Item::new(
        "session",
        OwnKeys {
            url: "mine",
            inner: json!({"entityId": "not the root"}),
        },
    ))
}

/// Data that holds itself.
struct Endless;

impl Serialize for Endless {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq([Endless])
    }
}

pub(crate) fn endless() -> Body {
    value("data", Endless)
}

fn value(name: &str, data: impl Serialize + Send + Sync + 'static) -> Body {
    Body::Value(Value::new("note", name, Box::new(data)))
}

fn form(purpose: FormPurpose, note: Option<Note>) -> Body {
    refused_form(purpose, note, None)
}

fn refused_form(purpose: FormPurpose, note: Option<Note>, refusal: Option<Refusal>) -> Body {
    Body::Form(Form {
        prefix: "note",
        schema: &NOTE,
        item: note.map(item),
        purpose,
        left_out: Vec::new(),
        offered: Vec::new(),
        refusal,
    })
}

/// The form that was sent to create a note, and why it was refused.
pub(crate) fn refusal() -> Refusal {
    let wrong = |name: &str, message: &str| FieldError {
        name: name.to_owned(),
        message: message.to_owned(),
    };
    let sent = json!({
        "subject": HOSTILE, "body": HOSTILE, "points": "many", "due": "2026-11-21T10:00", "isDraft": "true",
        "isOpen": ["false", "true"], "words": "one\r\n{two", "props": "a=b",
    });
    Refusal {
        kind: ErrorKind::BadRequest,
        version: Some(Version(7)),
        sent: sent.as_object().cloned().unwrap(),
        message: HOSTILE.to_owned(),
        fields: vec![
            wrong("points", "must be a number"),
            wrong("subject", HOSTILE),
            wrong("words[1].name", "is missing"),
            wrong(HOSTILE, "is not a field of this type"),
        ],
        is_partly_saved: false,
    }
}

/// The form that was sent to change a note that has changed since.
pub(crate) fn outdated() -> Refusal {
    Refusal {
        kind: ErrorKind::PreconditionFailed,
        version: Some(Version(255)),
        fields: Vec::new(),
        ..refusal()
    }
}

fn type_entry() -> TypeEntry {
    let parameter = || ParameterEntry {
        name: "n",
        description: "How <many>.",
    };
    TypeEntry {
        prefix: "note",
        title: "Notes".to_owned(),
        description: "Notes & more.",
        crate_name: "notes",
        crate_version: "1.0.0",
        capabilities: vec![
            "read", "list", "create", "update", "delete", "actions", "feed",
        ],
        addresses: vec![Address {
            operation: "form",
            method: "GET",
            path: "/new",
            place: Place::Form,
            verb: Verb::Get,
        }],
        formats: FormatsEntry {
            list: vec!["json", "html", "atom"],
            entity: vec!["json"],
            input: vec!["json", "form"],
        },
        max: Some(500),
        search: vec![parameter()],
        fields: vec![FieldEntry {
            name: "subject",
            description: "What it is <about>.",
            kind: "text",
            limit: Some(255),
            required: true,
            nullable: false,
            writable: "always",
            searchable: false,
            operators: Vec::new(),
            references: None,
            choices: &["<one>", "two"],
            default: Some("two"),
        }],
        parameters: vec![parameter()],
        actions: vec![ActionEntry {
            name: "site",
            method: "GET",
            target: "collection",
            description: "Those of a site.",
            permission: "note.read in the site".to_owned(),
            answers: "collection",
            arguments: vec![
                ArgumentEntry {
                    name: "siteId",
                    description: "The <site>.",
                    required: true,
                },
                ArgumentEntry {
                    name: "word",
                    description: "A word.",
                    required: false,
                },
            ],
            parameters: vec![parameter()],
            searched: true,
        }],
        permissions: vec![PermissionEntry {
            operation: "read",
            permission: "a session".to_owned(),
        }],
    }
}

pub(crate) fn answers() -> Vec<(&'static str, Body)> {
    let list = |notes: Vec<Note>| {
        Body::Collection(Collection {
            items: notes.into_iter().map(item).collect(),
            start: 3,
            limit: 2,
            has_more: true,
            cursor: None,
            total: None,
            is_searched: true,
            ..Collection::empty("note", &NOTE)
        })
    };
    vec![
        ("list", list(notes())),
        ("entity", Body::Entity(item(notes().swap_remove(0)))),
        ("create", form(FormPurpose::Create, None)),
        (
            "edit",
            form(FormPurpose::Update, Some(notes().swap_remove(0))),
        ),
        (
            "refused",
            refused_form(FormPurpose::Create, None, Some(refusal())),
        ),
        (
            "outdated",
            refused_form(
                FormPurpose::Update,
                Some(notes().swap_remove(0)),
                Some(outdated()),
            ),
        ),
        (
            "delete",
            form(FormPurpose::Delete, Some(notes().swap_remove(0))),
        ),
        (
            "outdated-delete",
            refused_form(
                FormPurpose::Delete,
                Some(notes().swap_remove(0)),
                Some(outdated()),
            ),
        ),
        (
            "value",
            value(
                "site/pages",
                json!([{"title": HOSTILE, "tools": [{"id": 1, "url": null}]}, [true, {}], "x"]),
            ),
        ),
        (
            "catalog",
            value(
                "describe",
                Catalog {
                    types: vec![type_entry()],
                },
            ),
        ),
        ("type", value("describe", type_entry())),
        ("nothing", Body::Empty),
    ]
}

static FORMATS: LazyLock<Formats> = LazyLock::new(|| entity_formats::standard().unwrap());
static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::default);

fn offer(name: &'static str, verb: Verb) -> Offer {
    Offer {
        path: format!("/note/x/{name}"),
        name,
        label: entity_core::primitives::label(name),
        verb,
        reason: None,
        offered: Vec::new(),
        asks: &[],
        filled_from: "",
        submits: &[],
        files: None,
        answers_bytes: false,
        is_open: false,
        in_place_of: None,
    }
}

pub(crate) fn view() -> View<'static> {
    view_of("/note/site/a%20b", "_limit=2&_search=x%26y&%5Fstart=3")
}

/// The view of a request for `path` with `query`.
pub(crate) fn view_of<'a>(path: &'a str, query: &'a str) -> View<'a> {
    View {
        base_url: "https://lms.example",
        path,
        query,
        now: entity_core::DateTimeUtc::UNIX_EPOCH,
        own_address: None,
        allowed_actions: AllowedActions {
            create: true,
            update: true,
            delete: true,
            actions: vec![offer("publish", Verb::Post), offer("readers", Verb::Get)],
            ..AllowedActions::default()
        },
        formats: &FORMATS,
        registry: &REGISTRY,
        absolute: |html, base| format!("{base}: {html}"),
        user: Some(HOSTILE),
        csrf_token: Some("token\""),
        most_bytes: usize::MAX,
    }
}

pub(crate) fn problem() -> Problem {
    Problem {
        status: 400,
        kind: ErrorKind::BadRequest,
        message: format!("`{HOSTILE}` is not a field"),
        timestamp: "2026-11-21T10:00:00Z".to_owned(),
        request_id: "r1".to_owned(),
        fields: vec![FieldError {
            name: HOSTILE.to_owned(),
            message: HOSTILE.to_owned(),
        }],
        operation: None,
        code: None,
    }
}

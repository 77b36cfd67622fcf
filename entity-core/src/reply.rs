//! What a request is answered with, before any format.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use erased_serde::Serialize as ErasedSerialize;
use serde::{Serialize, Serializer};
use serde_json::Map;

use crate::entity::{Entity, EventEntry, FeedEntry, Version};
use crate::error::{ErrorKind, FieldError};
use crate::history::History;
use crate::projection::Chosen;
use crate::request::Verb;
use crate::schema::Schema;

/// An answer.
#[derive(Debug)]
pub struct Reply {
    /// What is answered.
    pub body: Body,
    /// What the request did.
    pub effect: Effect,
    /// What else the caller may do here; filled in only when the request asks for it.
    pub abilities: Abilities,
    /// Facts beside the body.
    pub remarks: Vec<Remark>,
}

/// A fact beside the body of an answer, such as how much of what was sent was taken. The server sends it as a
/// header of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Its name: lower case letters, digits and `-`.
    pub name: &'static str,
    /// The fact: visible ASCII, or it is left out.
    pub value: String,
}

/// What is answered.
#[derive(Debug)]
pub enum Body {
    /// Nothing.
    Empty,
    /// One entity.
    Entity(Item),
    /// Entities of one type.
    Collection(Collection),
    /// Data that is no entity: it is written without metadata.
    Value(Value),
    /// Bytes that are answered as they are, in no format.
    Bytes(Bytes),
    /// What another address answers; the dispatcher follows it.
    Forward(crate::path::DirectPath),
    /// An empty form, or one filled with an entity.
    Form(Form),
}

/// Bytes with a media type of their own: an image, a document.
///
/// Browsers are told to keep them as a file, never to show them as a page of the service.
#[derive(Clone, PartialEq, Eq)]
pub struct Bytes {
    /// What they are, such as `image/png`, without parameters. What is no media type is sent as
    /// `application/octet-stream`.
    pub media_type: Cow<'static, str>,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// What the file is called that they are kept as.
    pub name: Option<String>,
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({}, {})", self.media_type, self.bytes.len())
    }
}

/// What a request did to the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It only read.
    Read,
    /// It created the entity with this id.
    Created(Reference),
    /// It changed the entity.
    Updated(Reference),
    /// It deleted the entity.
    Deleted(Reference),
    /// It ran an action that wrote something.
    Acted(Reference),
}

/// Names an entity, or a type when there is no id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The type's prefix.
    pub prefix: String,
    /// The entity's id.
    pub id: Option<String>,
}

impl Reference {
    /// The entity `id` of the type `prefix`.
    pub fn entity(prefix: impl Into<String>, id: impl Into<String>) -> Self {
        Self {
            prefix: prefix.into(),
            id: Some(id.into()),
        }
    }

    /// The type `prefix` itself.
    pub fn collection(prefix: impl Into<String>) -> Self {
        Self {
            prefix: prefix.into(),
            id: None,
        }
    }

    /// The path behind `/direct`, percent-encoded.
    pub fn path(&self) -> String {
        crate::path::DirectPath::new(&self.prefix, self.id.clone()).to_string()
    }
}

/// Writes the reference as entities carry it: `/prefix/id`, not encoded.
impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.id {
            Some(id) => write!(f, "/{}/{id}", self.prefix),
            None => write!(f, "/{}", self.prefix),
        }
    }
}

/// What a person who sees this answer may do next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    /// Create an entity of this type.
    pub create: bool,
    /// Change this entity.
    pub update: bool,
    /// Delete this entity.
    pub delete: bool,
    /// Run these actions of this entity or of the type.
    pub actions: Vec<Offer>,
}

/// An action that a person may run as it stands: it needs no argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Its name in the URL.
    pub name: &'static str,
    /// The verb it takes: [`Verb::Get`] or [`Verb::Post`].
    pub verb: Verb,
    /// What it does.
    pub doc: &'static str,
}

/// Entities of one type, and which part of the list they are.
#[derive(Debug)]
pub struct Collection {
    /// The type's prefix.
    pub prefix: &'static str,
    /// The type's fields.
    pub schema: &'static Schema,
    /// The entities, in order.
    pub items: Vec<Item>,
    /// How many were left out at the beginning.
    pub start: u64,
    /// How many were asked for at most.
    pub limit: u64,
    /// Whether the list goes on behind them.
    pub has_more: bool,
    /// The cursor by which it goes on, if the client walks by cursors.
    pub cursor: Option<String>,
    /// How many there are in all, if the client asked and it is known.
    pub total: Option<u64>,
    /// Where they stand in the history of the list, if the type has one and the client wants to know.
    pub history: Option<History>,
    /// Whether it can be asked what lists of the type can be asked: to filter, to search, to order.
    pub is_searched: bool,
}

impl Collection {
    /// A list of nothing, of the type `prefix`.
    pub fn empty(prefix: &'static str, schema: &'static Schema) -> Self {
        Self {
            prefix,
            schema,
            items: Vec::new(),
            start: 0,
            limit: 1,
            has_more: false,
            cursor: None,
            total: None,
            history: None,
            is_searched: false,
        }
    }

    /// The state of all of it: changes whenever one of the entities or the list does.
    /// `None` if one of the entities has no version.
    pub fn version(&self) -> Option<Version> {
        let versions: Vec<_> = self
            .items
            .iter()
            .map(|it| it.version().map(|version| (it.id(), version)))
            .collect::<Option<_>>()?;
        // A page of an archive shows its neighbours, and not how many pages there are.
        let neighbours = self.history.map(|it| (it.page, it.older(), it.newer()));
        let place = (self.start, self.has_more, self.total, neighbours);
        Some(Version::of(&(versions, place)))
    }
}

/// Data that is no entity.
pub struct Value {
    /// What it is called: the root in XML, the heading in HTML.
    pub name: String,
    /// The data itself.
    pub data: Box<dyn ErasedSerialize + Send + Sync>,
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Value")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A form to create an entity, or to change or delete the one it is filled with.
#[derive(Debug)]
pub struct Form {
    /// The type's prefix.
    pub prefix: &'static str,
    /// The type's fields.
    pub schema: &'static Schema,
    /// The entity it is about.
    pub item: Option<Item>,
    /// What sending it does.
    pub purpose: FormPurpose,
    /// Why it is shown again, if it was sent before.
    pub refusal: Option<Refusal>,
}

/// Why a form that was sent was not taken.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The kind of the error. [`ErrorKind::PreconditionFailed`] if the entity has changed since the form was
    /// filled with it.
    pub kind: ErrorKind,
    /// The version of the entity that is to be written over when the form is sent again.
    pub version: Option<Version>,
    /// What was sent.
    pub sent: Map<String, serde_json::Value>,
    /// What is wrong and what to do.
    pub message: String,
    /// The fields that were refused.
    pub fields: Vec<FieldError>,
}

impl Form {
    /// The version of the entity that the form is about, which it carries so that nobody writes over what
    /// they have not seen.
    pub fn version(&self) -> Option<Version> {
        match &self.refusal {
            Some(refusal) => refusal.version,
            None => self.item.as_ref()?.version(),
        }
    }

    /// Whether it was not taken because the entity has changed since it was filled with it.
    pub fn is_outdated(&self) -> bool {
        let refusal = self.refusal.as_ref();
        refusal.is_some_and(|it| it.kind == ErrorKind::PreconditionFailed)
    }
}

/// What sending a form does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormPurpose {
    /// Creates an entity.
    Create,
    /// Changes the entity.
    Update,
    /// Deletes the entity.
    Delete,
    /// Logs in: creates a session, which is not shown as an entity.
    LogIn,
}

/// One entity of whatever type, as renderers see it.
pub struct Item {
    prefix: &'static str,
    entity: Box<dyn Erased>,
    fields: Option<Arc<[&'static str]>>,
    expanded: Option<Vec<(&'static str, Arc<Self>)>>,
}

/// The object-safe face of [`Entity`]; written once, for every type.
trait Erased: Send + Sync {
    fn schema(&self) -> &'static Schema;
    fn id(&self) -> String;
    fn title(&self) -> Option<String>;
    fn version(&self) -> Option<Version>;
    fn updated(&self) -> Option<DateTime<Utc>>;
    fn feed_entry(&self) -> Option<FeedEntry>;
    fn event_entry(&self) -> Option<EventEntry>;
    fn is_told_once(&self) -> bool;
    fn data(&self) -> &(dyn ErasedSerialize + Send + Sync);
}

impl<E: Entity> Erased for E {
    fn schema(&self) -> &'static Schema {
        E::schema()
    }
    fn id(&self) -> String {
        Entity::id(self).into_owned()
    }
    fn title(&self) -> Option<String> {
        Entity::title(self).map(std::borrow::Cow::into_owned)
    }
    fn version(&self) -> Option<Version> {
        Entity::version(self)
    }
    fn updated(&self) -> Option<DateTime<Utc>> {
        Entity::updated(self)
    }
    fn feed_entry(&self) -> Option<FeedEntry> {
        Entity::feed_entry(self)
    }
    fn event_entry(&self) -> Option<EventEntry> {
        Entity::event_entry(self)
    }
    fn is_told_once(&self) -> bool {
        Entity::is_told_once(self)
    }
    fn data(&self) -> &(dyn ErasedSerialize + Send + Sync) {
        self
    }
}

/// An entity of which nothing but the type is there.
struct Sample(&'static Schema);

impl Erased for Sample {
    fn schema(&self) -> &'static Schema {
        self.0
    }
    fn id(&self) -> String {
        String::new()
    }
    fn title(&self) -> Option<String> {
        None
    }
    fn version(&self) -> Option<Version> {
        None
    }
    fn updated(&self) -> Option<DateTime<Utc>> {
        None
    }
    fn feed_entry(&self) -> Option<FeedEntry> {
        None
    }
    fn event_entry(&self) -> Option<EventEntry> {
        None
    }
    fn is_told_once(&self) -> bool {
        false
    }
    fn data(&self) -> &(dyn ErasedSerialize + Send + Sync) {
        &()
    }
}

impl Item {
    /// `entity`, an entity of the type `prefix`.
    pub fn new<E: Entity>(prefix: &'static str, entity: E) -> Self {
        Self {
            prefix,
            entity: Box::new(entity),
            fields: None,
            expanded: None,
        }
    }

    /// An entity of which nothing but the type is there: to ask formats whether they write entities of it.
    pub fn sample(prefix: &'static str, schema: &'static Schema) -> Self {
        Self {
            prefix,
            entity: Box::new(Sample(schema)),
            fields: None,
            expanded: None,
        }
    }

    /// Shows only the fields of these names.
    pub(crate) fn choose(&mut self, fields: Arc<[&'static str]>) {
        self.fields = Some(fields);
    }

    /// Shows these entities beside the fields that refer to them.
    pub(crate) fn expand(&mut self, entities: Vec<(&'static str, Arc<Self>)>) {
        self.expanded = Some(entities);
    }

    /// The type's prefix.
    pub fn prefix(&self) -> &'static str {
        self.prefix
    }

    /// The type's fields.
    pub fn schema(&self) -> &'static Schema {
        self.entity.schema()
    }

    /// The entity's id.
    pub fn id(&self) -> String {
        self.entity.id()
    }

    /// The entity's title.
    pub fn title(&self) -> Option<String> {
        self.entity.title()
    }

    /// The entity's version and, if it shows others, theirs too; `None` if one of them has none.
    pub fn version(&self) -> Option<Version> {
        let own = self.entity.version()?;
        let Some(expanded) = &self.expanded else {
            return Some(own);
        };
        let others: Vec<_> = expanded
            .iter()
            .map(|(name, it)| Some((name, it.prefix, it.id(), it.version()?)))
            .collect::<Option<_>>()?;
        Some(Version::of(&(own, others)))
    }

    /// When the entity last changed; `None` if it shows others, which change by themselves.
    pub fn updated(&self) -> Option<DateTime<Utc>> {
        match self.expanded {
            Some(_) => None,
            None => self.entity.updated(),
        }
    }

    /// The entity's entry in a feed.
    pub fn feed_entry(&self) -> Option<FeedEntry> {
        self.entity.feed_entry()
    }

    /// The entity's entry in a calendar.
    pub fn event_entry(&self) -> Option<EventEntry> {
        self.entity.event_entry()
    }

    /// When the entity last changed, by its entry in a feed or in a calendar.
    pub fn updated_in_feed(&self) -> Option<DateTime<Utc>> {
        let in_feed = self.feed_entry().map(|it| it.updated);
        in_feed.or_else(|| Some(self.event_entry()?.updated))
    }

    /// Whether the entity tells now what it never tells again.
    pub fn is_told_once(&self) -> bool {
        self.entity.is_told_once()
    }

    /// The entity's own fields, as far as they are shown, without metadata.
    pub fn data(&self) -> impl Serialize + '_ {
        Shown(self)
    }

    /// The entities that are shown beside fields which refer to them, with the names of these fields.
    pub fn expanded(&self) -> impl Iterator<Item = (&'static str, &Self)> {
        let expanded = self.expanded.iter().flatten();
        expanded.map(|(name, it)| (*name, &**it))
    }

    /// The entity's name; that of its type if the entity has no id of its own.
    pub fn reference(&self) -> Reference {
        match self.id() {
            id if id.is_empty() => Reference::collection(self.prefix),
            id => Reference::entity(self.prefix, id),
        }
    }
}

/// The fields of an entity that are shown.
struct Shown<'a>(&'a Item);

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let data = self.0.entity.data();
        match &self.0.fields {
            None => data.serialize(serializer),
            Some(fields) => Chosen::new(data, fields).serialize(serializer),
        }
    }
}

impl fmt::Debug for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Item({})", self.reference())
    }
}

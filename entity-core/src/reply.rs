//! What a request is answered with, before any format.

mod form;
mod item;

use std::borrow::Cow;
use std::fmt;

use erased_serde::Serialize as ErasedSerialize;

pub use form::{Form, FormPurpose, Refusal};
pub use item::Item;

use crate::entity::Version;
use crate::error::Result;
use crate::projection::Projection;
use crate::request::Verb;
use crate::schema::Schema;
use crate::search::{Places, Walk};

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

impl Body {
    /// How many entities it has.
    pub fn count(&self) -> usize {
        match self {
            Self::Entity(_) => 1,
            Self::Collection(it) => it.items.len(),
            _ => 0,
        }
    }
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
    /// Where they stand in the list.
    pub places: Places,
    /// The cursor by which it goes on, if the client walks by cursors.
    pub cursor: Option<String>,
    /// How many there are in all, if the client asked and it is known.
    pub total: Option<u64>,
    /// Whether it can be asked what lists of the type can be asked: to filter, to search, to order.
    pub is_searched: bool,
    /// What was said of what is shown of the entities.
    pub projection: Projection,
    /// How a walk by cursors goes on behind any of them.
    pub walk: Option<Walk>,
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
            places: Places::default(),
            cursor: None,
            total: None,
            is_searched: false,
            projection: Projection::default(),
            walk: None,
        }
    }

    /// How many of the list stand before the part that follows this one.
    pub fn next_start(&self) -> u64 {
        let passed = self.places.end().unwrap_or(self.limit);
        self.start.saturating_add(passed)
    }

    /// The first `count` entities alone, of which there are more. The next part begins behind them.
    ///
    /// # Errors
    /// An entity can't be serialised, or no cursor leads behind it.
    pub fn first(&self, count: usize) -> Result<Self> {
        let items: Vec<Item> = self.items.iter().take(count).cloned().collect();
        let cursor = match &self.walk {
            Some(walk) => walk.behind(&items)?,
            None => None,
        };
        Ok(Self {
            has_more: true,
            places: self.places.first(count),
            cursor,
            projection: self.projection.clone(),
            walk: self.walk.clone(),
            items,
            ..*self
        })
    }

    /// The state of all of it: changes whenever one of the entities or the list does.
    /// `None` if one of the entities has no version.
    pub fn version(&self) -> Option<Version> {
        let versions: Vec<_> = self
            .items
            .iter()
            .map(|it| it.version().map(|version| (it.id(), version)))
            .collect::<Option<_>>()?;
        let place = (self.start, self.has_more, self.total);
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

impl Value {
    /// Data of which nothing is there: to ask formats whether they write data.
    pub fn sample() -> Self {
        Self {
            name: String::new(),
            data: Box::new(()),
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Value")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

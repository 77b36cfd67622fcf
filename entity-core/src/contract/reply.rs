//! The reply to a request, independent of any format.

mod form;
mod item;
mod questionnaire;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use erased_serde::Serialize as ErasedSerialize;

use crate::primitives::reference::Reference;

pub use form::{Form, FormPurpose, Offered, Refusal};
pub use item::Item;
pub use questionnaire::{
    BEFORE, Choice, Lead, Prompt, PromptCell, PromptRow, Questionnaire, Sending, TICKED, answer,
    before, held_before,
};

use crate::contract::action::Submit;
use crate::contract::blob::{Bundle, StoredFile};
pub use crate::contract::response_header::ResponseHeader;
use crate::contract::search::{Places, Walk};
use crate::contract::stream::Streaming;
use crate::model::projection::Projection;
use crate::model::schema::{Field, Schema};
use crate::primitives::error::{Error, Result};
use crate::primitives::recurrence::Tz;
use crate::primitives::verb::Verb;
use crate::primitives::version::Version;

/// The reply to a request.
#[derive(Debug)]
pub struct Reply {
    /// The content of the reply.
    pub body: Body,
    /// The effect of the request on the data.
    pub effect: Effect,
    /// The further operations that the caller may run here; filled in only if the request asks for them.
    pub allowed_actions: AllowedActions,
    /// The headers that are sent beside the body.
    pub headers: Vec<ResponseHeader>,
}

/// The content of a reply.
#[derive(Debug)]
pub enum Body {
    /// No content.
    Empty,
    /// One entity.
    Entity(Item),
    /// A list of entities of one type.
    Collection(Collection),
    /// Data that is not an entity; it is written without metadata.
    Value(Value),
    /// Bytes that are sent as they are, in no format.
    Bytes(Bytes),
    /// A stored file, which is streamed as it is.
    File(StoredFile),
    /// Several stored files, which are streamed as one zip archive.
    Bundle(Bundle),
    /// Bytes that are made piece by piece while they are sent.
    Stream(Streaming),
    /// The archive of the site with this id, which is streamed.
    Archive(String),
    /// The path of another address whose reply is sent instead; the dispatcher follows it.
    Forward(crate::primitives::path::DirectPath),
    /// An empty form, or one filled with an entity.
    Form(Form),
    /// The form of an action, given back.
    Action(Box<ActionForm>),
    /// A part of what was sent is written and kept, and the answer is this error, which names the rest.
    Incomplete(Error),
}

impl Body {
    /// Returns true if formats such as JSON and XML can write the body: if it is nothing, or entities, or other data. What
    /// is left is either a form, which only pages show, or bytes that are sent as they are.
    pub fn is_data(&self) -> bool {
        matches!(
            self,
            Self::Empty | Self::Entity(_) | Self::Collection(_) | Self::Value(_)
        )
    }

    /// Returns the number of entities in the body.
    pub fn count(&self) -> usize {
        match self {
            Self::Entity(_) => 1,
            Self::Collection(it) => it.items.len(),
            _ => 0,
        }
    }
}

/// Bytes with a media type of their own, such as an image or a document.
///
/// Browsers are told to save them as a file and never to show them as a page of the service.
#[derive(derive_more::Debug, Clone, PartialEq, Eq)]
#[debug("Bytes({}, {})", self.media_type, self.bytes.len())]
pub struct Bytes {
    /// The media type, such as `image/png`, without parameters. A value that is not a media type is sent as
    /// `application/octet-stream`.
    pub media_type: Cow<'static, str>,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The name of the file under which the bytes are saved.
    pub name: Option<String>,
}

/// The effect of a request on the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The request only read data.
    Read,
    /// The request created this entity.
    Created(Reference),
    /// The request changed this entity.
    Updated(Reference),
    /// The request deleted this entity.
    Deleted(Reference),
    /// The request ran an action that writes, on this entity or type.
    Acted(Reference),
}

/// A flash message: a sentence about the last request of the caller, which a page says once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlashMessage {
    /// The sentence, in which `{}` stands for the title of an entity.
    pub sentence: String,
    /// The prefix of the type of that entity.
    pub about: String,
}

impl FlashMessage {
    /// Returns the sentence for a page that shows the entity with this title, if it shows one, of the type `prefix`. A page
    /// that shows another one says `nameless` in place of a title.
    pub fn told(&self, shown: Option<(&str, &str)>, nameless: &str) -> String {
        let title = shown.filter(|(prefix, _)| *prefix == self.about);
        let title = title.map_or(nameless, |it| it.1);
        self.sentence.replacen("{}", title, 1)
    }
}

/// The operations that a person who sees the reply may run next, and what a page shows around it.
#[derive(Clone, Debug, Default)]
pub struct AllowedActions {
    /// True if the caller may create an entity of this type.
    pub create: bool,
    /// The flash message about the caller's last request.
    pub said: Option<FlashMessage>,
    /// The words for deleting this entity, if it is called otherwise.
    pub removal: Option<&'static str>,
    /// The site to which all entities of the list belong, if it is known.
    pub site: Option<String>,
    /// True if the page lists people of a site and the caller may make accounts.
    pub creates_accounts: bool,
    /// The internal id of the caller, if the caller is logged in.
    pub account: Option<String>,
    /// The zone by whose clock the caller reads times, if it is known.
    pub zone: Option<Tz>,
    /// True if the caller may change this entity.
    pub update: bool,
    /// True if the caller may delete this entity.
    pub delete: bool,
    /// The actions of this entity or of the type that the caller may run.
    pub actions: Vec<Offer>,
    /// The lists of other types about this entity that the caller may open.
    pub related: Vec<Related>,
    /// The form of an action that the page shows in the place of something else, if the caller may run it.
    pub sheet: Option<Arc<Sheet>>,
    /// The parts of the site to which the page belongs, by the names that they have there, without those that the caller
    /// may not open.
    pub menu: Vec<(String, Related)>,
    /// The entities that the content refers to and that the caller may read: the path below `/direct` of each, with its
    /// title, which may be empty.
    pub readable: BTreeMap<String, String>,
}

/// A list of another type about an entity, at `/{prefix}/{action}/{id}`.
#[derive(Clone, Debug)]
pub struct Related {
    /// The prefix of the other type.
    pub prefix: &'static str,
    /// The segments of the path of the list behind the prefix.
    pub segments: Vec<String>,
    /// The pairs of the query.
    pub query: Vec<(&'static str, String)>,
    /// The beginning of the list, if its entities belong to this one: a page shows them with it.
    pub first: Option<Arc<Collection>>,
    /// True if the caller may create such an entity.
    pub may_create: bool,
}

/// A form that a page shows in the place of a list or of a field of its entity.
#[derive(Debug)]
pub struct Sheet {
    /// The form.
    pub form: Questionnaire,
    /// The prefix of the list, or the name of the field.
    pub in_place_of: &'static str,
}

/// An action that a person may run from a page, because it needs nothing, or nothing but what a form asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The path of the action below `/direct`, percent-encoded.
    pub path: String,
    /// The action's name in the URL.
    pub name: &'static str,
    /// The label for people.
    pub label: String,
    /// The verb that runs the action: [`Verb::Get`] or [`Verb::Post`].
    pub verb: Verb,
    /// The reason why the action would be refused now: pages say it instead of offering the action.
    pub reason: Option<&'static str>,
    /// The fields that the form asks for.
    pub asks: &'static [Field],
    /// The JSON pointer to the part of the shown entity with which the form is filled.
    pub filled_from: &'static str,
    /// The buttons of the form, if it has several.
    pub submits: &'static [Submit],
    /// The things that the form offers to choose from.
    pub offered: Vec<form::Offered>,
    /// The maximum number of files that the form asks for, if it does.
    pub files: Option<usize>,
    /// True if the answer is bytes or a file, and no page.
    pub answers_bytes: bool,
    /// True if the page shows the form open.
    pub is_open: bool,
    /// The list or the field in whose place the page shows the form that the action answers.
    pub in_place_of: Option<&'static str>,
}

/// The form of an action that was refused, with the sent values.
#[derive(Debug)]
pub struct ActionForm {
    /// The type's prefix.
    pub prefix: &'static str,
    /// The action.
    pub offer: Offer,
    /// The entity on which the action runs, if the caller may read it.
    pub about: Option<Item>,
    /// The questions whose answers the action takes, if the caller may read them.
    pub questionnaire: Option<Questionnaire>,
    /// The reason why the form is given back.
    pub refusal: Refusal,
}

/// A page of a list of entities of one type, with its position in the list.
#[derive(Debug)]
pub struct Collection {
    /// The type's prefix.
    pub prefix: &'static str,
    /// The type's fields.
    pub schema: &'static Schema,
    /// The entities, in order.
    pub items: Vec<Item>,
    /// The number of entities of the list that were skipped before this page.
    pub start: u64,
    /// The maximum number of entities that was requested.
    pub limit: u64,
    /// True if the list continues behind this page.
    pub has_more: bool,
    /// The positions of the entities in the list.
    pub places: Places,
    /// The cursor of the next page, if the client walks the list by cursors.
    pub cursor: Option<String>,
    /// The total number of entities in the list, if the client asked for it and it is known.
    pub total: Option<u64>,
    /// True if the list accepts the search parameters of the type's lists: to filter, to search, to order.
    pub is_searched: bool,
    /// The requested projection of the entities.
    pub projection: Projection,
    /// The state of a walk by cursors, from which it can continue behind any of the entities.
    pub walk: Option<Walk>,
}

impl Collection {
    /// Creates an empty list of the type `prefix`.
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

    /// Returns the number of entities of the list that stand before the next page.
    pub fn next_start(&self) -> u64 {
        let passed = self.places.end().unwrap_or(self.limit);
        self.start.saturating_add(passed)
    }

    /// Creates a page of the first `count` entities alone, of which there must be more. The next page begins behind
    /// them.
    ///
    /// # Errors
    /// Returns an error if an entity can't be serialised or no cursor can be made that continues behind it.
    pub fn first(&self, count: usize) -> Result<Self> {
        let items: Vec<Item> = self.items.iter().take(count).cloned().collect();
        let cursor = self.walk.as_ref().map(|it| it.behind(&items));
        Ok(Self {
            has_more: true,
            places: self.places.first(count),
            cursor: cursor.transpose()?,
            projection: self.projection.clone(),
            walk: self.walk.clone(),
            items,
            ..*self
        })
    }

    /// Returns the version of the whole page, which changes whenever one of the entities or the list does. Returns
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

/// Data that is not an entity.
#[derive(derive_more::Debug)]
#[debug("Value {{ name: {:?} }}", self.name)]
pub struct Value {
    /// The prefix of the type whose action made the data: the root element in XML.
    pub prefix: &'static str,
    /// The name of the data: the heading in HTML.
    pub name: String,
    /// The data itself.
    pub data: Box<dyn ErasedSerialize + Send + Sync>,
    /// The same as a form, if it is one that can be filled in.
    pub questionnaire: Option<Questionnaire>,
}

impl Value {
    /// Creates data with this name, made by the type `prefix`.
    pub fn new(
        prefix: &'static str,
        name: &str,
        data: Box<dyn ErasedSerialize + Send + Sync>,
    ) -> Self {
        Self {
            prefix,
            name: name.to_owned(),
            data,
            questionnaire: None,
        }
    }

    /// Creates the data of a form whose questions are data.
    pub fn of_questionnaire(
        prefix: &'static str,
        name: &str,
        questionnaire: Questionnaire,
    ) -> Self {
        Self {
            questionnaire: Some(questionnaire.clone()),
            ..Self::new(prefix, name, Box::new(questionnaire))
        }
    }

    /// Creates empty data, which is used to find the formats that can write data.
    pub fn sample() -> Self {
        Self::new("", "", Box::new(()))
    }
}

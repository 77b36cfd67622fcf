//! The results of actions.

use std::fmt;

use erased_serde::Serialize as ErasedSerialize;
use schemars::JsonSchema;
use serde::Serialize;

use super::answers::Answers;
use super::paging::Paging;
use crate::contract::blob::{Bundle, StoredFile};
use crate::contract::provider::{List, Provider};
use crate::contract::search::{Page, Search, Window};
use crate::contract::stream::Streaming;
use crate::model::shape;
use crate::primitives::error::Error;
use crate::primitives::path::DirectPath;
use crate::{
    contract::reply::{Bytes, Questionnaire},
    contract::response_header::ResponseHeader,
    primitives::reference::Reference,
};

/// The result of an action.
pub enum ActionResult<P: Provider> {
    /// Success, without content.
    Done,
    /// An entity of the type, which the caller must be allowed to read. If the need of the action is
    /// [`Need::Public`](crate::Need::Public), [`Provider::permits`] alone decides.
    Entity(P::Entity),
    /// An entity of the type that the action created; checked like [`ActionResult::Entity`].
    Created(P::Entity),
    /// Entities of the type. Those that the caller may not read are left out of the answer.
    Collection {
        /// The entities, and whether the list continues after them.
        page: Page<P::Entity>,
        /// The part of the list that the page is, from which the links to the other parts are made. An action that does
        /// not divide its list uses [`Window::FIRST`] and a page after which nothing follows.
        window: Window,
    },
    /// The list that this search asks for, which is run as the type's own list is: with its permissions, its page and
    /// its count. The search is that of [`Arguments::search`](crate::Arguments::search), perhaps narrowed.
    List(Search),
    /// The part of a list that `search` asks for. Entities that the caller may not read are left out of the answer.
    Part {
        /// The entities, and whether the list continues after them.
        page: Page<P::Entity>,
        /// The query: that of [`Arguments::search`](crate::Arguments::search), perhaps narrowed.
        search: Search,
        /// The number of all entities that match and that the caller may read, if the query asks for it.
        total: Option<u64>,
    },
    /// All entities of a list. The answer has those that the caller may read and `search` asks for.
    Whole {
        /// The entities.
        entities: Vec<P::Entity>,
        /// The query: that of [`Arguments::search`](crate::Arguments::search).
        search: Search,
    },
    /// Data that is no entity.
    Value(Box<dyn ErasedSerialize + Send + Sync>),
    /// A form whose questions are data.
    Questionnaire(Questionnaire),
    /// Bytes with their own media type, which are sent as they are and not in a format: an image, a document.
    Bytes(Bytes),
    /// A stored file, which is streamed. Only an action that reads answers with one.
    File(StoredFile),
    /// Several stored files, which are streamed as one. Only an action that reads answers with them.
    Bundle(Bundle),
    /// Bytes that are made piece by piece while they are sent. Only an action that reads answers with them.
    Stream(Streaming),
    /// The archive of the site with this id, which is streamed.
    Archive(String),
    /// Success with a part of what was sent: what is written is kept, with its events, and the answer is this error, which
    /// names the rest: see [`Error::partly`]. In an atomic batch nothing is kept, as after every error.
    Incomplete(Error),
    /// The answer of another address below `/direct`, read on behalf of the same caller.
    Forward(DirectPath),
    /// One of the other results, and the entity that a write was about; made by [`ActionResult::about`].
    About(Box<Self>, Reference),
    /// One of the other results, with headers; made by [`ActionResult::with_header`].
    WithHeaders(Box<Self>, Vec<ResponseHeader>),
    /// One of the other results, which shows a part of something longer; made by [`ActionResult::part_of`].
    Windowed(Box<Self>, Paging),
}

impl<P: Provider> ActionResult<P> {
    /// Creates a result from data that is no entity.
    pub fn value(data: impl Serialize + Send + Sync + 'static) -> Self {
        Self::Value(Box::new(data))
    }

    /// Creates an empty answer to the list query `search`.
    pub fn empty(search: Search) -> Self {
        Self::Whole {
            entities: Vec::new(),
            search,
        }
    }

    /// Says that a write was about another entity than the one on which the action ran, such as one of another type that
    /// it made. A browser that has sent a form goes on to the page of that entity.
    #[must_use]
    pub fn about(self, reference: Reference) -> Self {
        Self::About(Box::new(self), reference)
    }

    /// Says that the result, data or an entity, holds a part of something longer. The answer leads to the next part by
    /// the header `Link`, at the same address with the same parameters, and tells the number of all elements by
    /// `X-Total-Count`.
    #[must_use]
    pub fn part_of(self, paging: Paging) -> Self {
        Self::Windowed(Box::new(self), paging)
    }

    /// Adds a header, which is sent beside the body. A result that forwards carries no headers.
    #[must_use]
    pub fn with_header(self, name: &'static str, value: impl Into<String>) -> Self {
        let header = ResponseHeader {
            name,
            value: value.into(),
        };
        match self {
            Self::WithHeaders(outcome, mut headers) => {
                headers.push(header);
                Self::WithHeaders(outcome, headers)
            }
            outcome => Self::WithHeaders(Box::new(outcome), vec![header]),
        }
    }
}

impl<P: Provider> fmt::Debug for ActionResult<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Done => "Done",
            Self::Entity(_) => "Entity",
            Self::Created(_) => "Created",
            Self::Collection { .. } => "Collection",
            Self::List(_) => "List",
            Self::Part { .. } => "Part",
            Self::Whole { .. } => "Whole",
            Self::Value(_) => "Value",
            Self::Questionnaire(_) => "Questionnaire",
            Self::Bytes(_) => "Bytes",
            Self::File(_) => "File",
            Self::Bundle(_) => "Bundle",
            Self::Stream(_) => "Stream",
            Self::Archive(_) => "Archive",
            Self::Incomplete(_) => "Incomplete",
            Self::Forward(_) => "Forward",
            Self::About(..) => "About",
            Self::WithHeaders(..) => "WithHeaders",
            Self::Windowed(..) => "Windowed",
        })
    }
}

/// A result of the function of an action: the entity itself, [`Created`] or [`Data`], a [`Search`], which is run as the
/// type's own list is, [`Done`], or `()` for an answer without content (204). The descriptions of the service tell by
/// this type what the action answers. A function that returns an [`ActionResult`] answers whatever it wants, and the
/// action [declares](crate::Action::answers) what that is.
#[diagnostic::on_unimplemented(
    message = "an action of `{P}` can't return `{Self}`",
    note = "return the entity, `Created(entity)`, `Data(value)`, a `Search`, `Done`, `()` or an `Outcome`"
)]
pub trait Answer<P: Provider> {
    /// The kind of the answer.
    const ANSWERS: Answers;

    /// Converts what the function has returned.
    fn into_outcome(self) -> ActionResult<P>;
}

/// An entity that the action has created.
#[derive(Clone, Debug)]
pub struct Created<E>(pub E);

/// Data that is no entity.
#[derive(Clone, Debug)]
pub struct Data<T>(pub T);

/// An answer without content that has the status 200, where existing clients expect that; `()` is answered with 204.
#[derive(Clone, Copy, Debug)]
pub struct Done;

impl<P: Provider> Answer<P> for ActionResult<P> {
    const ANSWERS: Answers = Answers::Unsaid;

    fn into_outcome(self) -> ActionResult<P> {
        self
    }
}

impl<P: Provider<Entity = P>> Answer<P> for P {
    const ANSWERS: Answers = Answers::Entity;

    fn into_outcome(self) -> ActionResult<P> {
        ActionResult::Entity(self)
    }
}

impl<P: Provider> Answer<P> for Created<P::Entity> {
    const ANSWERS: Answers = Answers::Created;

    fn into_outcome(self) -> ActionResult<P> {
        ActionResult::Created(self.0)
    }
}

impl<P: Provider, T: Serialize + JsonSchema + Send + Sync + 'static> Answer<P> for Data<T> {
    const ANSWERS: Answers = Answers::Value(shape::of::<T>);

    fn into_outcome(self) -> ActionResult<P> {
        ActionResult::value(self.0)
    }
}

impl<P: List> Answer<P> for Search {
    const ANSWERS: Answers = Answers::Collection;

    fn into_outcome(self) -> ActionResult<P> {
        ActionResult::List(self)
    }
}

impl<P: Provider> Answer<P> for Done {
    const ANSWERS: Answers = Answers::Done;

    fn into_outcome(self) -> ActionResult<P> {
        ActionResult::Done
    }
}

impl<P: Provider> Answer<P> for () {
    const ANSWERS: Answers = Answers::Nothing;

    fn into_outcome(self) -> ActionResult<P> {
        ActionResult::Done
    }
}

//! The result of an action on entities of any type, for code that is compiled once for all types.

use super::paging::Paging;
use super::result::ActionResult;
use crate::contract::provider::Provider;
use crate::contract::reply::{Body, Item, Value};
use crate::contract::response_header::ResponseHeader;
use crate::contract::search::{Page, Search, Window};
use crate::primitives::reference::Reference;

/// An [`ActionResult`] with its parts side by side.
pub(crate) struct AnyActionResult {
    pub(crate) shown: Shown,
    /// The entity that a write was about, if the result says so.
    pub(crate) about: Option<Reference>,
    pub(crate) headers: Vec<ResponseHeader>,
    /// The length of the whole of which a part is shown.
    pub(crate) paging: Option<Paging>,
}

/// The answer of an action.
pub(crate) enum Shown {
    /// No entity.
    Bare(Body),
    Entity(Item),
    Created(Item),
    List(Search),
    Collection(Page<Item>, Window),
    Part(Page<Item>, Search, Option<u64>),
    Whole(Vec<Item>, Search),
}

impl From<Shown> for AnyActionResult {
    fn from(shown: Shown) -> Self {
        Self {
            shown,
            about: None,
            headers: Vec::new(),
            paging: None,
        }
    }
}

impl AnyActionResult {
    /// Converts the result of the action with this name.
    pub(crate) fn of<P: Provider>(outcome: ActionResult<P>, name: &'static str) -> Self {
        let item = |it| Item::new(P::PREFIX, it);
        let shown = match outcome {
            ActionResult::About(outcome, reference) => {
                let inner = Self::of(*outcome, name);
                let about = inner.about.or(Some(reference));
                return Self { about, ..inner };
            }
            ActionResult::WithHeaders(outcome, headers) => {
                let mut inner = Self::of(*outcome, name);
                inner.headers.extend(headers);
                return inner;
            }
            ActionResult::Windowed(outcome, paging) => {
                let inner = Self::of(*outcome, name);
                let paging = inner.paging.or(Some(paging));
                return Self { paging, ..inner };
            }
            ActionResult::Entity(it) => Shown::Entity(item(it)),
            ActionResult::Created(it) => Shown::Created(item(it)),
            ActionResult::List(search) => Shown::List(search),
            ActionResult::Collection { page, window } => Shown::Collection(page.map(item), window),
            ActionResult::Part {
                page,
                search,
                total,
            } => Shown::Part(page.map(item), search, total),
            ActionResult::Whole { entities, search } => {
                Shown::Whole(entities.into_iter().map(item).collect(), search)
            }
            ActionResult::Done => Shown::Bare(Body::Empty),
            ActionResult::Value(data) => {
                Shown::Bare(Body::Value(Value::new(P::PREFIX, name, data)))
            }
            ActionResult::Questionnaire(it) => {
                let value = Value::of_questionnaire(P::PREFIX, name, it);
                Shown::Bare(Body::Value(value))
            }
            ActionResult::Bytes(bytes) => Shown::Bare(Body::Bytes(bytes)),
            ActionResult::File(file) => Shown::Bare(Body::File(file)),
            ActionResult::Bundle(bundle) => Shown::Bare(Body::Bundle(bundle)),
            ActionResult::Stream(streaming) => Shown::Bare(Body::Stream(streaming)),
            ActionResult::Archive(site) => Shown::Bare(Body::Archive(site)),
            ActionResult::Incomplete(error) => Shown::Bare(Body::Incomplete(error)),
            ActionResult::Forward(path) => Shown::Bare(Body::Forward(path)),
        };
        shown.into()
    }
}

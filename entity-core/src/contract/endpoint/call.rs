//! The data with which an endpoint is called, and the answer of its handler.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::contract::context::Context;
use crate::contract::input::Input;
use crate::contract::patch::Patch;
use crate::contract::search::{MAX_LIMIT, Page, Window};
use crate::model::shape;
use crate::model::value::flag;
use crate::primitives::error::{Error, Result};

/// The data with which an endpoint is called.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// The values of the path's variables, decoded, each with the name of its variable.
    pub variables: Vec<(&'static str, String)>,
    /// The pairs of the query, decoded, in order.
    pub query: Vec<(String, String)>,
    /// The body, if the endpoint [takes](super::Endpoint::takes) one.
    pub body: Option<Value>,
}

impl Call {
    /// Returns the value of the path's variable `name`.
    ///
    /// # Errors
    /// Returns an error if the path of the endpoint has no such variable: a defect, not the caller's fault.
    pub fn variable(&self, name: &str) -> Result<&str> {
        let found = self.variables.iter().find(|it| it.0 == name);
        found
            .map(|it| it.1.as_str())
            .ok_or_else(|| Error::internal(format!("the path has no variable `{name}`")))
    }

    /// Returns the value of the query parameter `name`, if the query has it.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|it| it.0 == name);
        found.map(|it| it.1.as_str())
    }

    /// Returns the truth value of the query parameter `name`, which is false by default.
    ///
    /// # Errors
    /// Returns an error if the value is neither true nor false: see [`flag`].
    pub fn flag(&self, name: &str) -> Result<bool> {
        self.parameter(name).map_or(Ok(false), |it| flag(name, it))
    }

    /// Returns the part of a list that the query asks for.
    ///
    /// # Errors
    /// Returns an error that names the parameter if the query has an invalid number.
    pub fn window(&self) -> Result<Window> {
        Window::parse(&self.query, MAX_LIMIT)
    }

    /// Decodes the body.
    ///
    /// # Errors
    /// Returns an error that names the invalid part if the body has another shape.
    pub fn body<T: JsonSchema + DeserializeOwned>(&self) -> Result<T> {
        shape::decode(self.body.clone().unwrap_or_default())
    }

    /// Parses the body of an endpoint that [patches](super::Endpoint::patch).
    ///
    /// # Errors
    /// Returns an error if the body is no list of operations, or if there are too many.
    pub fn patch(&self) -> Result<Input> {
        let patch = Patch::operations(self.body.clone().unwrap_or_default())?;
        Ok(Input {
            patch: Some(patch),
            ..Input::default()
        })
    }
}

/// A part of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paged<T> {
    /// The data of this part.
    pub data: T,
    /// The part that follows, if the list continues.
    pub next: Option<Window>,
}

impl<T> Paged<T> {
    /// Creates the part `window` of a list, which continues behind its first `next` entities, if it does. [`Paged::of`]
    /// makes it from a page.
    pub fn new(data: T, window: Window, next: Option<u64>) -> Self {
        let next = next.map(|start| Window { start, ..window });
        Self { data, next }
    }

    /// Creates the part `window` of a list from its `page`, which is shortened to what an answer may hold.
    ///
    /// # Errors
    /// Returns an error if an item can't be serialised.
    pub fn of<I: Serialize>(
        cx: &Context,
        page: Page<I>,
        window: Window,
        make: impl FnOnce(Vec<I>) -> T,
    ) -> Result<Self> {
        let page = page.within(cx.answer_bytes())?;
        let next = page.next_start(window);
        Ok(Self::new(make(page.items), window, next))
    }
}

/// Something that was created, and has an address of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created<T> {
    /// The path of the address, which begins with `/`.
    pub path: String,
    /// The data.
    pub data: T,
}

/// Data that may be missing: the answer then has no content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionalBody<T>(pub Option<T>);

/// The answer of a handler.
#[derive(derive_more::Debug)]
#[debug("Answer {{ next: {:?}, created: {:?}, is_empty: {:?} }}", self.next, self.created, self.is_empty)]
pub struct Answer {
    /// The data.
    pub data: Box<dyn erased_serde::Serialize + Send>,
    /// The part of the list that follows, if the data are a part of a list that continues.
    pub next: Option<Window>,
    /// The path of what was created, if something was.
    pub created: Option<String>,
    /// True if there are no data, and the answer has no content.
    pub is_empty: bool,
}

impl Answer {
    pub(super) fn new(data: impl Serialize + Send + 'static, next: Option<Window>) -> Self {
        Self {
            data: Box::new(data),
            next,
            created: None,
            is_empty: false,
        }
    }
}

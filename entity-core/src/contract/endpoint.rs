//! Endpoints: addresses below `/api` that answer with views of entities instead of the entities themselves.
//!
//! An endpoint is declared in one place, beside its handler, and registers itself as a type does:
//!
//! ```
//! use entity_core::endpoint::{Call, Endpoint};
//! use entity_core::schemars::JsonSchema;
//! use entity_core::{Context, Result};
//!
//! /// The greeting of a site.
//! #[derive(serde::Serialize, JsonSchema)]
//! #[schemars(crate = "entity_core::schemars")]
//! struct Greeting {
//!     /// The text.
//!     text: String,
//! }
//!
//! const GREETING: Endpoint = Endpoint::get("/api/sites/{siteId}/greeting", "readGreetingOfSite")
//!     .doc("Greets a site.")
//!     .variable("siteId", "The site.")
//!     .flag("loud", "whether to greet it loudly")
//!     .answers::<Greeting>(&greet);
//! entity_core::register_endpoint!(GREETING);
//!
//! async fn greet(_cx: &Context, call: Call) -> Result<Greeting> {
//!     let sign = if call.flag("loud")? { "!" } else { "." };
//!     let text = format!("Hello, {}{sign}", call.variable("siteId")?);
//!     Ok(Greeting { text })
//! }
//! # let call = Call::default();
//! # assert!(call.variable("siteId").is_err());
//! # assert!(GREETING.fault().is_none());
//! ```

mod call;
mod check;
mod handler;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::contract::context::Context;
use crate::model::shape::{self, Shape};
use crate::primitives::error::{Error, ErrorKind, Result};
use crate::primitives::verb::Verb;

pub use call::{Answer, Call, Created, OptionalBody, Paged};
pub use handler::{Answering, Handle, Handler};

/// The mount point of all endpoints.
pub const MOUNT: &str = "/api";
/// The media type of the bodies that endpoints of entity types read.
pub const JSON: &str = "application/json";
/// The media type of a JSON Patch, which endpoints that patch read.
pub const JSON_PATCH: &str = "application/json-patch+json";
/// The maximum number of parameters of an endpoint, the variables of its path included.
const MAX_PARAMETERS: usize = 8;

/// The declaration of an endpoint: its address, its parameters, its answer, and its handler.
///
/// An endpoint is closed to callers without a session unless it is declared [open](Self::open).
#[derive(derive_more::Debug, Clone)]
#[debug("Endpoint({} {})", self.verb.name(), self.path)]
pub struct Endpoint {
    /// The verb. `GET` includes `HEAD`.
    pub verb: Verb,
    /// The path. `{name}` stands for one segment.
    pub path: &'static str,
    /// The operation id, which is unique in the service.
    pub id: &'static str,
    /// The group of operations to which descriptions assign the endpoint: `portal`, or the prefix of a type.
    pub tag: &'static str,
    /// The description.
    pub doc: &'static str,
    /// The path of the endpoint that answers the same, if this one is [another address](Self::also) of it.
    pub same_as: Option<&'static str>,
    /// The body that clients send, if there is one.
    pub body: Option<RequestBody>,
    /// The kind of a successful answer. The service refuses to start with an endpoint that declares none.
    pub success: Option<Success>,
    /// The shape of the answer to a malformed request, if it can be another one than that of all errors.
    pub malformed: Option<Shape>,
    /// True if the answer has an `ETag`, which clients can send as `If-None-Match`.
    pub has_version: bool,
    /// The kinds of errors that the endpoint can answer with, besides those that all endpoints have in common.
    pub refusals: &'static [ErrorKind],
    /// True if callers without a session may use the endpoint.
    pub is_open: bool,
    parameters: [Option<Parameter>; MAX_PARAMETERS],
    has_too_many: bool,
    handler: Option<&'static dyn Handler>,
}

/// A parameter of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The kind of the parameter, which also determines its place in the request.
    pub kind: ParameterKind,
    /// The name.
    pub name: &'static str,
    /// The description.
    pub doc: &'static str,
}

/// The kind of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// A segment of the path.
    Variable,
    /// A text in the query.
    Text,
    /// A truth value in the query.
    Flag,
}

/// The body that an endpoint takes.
#[derive(Clone, Copy, Debug)]
pub struct RequestBody {
    /// The media types in which the body can be sent.
    pub media_types: &'static [&'static str],
    /// The shape of the body.
    pub shape: Shape,
    /// An example of the body.
    pub example: Option<fn() -> Value>,
}

/// The kind of an endpoint's successful answer.
#[derive(Clone, Copy, Debug)]
pub enum Success {
    /// Data. Clients can ask for an envelope around them.
    Data(Shape),
    /// Data, or an answer without content if there are none. Clients can ask for an envelope around the data.
    OptionalBody(Shape),
    /// A part of a list, with a header that leads to the next part. Clients can ask for an envelope around it.
    Paged(Shape),
    /// Data of something that was created, with a header that leads to it. Clients can ask for an envelope around them.
    Created(Shape),
    /// A JSON document that the service writes by itself.
    Json(Shape),
    /// A stream of this media type that goes on until the client leaves.
    Stream(&'static str),
    /// A page.
    Page,
    /// A redirection.
    SeeOther,
}

impl Endpoint {
    /// Begins the declaration of an endpoint that reads, in a unit of work that can't write.
    pub const fn get(path: &'static str, id: &'static str) -> Self {
        Self::new(Verb::Get, path, id)
    }

    /// Begins the declaration of an endpoint that writes. Its handler runs in one unit of work, which is committed
    /// before the answer is sent, and runs again if that unit of work loses a race against another one.
    pub const fn post(path: &'static str, id: &'static str) -> Self {
        Self::new(Verb::Post, path, id)
    }

    /// Begins the declaration of an endpoint that replaces data. It runs as one for `POST` does.
    pub const fn put(path: &'static str, id: &'static str) -> Self {
        Self::new(Verb::Put, path, id)
    }

    /// Begins the declaration of an endpoint that changes data by a JSON Patch: a list of operations, which
    /// [`Call::patch`] parses. It runs as one for `POST` does.
    pub const fn patch(path: &'static str, id: &'static str) -> Self {
        Self::new(Verb::Patch, path, id).body(RequestBody {
            media_types: &[JSON_PATCH],
            shape: shape::of::<Vec<Map<String, Value>>>,
            example: None,
        })
    }

    /// Begins the declaration of an endpoint that deletes data. It runs as one for `POST` does.
    pub const fn delete(path: &'static str, id: &'static str) -> Self {
        Self::new(Verb::Delete, path, id)
    }

    const fn new(verb: Verb, path: &'static str, id: &'static str) -> Self {
        Self {
            verb,
            path,
            id,
            tag: "portal",
            doc: "",
            same_as: None,
            body: None,
            success: None,
            malformed: None,
            has_version: false,
            refusals: &[],
            is_open: false,
            parameters: [None; MAX_PARAMETERS],
            has_too_many: false,
            handler: None,
        }
    }

    /// Sets the description.
    #[must_use]
    pub const fn doc(mut self, doc: &'static str) -> Self {
        self.doc = doc;
        self
    }

    /// Sets the group of operations to which descriptions assign the endpoint, such as the prefix of a type.
    #[must_use]
    pub const fn tag(mut self, tag: &'static str) -> Self {
        self.tag = tag;
        self
    }

    /// Describes the variable `{name}` of the path. The service refuses to start with an endpoint whose path lacks the
    /// variable, and with one that leaves a variable of its path undescribed.
    #[must_use]
    pub const fn variable(self, name: &'static str, doc: &'static str) -> Self {
        self.parameter(ParameterKind::Variable, name, doc)
    }

    /// Declares a text in the query.
    #[must_use]
    pub const fn text(self, name: &'static str, doc: &'static str) -> Self {
        self.parameter(ParameterKind::Text, name, doc)
    }

    /// Declares a truth value in the query, which is false by default.
    #[must_use]
    pub const fn flag(self, name: &'static str, doc: &'static str) -> Self {
        self.parameter(ParameterKind::Flag, name, doc)
    }

    const fn parameter(
        mut self,
        kind: ParameterKind,
        name: &'static str,
        doc: &'static str,
    ) -> Self {
        let mut places: &mut [Option<Parameter>] = &mut self.parameters;
        while let [place, further @ ..] = places {
            if place.is_none() {
                *place = Some(Parameter { kind, name, doc });
                return self;
            }
            places = further;
        }
        self.has_too_many = true;
        self
    }

    /// Declares that clients send a `T` as JSON, which [`Call::body`] decodes.
    #[must_use]
    pub const fn takes<T: JsonSchema + DeserializeOwned>(self) -> Self {
        self.body(RequestBody {
            media_types: &[JSON],
            shape: shape::of::<T>,
            example: None,
        })
    }

    /// Declares the body that clients send.
    #[must_use]
    pub const fn body(mut self, body: RequestBody) -> Self {
        self.body = Some(body);
        self
    }

    /// Declares the kinds of errors that the endpoint can answer with, besides those that all have in common.
    #[must_use]
    pub const fn refuses(mut self, refusals: &'static [ErrorKind]) -> Self {
        self.refusals = refusals;
        self
    }

    /// Declares the shape of the answer to a malformed request, where that can be another one than that of all errors.
    #[must_use]
    pub const fn malformed(mut self, shape: Shape) -> Self {
        self.malformed = Some(shape);
        self
    }

    /// Declares that the answer has an `ETag`.
    #[must_use]
    pub const fn versioned(mut self) -> Self {
        self.has_version = true;
        self
    }

    /// Admits callers without a session.
    #[must_use]
    pub const fn open(mut self) -> Self {
        self.is_open = true;
        self
    }

    /// Declares the handler: an `async fn(&Context, Call) -> Result<T>`, where `T` is serialisable data with a JSON
    /// schema, a [`Paged`] of a list of such data, or [`Created`] or [`OptionalBody`] with such data.
    #[must_use]
    pub const fn answers<T: Answering>(
        mut self,
        handler: &'static impl for<'a> Handle<'a, Answer = T>,
    ) -> Self {
        self.success = Some(T::SUCCESS);
        self.handler = Some(handler);
        self
    }

    /// Declares the kind of the answer of an endpoint whose handler is a part of the service itself.
    #[must_use]
    pub const fn answers_as(mut self, success: Success) -> Self {
        self.success = Some(success);
        self
    }

    /// Returns the same endpoint at another address, which has an operation id of its own. Its path has the same
    /// variables. `register_endpoint!(LOANS, also("/api/loans/users/me", "listLoansOfCaller"));` registers both.
    #[must_use]
    pub const fn also(mut self, path: &'static str, id: &'static str) -> Self {
        self.same_as = Some(self.path);
        self.path = path;
        self.id = id;
        self
    }

    /// Returns the description for people, which tells of which other endpoint this one is another address.
    pub fn description(&self) -> String {
        match self.same_as {
            Some(path) => format!("The same as `{path}`."),
            None => self.doc.to_owned(),
        }
    }

    /// Returns the parameters, in the order of their declaration.
    pub fn parameters(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().flatten()
    }

    /// Returns the parameters of this kind, each as its name and its description.
    pub fn parameters_of(
        &self,
        kind: ParameterKind,
    ) -> impl Iterator<Item = (&'static str, &'static str)> {
        let of_kind = self.parameters().filter(move |it| it.kind == kind);
        of_kind.map(|it| (it.name, it.doc))
    }

    /// Returns whether the endpoint declares a handler of its own.
    pub fn has_handler(&self) -> bool {
        self.handler.is_some()
    }

    /// Runs the handler in the unit of work of `cx`. The caller must have been [admitted](Self::open) before; whoever runs
    /// an endpoint that writes [checks the quotas](crate::db::check_quotas) afterwards.
    ///
    /// # Errors
    /// Fails as the handler does.
    pub async fn run(&self, cx: &Context, call: Call) -> Result<Answer> {
        let handler = self
            .handler
            .ok_or_else(|| Error::internal("an endpoint has no handler"))?;
        handler.run(cx, call).await
    }
}

/// The registration of an endpoint; created by [`register_endpoint!`](crate::register_endpoint).
#[derive(Clone, Copy, Debug)]
pub struct EndpointRegistration {
    /// The name of the crate that registers the endpoint.
    pub origin: &'static str,
    /// The endpoint.
    pub endpoint: &'static Endpoint,
}

inventory::collect!(EndpointRegistration);

impl EndpointRegistration {
    /// Returns the endpoints that the linked crates registered, in the order of their paths.
    pub fn all() -> Vec<Self> {
        let mut all: Vec<Self> = inventory::iter::<Self>.into_iter().copied().collect();
        all.sort_by_key(|it| (it.endpoint.path, it.endpoint.verb, it.origin));
        all
    }
}

/// Registers an [`Endpoint`], which must be a constant, or several: `register_endpoint!(LOANS, LEND);`. With `also("/api/…", "id")`, the
/// endpoint answers at [another address](Endpoint::also), too.
#[macro_export]
macro_rules! register_endpoint {
    ($endpoint:expr, also($path:literal, $id:literal)) => {
        $crate::register_endpoint!($endpoint);
        const _: () = {
            const ALSO: $crate::endpoint::Endpoint = $endpoint.also($path, $id);
            $crate::register_endpoint!(ALSO);
        };
    };
    ($first:expr, $($further:expr),+ $(,)?) => {
        $crate::register_endpoint!($first);
        $($crate::register_endpoint!($further);)+
    };
    ($endpoint:expr) => {
        $crate::inventory::submit! {
            $crate::endpoint::EndpointRegistration {
                origin: env!("CARGO_PKG_NAME"),
                endpoint: &$endpoint,
            }
        }
    };
}

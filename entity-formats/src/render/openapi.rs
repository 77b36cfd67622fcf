//! An OpenAPI 3.1 document, as far as the service needs it.
//!
//! The server fills it from what is registered. It is written as JSON for programs and by [`explorer_page`](crate::html::explorer_page)
//! for people.

use std::collections::BTreeMap;

use schemars::Schema;
use serde::Serialize;
use serde_json::{Map, Value};

/// Things by name, in the order in which they were put in.
pub type Named<T> = Vec<(String, T)>;

/// The whole document.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    /// The version of OpenAPI.
    pub openapi: &'static str,
    /// The metadata of the described interface.
    pub info: Info,
    /// Where it is.
    pub servers: Vec<Server>,
    /// Groups of operations.
    pub tags: Vec<Tag>,
    /// The operations by path.
    #[serde(serialize_with = "as_map")]
    pub paths: Named<PathItem>,
    /// The components that operations share.
    pub components: Components,
}

/// The metadata of an interface.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Info {
    /// Its name.
    pub title: String,
    /// Its version.
    pub version: String,
    /// The introduction, in `CommonMark`.
    pub description: String,
}

/// Where the service is.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Server {
    /// Its address.
    pub url: String,
}

/// A group of operations.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Tag {
    /// Its name.
    pub name: String,
    /// The title, if it differs from the name.
    #[serde(rename = "x-displayName", skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description of the group.
    pub description: String,
}

/// The operations at a path, by method in lower case.
pub type PathItem = BTreeMap<&'static str, Operation>;

/// The operation of a method at a path.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    /// A name that no other operation has.
    pub operation_id: String,
    /// The groups it belongs to.
    pub tags: Vec<String>,
    /// The summary.
    pub summary: String,
    /// More about it, `CommonMark`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The parameters in its address and its header.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Parameter>,
    /// The body of its request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_body: Option<RequestBody>,
    /// The responses by status.
    pub responses: BTreeMap<String, Answer>,
    /// The security requirements; one of the list is enough, and `{}` requires nothing.
    pub security: Vec<BTreeMap<&'static str, Vec<String>>>,
}

impl Operation {
    /// Returns whether a form may call it: it only reads, and its address holds no secret, which would stay behind in
    /// places where addresses are kept.
    pub fn can_be_tried(&self, method: &str) -> bool {
        let is_secret = |it: &Parameter| it.schema.get("format").is_some_and(|it| it == SECRET);
        method == "get" && !self.parameters.iter().any(is_secret)
    }
}

/// The format of texts that are secret.
pub const SECRET: &str = "password";

/// Where a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Location {
    /// In the path.
    Path,
    /// In the query.
    Query,
    /// In the header.
    Header,
}

/// A parameter of an operation.
#[derive(Clone, Debug, Serialize)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Where it is.
    #[serde(rename = "in")]
    pub location: Location,
    /// The description.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// True if it must be there.
    pub required: bool,
    /// Its values.
    pub schema: Schema,
    /// One of its values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<Value>,
}

/// A body that an operation takes.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RequestBody {
    /// The description.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// True if it must be there.
    pub required: bool,
    /// Its forms, by media type.
    pub content: BTreeMap<String, Content>,
}

/// A body of one media type.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Content {
    /// The schema of the value, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Schema>,
    /// One that would do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<Value>,
}

/// An answer: one of its own, or one that many operations have in common.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// The one of [`Components::responses`] with this reference.
    Shared {
        /// `#/components/responses/` and its name.
        #[serde(rename = "$ref")]
        reference: String,
    },
    /// One of its own.
    Own(Response),
}

/// A response of an operation.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Response {
    /// The description.
    pub description: String,
    /// The headers.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<&'static str, Header>,
    /// Its body, by media type.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub content: BTreeMap<String, Content>,
    /// The links to further operations.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub links: BTreeMap<String, Link>,
}

/// A field of an answer's header.
#[derive(Clone, Debug, Serialize)]
pub struct Header {
    /// The description.
    pub description: String,
    /// Its values.
    pub schema: Schema,
}

/// An operation whose parameters an answer tells.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Link {
    /// The operation.
    pub operation_id: String,
    /// Its parameters, each with where in the answer it is.
    pub parameters: BTreeMap<String, String>,
}

/// The components that operations share.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Components {
    /// Shapes of data, by name.
    pub schemas: Map<String, Value>,
    /// Answers, by name.
    pub responses: BTreeMap<String, Response>,
    /// Ways to say who one is, by name.
    pub security_schemes: BTreeMap<&'static str, SecurityScheme>,
}

/// A way to say who one is.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase", tag = "type")]
pub enum SecurityScheme {
    /// A secret in a cookie or in a field of the header.
    ApiKey {
        /// The description.
        description: &'static str,
        /// The cookie's or the field's name.
        name: String,
        /// `cookie` or `header`.
        #[serde(rename = "in")]
        location: &'static str,
    },
    /// An authentication scheme of HTTP.
    Http {
        /// The description.
        description: &'static str,
        /// Its name.
        scheme: &'static str,
    },
}

impl Document {
    /// The operation with this id, its method and its path.
    pub fn operation(&self, id: &str) -> Option<(&'static str, &str, &Operation)> {
        self.operations().find(|it| it.2.operation_id == id)
    }

    /// All operations, each with its method in lower case and its path.
    pub fn operations(&self) -> impl Iterator<Item = (&'static str, &str, &Operation)> {
        self.paths.iter().flat_map(|(path, item)| {
            item.iter()
                .map(move |(method, operation)| (*method, path.as_str(), operation))
        })
    }

    /// Adds an operation.
    pub fn add(&mut self, path: &str, method: &'static str, operation: Operation) {
        if let Some((_, item)) = self.paths.iter_mut().find(|it| it.0 == path) {
            item.insert(method, operation);
        } else {
            let item = PathItem::from([(method, operation)]);
            self.paths.push((path.to_owned(), item));
        }
    }

    /// Returns the response that `answer` is or refers to.
    pub fn response<'a>(&'a self, answer: &'a Answer) -> Option<&'a Response> {
        match answer {
            Answer::Own(response) => Some(response),
            Answer::Shared { reference } => {
                let name = reference.rsplit('/').next()?;
                self.components.responses.get(name)
            }
        }
    }
}

fn as_map<T: Serialize, S: serde::Serializer>(
    named: &Named<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(named.iter().map(|(name, it)| (name, it)))
}

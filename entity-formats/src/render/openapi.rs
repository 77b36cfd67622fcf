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
    /// What is described.
    pub info: Info,
    /// Where it is.
    pub servers: Vec<Server>,
    /// Groups of operations.
    pub tags: Vec<Tag>,
    /// What can be done at which path.
    #[serde(serialize_with = "as_map")]
    pub paths: Named<PathItem>,
    /// What operations have in common.
    pub components: Components,
}

/// What is described.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Info {
    /// Its name.
    pub title: String,
    /// Its version.
    pub version: String,
    /// What everybody should know of it, `CommonMark`.
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
    /// What people call it, if they don't call it by its name.
    #[serde(rename = "x-displayName", skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the group is about.
    pub description: String,
}

/// The operations at a path, by method in lower case.
pub type PathItem = BTreeMap<&'static str, Operation>;

/// What a method does at a path.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    /// A name that no other operation has.
    pub operation_id: String,
    /// The groups it belongs to.
    pub tags: Vec<String>,
    /// What it does.
    pub summary: String,
    /// More about it, `CommonMark`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// What it takes in its address and its header.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Parameter>,
    /// What it takes as its body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_body: Option<RequestBody>,
    /// What it answers, by status.
    pub responses: BTreeMap<String, Answer>,
    /// What the caller must show; one of the list is enough, and `{}` is nothing.
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
    /// What it means.
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
    /// What it is.
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
    /// What it must be like, if that can be told.
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

/// What an operation answers.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Response {
    /// What it means.
    pub description: String,
    /// What stands in its header.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<&'static str, Header>,
    /// Its body, by media type.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub content: BTreeMap<String, Content>,
    /// What can be asked next.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub links: BTreeMap<String, Link>,
}

/// A field of an answer's header.
#[derive(Clone, Debug, Serialize)]
pub struct Header {
    /// What it means.
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

/// What operations have in common.
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
        /// What it is.
        description: &'static str,
        /// The cookie's or the field's name.
        name: String,
        /// `cookie` or `header`.
        #[serde(rename = "in")]
        location: &'static str,
    },
    /// What HTTP itself has for it.
    Http {
        /// What it is.
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

    /// What `answer` is, wherever it is kept.
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

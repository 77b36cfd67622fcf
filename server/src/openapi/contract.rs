//! What an endpoint of `/api` takes and answers, declared where the endpoint is.

use entity_core::ErrorKind;
use entity_core::schemars::{Schema, SchemaGenerator, json_schema};
use entity_core::shape::Shape;

use serde_json::{Value, json};

use crate::auth::credentials::Names;
use crate::auth::http;
use crate::auth::password::MAX_PASSWORD;

/// A name, and what it means.
pub type Note = (&'static str, &'static str);

/// What an endpoint takes and answers. There is no endpoint without one.
#[derive(Clone, Copy, Debug)]
pub struct Contract {
    /// The group it belongs to.
    pub tag: &'static str,
    /// A name that no other operation has.
    pub id: &'static str,
    /// The variables of its path.
    pub variables: &'static [Note],
    /// Texts that it takes in the query.
    pub texts: &'static [Note],
    /// Truth values that it takes in the query.
    pub flags: &'static [Note],
    /// The media types of its body, and what the body must be like.
    pub body: Option<(&'static [&'static str], Shape)>,
    /// A body that would do, or nearly.
    pub example: Option<fn() -> Value>,
    /// What it answers when all goes well.
    pub answer: Success,
    /// A shape of its own for a malformed request, beside that of all errors.
    pub malformed: Option<Shape>,
    /// Whether its answer has an `ETag` by which a client may ask for news only.
    pub has_version: bool,
    /// How it may be refused besides what all endpoints have in common.
    pub refusals: &'static [ErrorKind],
}

/// What an endpoint answers when all goes well.
#[derive(Clone, Copy, Debug)]
pub enum Success {
    /// Data, which can be put into the envelope.
    Data(Shape),
    /// A part of a list, which can be put into the envelope; a header leads to the next part.
    Part(Shape),
    /// A document of its own making.
    Json(Shape),
    /// A page.
    Page,
    /// The address of something else.
    SeeOther,
}

impl Contract {
    /// A contract of an endpoint that answers `answer`, and takes nothing.
    pub const fn new(tag: &'static str, id: &'static str, answer: Success) -> Self {
        Self {
            tag,
            id,
            variables: &[],
            texts: &[],
            flags: &[],
            body: None,
            example: None,
            answer,
            malformed: None,
            has_version: false,
            refusals: &[],
        }
    }
}

/// An object of which no more is said.
pub(crate) fn any_object(_generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object" })
}

/// What a login takes.
pub(crate) fn login_body(_generator: &mut SchemaGenerator) -> Schema {
    credentials(http::NAMES)
}

/// What a login may take.
pub(crate) fn login_example() -> Value {
    credentials_example(http::NAMES)
}

/// Somebody's user name and password.
pub(crate) fn credentials_example(names: Names) -> Value {
    json!({ (names.username): "maria", (names.password): "correct horse battery staple" })
}

/// A user name and a password under these names.
pub(crate) fn credentials(names: Names) -> Schema {
    json_schema!({
        "type": "object",
        "required": [names.username, names.password],
        "properties": {
            (names.username): {
                "type": "string",
                "minLength": 1,
                "description": "The external id, or an e-mail address that only one account has.",
            },
            (names.password): {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_PASSWORD,
                "format": "password",
                "description": "The password.",
            },
        },
    })
}

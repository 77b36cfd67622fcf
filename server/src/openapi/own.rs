//! What the service itself answers below `/direct`: descriptions, and the login.

use std::collections::BTreeMap;

use entity_core::catalog::{Catalog, TypeEntry};
use entity_core::schemars::{Schema, json_schema};
use entity_core::shape::{self, Shape};
use entity_core::{ErrorKind, Need, Verb};
use entity_formats::openapi::{Answer, Content, Operation, Parameter, RequestBody};

use super::contract::{credentials, credentials_example};
use super::forms::page;
use super::parameters::{prefer, segment, text_parameter};
use super::refusals::Mount;
use super::{Builder, empty, text_header};
use crate::auth::session_post;

/// The group of the descriptions.
const TAG: &str = "description";
/// The group of the batches.
const BATCH: &str = "batch";
/// The type that stands for logins.
const SESSION: &str = "session";

impl Builder<'_> {
    pub(super) fn add_own(&mut self) {
        self.add_tag(TAG, None, "What is here, for people and for programs.");
        self.add_description(
            ("/direct/describe", "describeAll"),
            "Describes all types of entities.",
            (Vec::new(), shape::of::<Catalog>),
        );
        self.add_description(
            ("/direct/{prefix}/describe", "describeType"),
            "Describes one type of entities.",
            (
                vec![segment("prefix", "The prefix of the type.")],
                shape::of::<TypeEntry>,
            ),
        );
        self.add_login_form();
        self.add_login();
        self.add_tag(BATCH, None, "Many requests in one.");
        self.add_batch_of_references();
        self.add_batch_of_operations();
    }

    fn add_batch_of_references(&mut self) {
        let operation = Operation {
            operation_id: "batchOfReferences".to_owned(),
            tags: vec![BATCH.to_owned()],
            summary: "Reads many addresses at once, each answered as if it were asked alone."
                .to_owned(),
            parameters: vec![Parameter {
                required: true,
                example: Some("user/current,site".into()),
                ..text_parameter(&(
                    "_refs",
                    "addresses below `/direct`, separated by commas, at most 50",
                ))
            }],
            responses: batch_responses(),
            ..Operation::default()
        };
        let at = (Mount::Direct, "/direct/batch");
        self.add(at, Verb::Get, (Need::Session, &[]), operation);
    }

    fn add_batch_of_operations(&mut self) {
        let content = Content {
            schema: Some(operations()),
            example: Some(serde_json::json!({
                "operations": [{ "method": "GET", "path": "user/current" }]
            })),
        };
        let operation = Operation {
            operation_id: "batchOfOperations".to_owned(),
            tags: vec![BATCH.to_owned()],
            summary: "Does many things at once: each on its own, or all of them or none.".to_owned(),
            parameters: vec![prefer()],
            request_body: Some(RequestBody {
                description: "The operations, at most 50. `$<id>.entityId` in a later path or body stands for \
                    what an earlier one made."
                    .to_owned(),
                required: true,
                content: [("application/json".to_owned(), content)].into(),
            }),
            responses: batch_responses(),
            ..Operation::default()
        };
        // An atomic batch fails as the one of its operations does that fails.
        let refusals = &[
            ErrorKind::NotFound,
            ErrorKind::Conflict,
            ErrorKind::PreconditionFailed,
        ];
        let at = (Mount::Direct, "/direct/batch");
        self.add(at, Verb::Post, (Need::Session, refusals), operation);
    }

    fn add_description(
        &mut self,
        (path, id): (&str, &str),
        summary: &str,
        (parameters, shape): (Vec<Parameter>, Shape),
    ) {
        let formats = self.formats_of_data();
        let response = self.response("The description.", &formats, shape);
        let need = match self.config.describe_public {
            true => Need::Public,
            false => Need::Session,
        };
        let refusals: &[ErrorKind] = match parameters.is_empty() {
            true => &[],
            false => &[ErrorKind::NotFound],
        };
        let operation = Operation {
            operation_id: id.to_owned(),
            tags: vec![TAG.to_owned()],
            summary: summary.to_owned(),
            parameters,
            responses: [
                ("200".to_owned(), Answer::Own(response)),
                super::entities::not_modified(),
            ]
            .into(),
            ..Operation::default()
        };
        self.add(
            (Mount::Direct, path),
            Verb::Get,
            (need, refusals),
            operation,
        );
    }

    fn add_login_form(&mut self) {
        let operation = Operation {
            operation_id: "formToLogIn".to_owned(),
            tags: vec![SESSION.to_owned()],
            summary: "Shows a form that logs in.".to_owned(),
            responses: [("200".to_owned(), page("The form."))].into(),
            ..Operation::default()
        };
        let at = (Mount::Direct, "/direct/session/new");
        self.add(at, Verb::Get, (Need::Public, &[]), operation);
    }

    fn add_login(&mut self) {
        let content = |example| Content {
            schema: Some(credentials(session_post::NAMES)),
            example: Some(example),
        };
        let example = credentials_example(session_post::NAMES);
        let mut created = empty("The session has begun; its id as text.");
        created.content.insert(
            "text/plain".to_owned(),
            Content {
                schema: Some(json_schema!({ "type": "string" })),
                example: None,
            },
        );
        created.headers.extend([
            ("Set-Cookie", text_header("The cookie of the session.")),
            ("Location", text_header("The address of the session.")),
            ("EntityId", text_header("The id of the session.")),
        ]);
        let operation = Operation {
            operation_id: "logInForSession".to_owned(),
            tags: vec![SESSION.to_owned()],
            summary: "Logs in and sets the session cookie.".to_owned(),
            request_body: Some(RequestBody {
                description: "User name and password; in the query if there is no body.".to_owned(),
                required: false,
                content: ["application/json", "application/x-www-form-urlencoded"]
                    .map(|it| (it.to_owned(), content(example.clone())))
                    .into(),
            }),
            responses: [
                ("201".to_owned(), Answer::Own(created)),
                super::entities::see_other(),
            ]
            .into(),
            ..Operation::default()
        };
        let at = (Mount::Direct, "/direct/session");
        let refusals = &[ErrorKind::TooManyRequests];
        self.add(at, Verb::Post, (Need::Public, refusals), operation);
    }
}

/// The results, each with the status, the headers and the body of its own answer.
fn batch_responses() -> BTreeMap<String, Answer> {
    let told = |description: &str| {
        let mut response = empty(description);
        for media_type in ["application/json", "application/xml"] {
            let schema = media_type
                .ends_with("json")
                .then(|| json_schema!({ "type": "object" }));
            let content = Content {
                schema,
                example: None,
            };
            response.content.insert(media_type.to_owned(), content);
        }
        Answer::Own(response)
    };
    [
        ("200".to_owned(), told("All of them succeeded.")),
        ("207".to_owned(), told("Not all of them succeeded.")),
    ]
    .into()
}

/// What the body of a batch is made of.
fn operations() -> Schema {
    let headers = json_schema!({
        "type": "object",
        "additionalProperties": { "type": "string" },
        "propertyNames": { "enum": ["Accept", "Content-Type", "If-Match", "If-None-Match", "Prefer"] },
    });
    json_schema!({
        "type": "object",
        "required": ["operations"],
        "additionalProperties": false,
        "properties": {
            "atomic": { "type": "boolean" },
            "operations": {
                "type": "array",
                "minItems": 1,
                "maxItems": 50,
                "items": {
                    "type": "object",
                    "required": ["method", "path"],
                    "additionalProperties": false,
                    "properties": {
                        "id": { "type": "string" },
                        "method": { "enum": ["GET", "POST", "PUT", "PATCH", "DELETE"] },
                        "path": { "type": "string" },
                        "headers": headers,
                        "body": {},
                    },
                },
            },
        },
    })
}

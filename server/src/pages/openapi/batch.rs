//! `/direct/batch`: one method for many addresses, or a list of operations.

use std::collections::BTreeMap;

use entity_core::schemars::{Schema, json_schema};
use entity_core::{ErrorKind, Need, Verb};
use entity_formats::openapi::{Answer, Content, Location, Operation, Parameter, RequestBody};

use super::parameters::{idempotency_key, prefer, text_parameter};
use super::refusals::Mount;
use super::{Builder, empty};
use crate::base::media;
use crate::{guard::admission::rate::MAX_PARTS, web::direct::batch::HEADERS};

/// The group of the batches.
const TAG: &str = "batch";
/// The path of batches.
const PATH: &str = "/direct/batch";

impl Builder<'_> {
    pub(super) fn add_batches(&mut self) {
        self.add_tag(TAG, None, "Many requests in one.");
        for (verb, name, what) in [
            (Verb::Get, "batchOfReferences", "Reads"),
            (Verb::Put, "putBatchOfReferences", "Changes"),
            (Verb::Delete, "deleteBatchOfReferences", "Deletes"),
        ] {
            self.add_batch_of_references(verb, name, what);
        }
        self.add_batch_of_operations();
    }

    fn add_batch_of_references(&mut self, verb: Verb, name: &str, what: &str) {
        let body = (verb == Verb::Put).then(|| RequestBody {
            description: "Fields of the entities, each behind the number of its address."
                .to_owned(),
            required: false,
            content: [fields()].into(),
        });
        let operation = Operation {
            operation_id: name.to_owned(),
            tags: vec![TAG.to_owned()],
            summary: format!(
                "{what} what is at many addresses, each answered as if it came alone."
            ),
            parameters: references(true).into(),
            request_body: body,
            responses: responses(),
            ..Operation::default()
        };
        self.add((Mount::Direct, PATH), verb, (Need::Session, &[]), operation);
    }

    fn add_batch_of_operations(&mut self) {
        let content = Content {
            schema: Some(operations()),
            example: Some(serde_json::json!({
                "operations": [{ "method": "GET", "path": "user/current" }]
            })),
        };
        let parameters = references(false).into_iter();
        let operation = Operation {
            operation_id: "batchOfOperations".to_owned(),
            tags: vec![TAG.to_owned()],
            summary: "Does many things at once: each on its own, or all of them or none."
                .to_owned(),
            parameters: parameters.chain([prefer(), idempotency_key()]).collect(),
            request_body: Some(RequestBody {
                description: format!(
                    "The operations, at most {MAX_PARTS}. `$<id>.entityId` in a later path or body stands for what \
                     an earlier one made. With `_refs`, a form with the fields of what is posted to each of the \
                     addresses."
                ),
                required: false,
                content: [("application/json".to_owned(), content), fields()].into(),
            }),
            responses: responses(),
            ..Operation::default()
        };
        // An atomic batch fails as the one of its operations does that fails.
        let refusals = &[
            ErrorKind::NotFound,
            ErrorKind::Conflict,
            ErrorKind::PreconditionFailed,
        ];
        let at = (Mount::Direct, PATH);
        self.add(at, Verb::Post, (Need::Session, refusals), operation);
    }
}

/// The parameters that list the addresses, and the queries for each of them.
fn references(required: bool) -> [Parameter; 3] {
    let meaning = format!(
        "addresses below `/direct`, separated by commas, at most {MAX_PARTS}; each counts from 0"
    );
    let listed = text_parameter(&("_refs", &meaning));
    let separator = text_parameter(&(
        "separator",
        "what separates the addresses instead of commas",
    ));
    let given = Parameter {
        name: "refN".to_owned(),
        location: Location::Query,
        description:
            "What one of the addresses is asked: `ref0._limit=5` is `_limit=5` of the first."
                .to_owned(),
        required: false,
        schema: numbered(),
        example: None,
    };
    [
        Parameter {
            required,
            example: Some("user/current,site".into()),
            ..listed
        },
        Parameter {
            schema: json_schema!({ "type": "string", "minLength": 1 }),
            ..separator
        },
        given,
    ]
}

/// Pairs that each belong to one of the addresses.
fn numbered() -> Schema {
    json_schema!({
        "type": "object",
        "patternProperties": { "^ref[0-9]+\\..+$": { "type": "string" } },
        "additionalProperties": false,
    })
}

/// The schema of such pairs as a form.
fn fields() -> (String, Content) {
    let content = Content {
        schema: Some(numbered()),
        example: None,
    };
    (media::FORM.to_owned(), content)
}

/// The results, each with the status, the headers and the body of its own answer.
fn responses() -> BTreeMap<String, Answer> {
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

/// The schema of the body of a batch.
fn operations() -> Schema {
    let names = HEADERS.map(|it| it.to_string());
    let headers = json_schema!({
        "type": "object",
        "additionalProperties": { "type": "string" },
        "propertyNames": { "enum": names },
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
                "maxItems": MAX_PARTS,
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

//! The endpoints of `/api`.

use std::collections::BTreeMap;

use entity_core::catalog::{LIST_PARAMETERS, ListParameter};
use entity_core::endpoint::{self, Endpoint, ParameterKind, Success};
use entity_core::schemars::{Schema, json_schema};
use entity_core::{ErrorKind, Need, shape};
use entity_formats::json::ProblemBody;
use entity_formats::openapi::{
    Answer, Content, Location, Operation, Parameter, RequestBody, Response,
};

use super::entities::not_modified;
use super::forms::page;
use super::parameters::{if_none_match, segment, text_parameter, window_parameter};
use super::refusals::{self, Mount};
use super::{Builder, empty, text_header};
use crate::web::api::{ENVELOPE, envelope_schema};

const JSON: &str = "application/json";
/// The parameters of a list that say which part of it is wanted.
const WINDOW: [&str; 4] = ["_limit", "_start", "_page", "_perpage"];

impl Builder<'_> {
    pub(super) fn add_endpoint(&mut self, endpoint: &Endpoint) {
        let need = match endpoint.is_open {
            true => Need::Public,
            false => Need::Session,
        };
        let operation = Operation {
            operation_id: endpoint.id.to_owned(),
            tags: vec![endpoint.tag.to_owned()],
            summary: endpoint.description(),
            parameters: parameters(endpoint),
            request_body: endpoint.body.map(|it| self.endpoint_body(it)),
            responses: self.endpoint_answers(endpoint),
            ..Operation::default()
        };
        // A type describes its own group.
        if self.registry.route(endpoint.tag).is_none() {
            self.add_tag(endpoint.tag, None, about(endpoint.tag));
        }
        self.add(
            (Mount::Api, endpoint.path),
            endpoint.verb,
            (need, endpoint.refusals),
            operation,
        );
    }

    fn endpoint_body(&mut self, body: endpoint::RequestBody) -> RequestBody {
        let content = body.media_types.iter();
        let content = content.map(|it| {
            let content = Content {
                schema: Some((body.shape)(&mut self.generator)),
                example: body.example.map(|it| it()),
            };
            ((*it).to_owned(), content)
        });
        RequestBody {
            description: String::new(),
            required: true,
            content: content.collect(),
        }
    }

    fn endpoint_answers(&mut self, endpoint: &Endpoint) -> BTreeMap<String, Answer> {
        let success = endpoint.success.map(|it| self.endpoint_success(it));
        let mut answers = BTreeMap::from_iter(success);
        if matches!(endpoint.success, Some(Success::OptionalBody(_))) {
            answers.insert("204".to_owned(), Answer::Own(empty("There are no data.")));
        }
        answers.extend(endpoint.has_version.then(not_modified));
        if let Some(own) = endpoint.malformed {
            let usual = shape::of::<ProblemBody<'static>>(&mut self.generator);
            let own = own(&mut self.generator);
            let either = json_schema!({ "anyOf": [usual, own] });
            let (status, _) = refusals::answer(Mount::Api, ErrorKind::BadRequest);
            let mut response = json("The request is malformed.", either);
            response.content.insert(
                crate::base::accept::PROBLEM_JSON.to_owned(),
                Content::default(),
            );
            answers.insert(status, Answer::Own(response));
        }
        answers
    }

    fn endpoint_success(&mut self, success: Success) -> (String, Answer) {
        let (status, answer) = match success {
            Success::Data(shape)
            | Success::OptionalBody(shape)
            | Success::Paged(shape)
            | Success::Created(shape) => {
                let data = shape(&mut self.generator);
                let enveloped = envelope_schema(&data);
                let either = json_schema!({ "anyOf": [data, enveloped] });
                let mut answer = json("The data.", either);
                if matches!(success, Success::Paged(_)) {
                    let next = text_header("The next part of the list.");
                    answer.headers.insert("Link", next);
                }
                if matches!(success, Success::Created(_)) {
                    let place = text_header("Where it is.");
                    answer.headers.insert("Location", place);
                    return ("201".to_owned(), Answer::Own(answer));
                }
                ("200", Answer::Own(answer))
            }
            Success::Json(shape) => {
                let data = shape(&mut self.generator);
                ("200", Answer::Own(json("It is done.", data)))
            }
            Success::Stream(media_type) => ("200", Answer::Own(streamed(media_type))),
            Success::Page => ("200", page("The page.")),
            Success::SeeOther => {
                let mut answer = empty("It is elsewhere.");
                let place = text_header("Where it is.");
                answer.headers.insert("Location", place);
                ("303", Answer::Own(answer))
            }
        };
        (status.to_owned(), answer)
    }
}

/// A stream without an end.
fn streamed(media_type: &str) -> Response {
    Response {
        description: "The stream.".to_owned(),
        content: [(media_type.to_owned(), Content::default())].into(),
        ..Response::default()
    }
}

fn json(description: &str, schema: Schema) -> Response {
    let content = Content {
        schema: Some(schema),
        example: None,
    };
    Response {
        description: description.to_owned(),
        content: [(JSON.to_owned(), content)].into(),
        ..Response::default()
    }
}

fn parameters(endpoint: &Endpoint) -> Vec<Parameter> {
    let of_kind = |kind| endpoint.parameters_of(kind);
    let variables = of_kind(ParameterKind::Variable).map(|it| segment(it.0, it.1));
    let texts = of_kind(ParameterKind::Text).map(|it| text_parameter(&it));
    let envelope = (ENVELOPE, "whether to put the data into an envelope");
    let has_envelope = matches!(
        endpoint.success,
        Some(Success::Data(_) | Success::OptionalBody(_) | Success::Paged(_))
    );
    let is_part = matches!(endpoint.success, Some(Success::Paged(_)));
    let is_window = |it: &&ListParameter| WINDOW.contains(&it.name);
    let window = LIST_PARAMETERS.iter().filter(is_window);
    let window = window.map(window_parameter).filter(|_| is_part);
    let flags = of_kind(ParameterKind::Flag).chain(has_envelope.then_some(envelope));
    let flags = flags.map(|(name, doc)| Parameter {
        name: name.to_owned(),
        location: Location::Query,
        description: doc.to_owned(),
        required: false,
        schema: json_schema!({ "type": "boolean" }),
        example: None,
    });
    let version = endpoint.has_version.then(if_none_match);
    let of_query = variables.chain(texts).chain(window).chain(flags);
    of_query.chain(version).collect()
}

/// Returns the description of a group of endpoints that belong to no type.
fn about(tag: &str) -> &'static str {
    match tag {
        "login" => "Logging in and out.",
        "description" => "What is here, for people and for programs.",
        "portal" => "What the portal shows.",
        _ => "",
    }
}

//! The endpoints of `/api`.

use std::collections::BTreeMap;

use entity_core::catalog::{LIST_PARAMETERS, ListParameter};
use entity_core::schemars::{Schema, json_schema};
use entity_core::{ErrorKind, Need, shape};
use entity_formats::json::ProblemBody;
use entity_formats::openapi::{
    Answer, Content, Location, Operation, Parameter, RequestBody, Response,
};

use super::contract::{Contract, Success};
use super::entities::not_modified;
use super::forms::page;
use super::parameters::{if_none_match, segment, text_parameter, window_parameter};
use super::refusals::{self, Mount};
use super::{Builder, empty, text_header};
use crate::api::{ENVELOPE, Endpoint, envelope_schema};
use crate::direct::request::verb;

const JSON: &str = "application/json";
/// The parameters of a list that say which part of it is wanted.
const WINDOW: [&str; 4] = ["_limit", "_start", "_page", "_perpage"];

impl Builder<'_> {
    pub(super) fn add_endpoint(&mut self, endpoint: &Endpoint) {
        let contract = &endpoint.contract;
        let Some(verb) = verb(&endpoint.method) else {
            return;
        };
        let need = match endpoint.is_open {
            true => Need::Public,
            false => Need::Session,
        };
        let operation = Operation {
            operation_id: contract.id.to_owned(),
            tags: vec![contract.tag.to_owned()],
            summary: endpoint.doc.to_owned(),
            parameters: parameters(contract),
            request_body: self.endpoint_body(contract),
            responses: self.endpoint_answers(contract),
            ..Operation::default()
        };
        self.add_tag(contract.tag, None, tag(contract.tag));
        self.add(
            (Mount::Api, endpoint.path),
            verb,
            (need, contract.refusals),
            operation,
        );
    }

    fn endpoint_body(&mut self, contract: &Contract) -> Option<RequestBody> {
        let (media_types, shape) = contract.body?;
        let content = media_types
            .iter()
            .map(|it| {
                let content = Content {
                    schema: Some(shape(&mut self.generator)),
                    example: contract.example.map(|it| it()),
                };
                ((*it).to_owned(), content)
            })
            .collect();
        Some(RequestBody {
            description: String::new(),
            required: true,
            content,
        })
    }

    fn endpoint_answers(&mut self, contract: &Contract) -> BTreeMap<String, Answer> {
        let (status, answer) = match contract.answer {
            Success::Data(shape) | Success::Part(shape) => {
                let data = shape(&mut self.generator);
                let enveloped = envelope_schema(&data);
                let either = json_schema!({ "anyOf": [data, enveloped] });
                let mut answer = json("The data.", either);
                if matches!(contract.answer, Success::Part(_)) {
                    let next = text_header("The next part of the list.");
                    answer.headers.insert("Link", next);
                }
                ("200", Answer::Own(answer))
            }
            Success::Json(shape) => {
                let data = shape(&mut self.generator);
                ("200", Answer::Own(json("It is done.", data)))
            }
            Success::Page => ("200", page("The page.")),
            Success::SeeOther => {
                let mut answer = empty("It is elsewhere.");
                let place = text_header("Where it is.");
                answer.headers.insert("Location", place);
                ("303", Answer::Own(answer))
            }
        };
        let mut answers = BTreeMap::from([(status.to_owned(), answer)]);
        answers.extend(contract.has_version.then(not_modified));
        if let Some(own) = contract.malformed {
            let usual = shape::of::<ProblemBody<'static>>(&mut self.generator);
            let own = own(&mut self.generator);
            let either = json_schema!({ "anyOf": [usual, own] });
            let (status, _) = refusals::answer(Mount::Api, ErrorKind::BadRequest);
            let mut response = json("The request is malformed.", either);
            response.content.insert(
                crate::direct::negotiate::PROBLEM_JSON.to_owned(),
                Content::default(),
            );
            answers.insert(status, Answer::Own(response));
        }
        answers
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

fn parameters(contract: &Contract) -> Vec<Parameter> {
    let variables = contract.variables.iter().map(|it| segment(it.0, it.1));
    let texts = contract.texts.iter().map(text_parameter);
    let envelope = (ENVELOPE, "whether to put the data into an envelope");
    let has_envelope = matches!(contract.answer, Success::Data(_) | Success::Part(_));
    let is_part = matches!(contract.answer, Success::Part(_));
    let is_window = |it: &&ListParameter| WINDOW.contains(&it.name);
    let window = LIST_PARAMETERS.iter().filter(is_window);
    let window = window.map(window_parameter).filter(|_| is_part);
    let flags = contract
        .flags
        .iter()
        .copied()
        .chain(has_envelope.then_some(envelope));
    let flags = flags.map(|(name, doc)| Parameter {
        name: name.to_owned(),
        location: Location::Query,
        description: doc.to_owned(),
        required: false,
        schema: json_schema!({ "type": "boolean" }),
        example: None,
    });
    let version = contract.has_version.then(if_none_match);
    let of_query = variables.chain(texts).chain(window).chain(flags);
    of_query.chain(version).collect()
}

/// What a group of endpoints is about.
fn tag(name: &str) -> &'static str {
    match name {
        "login" => "Logging in and out.",
        "description" => "What is here, for people and for programs.",
        _ => "What the portal shows.",
    }
}

//! The page of an OpenAPI document: the operations of a service, with forms that try those that read.

use askama::Template;
use entity_core::Result;
use entity_core::format::View;
use serde_json::Value;

use super::frame::Frame;
use crate::render::openapi::{Answer, Content, Document, Location, Operation, Parameter};

/// The page.
#[derive(Template)]
#[template(path = "explorer.html")]
struct ExplorerPage<'a> {
    frame: Frame<'a>,
    base_url: &'a str,
    groups: Vec<Group<'a>>,
    shapes: Vec<(&'a str, String)>,
}

/// The operations of a tag.
struct Group<'a> {
    name: &'a str,
    title: &'a str,
    description: &'a str,
    entries: Vec<Entry<'a>>,
}

/// One operation.
struct Entry<'a> {
    method: String,
    path: &'a str,
    operation: &'a Operation,
    answers: Vec<Line<'a>>,
    bodies: Vec<Body<'a>>,
    tries: Option<Try<'a>>,
}

/// One answer of an operation.
struct Line<'a> {
    status: &'a str,
    description: &'a str,
    bodies: Vec<Body<'a>>,
}

/// A body of one media type.
struct Body<'a> {
    media_type: &'a str,
    shapes: Vec<String>,
    example: Option<String>,
}

/// The form that tries an operation.
struct Try<'a> {
    inputs: Vec<Input<'a>>,
    media_types: Vec<&'a str>,
}

/// One control of it.
struct Input<'a> {
    parameter: &'a Parameter,
    choices: Vec<String>,
    kind: &'static str,
    example: String,
}

/// A piece of a text, which may be code.
struct Piece<'a> {
    text: &'a str,
    is_code: bool,
}

/// Writes the page of `document`.
///
/// # Errors
/// It can't be written.
pub fn page(document: &Document, view: &View<'_>) -> Result<Vec<u8>> {
    let groups = document.tags.iter().map(|tag| Group {
        name: &tag.name,
        title: tag.title.as_ref().unwrap_or(&tag.name),
        description: &tag.description,
        entries: document
            .operations()
            .filter(|(.., operation)| operation.tags.contains(&tag.name))
            .map(|(method, path, operation)| Entry::of(document, method, path, operation))
            .collect(),
    });
    let schemas = document.components.schemas.iter();
    super::write(&ExplorerPage {
        frame: Frame::new("The interface", view).without_times(),
        base_url: view.base_url,
        groups: groups.collect(),
        shapes: schemas
            .map(|(name, schema)| (name.as_str(), pretty(schema)))
            .collect(),
    })
}

impl<'a> Entry<'a> {
    fn of(
        document: &'a Document,
        method: &'static str,
        path: &'a str,
        operation: &'a Operation,
    ) -> Self {
        let body = operation.request_body.iter();
        Self {
            method: method.to_ascii_uppercase(),
            path,
            operation,
            answers: operation
                .responses
                .iter()
                .filter_map(|(status, answer)| Line::of(document, status, answer))
                .collect(),
            bodies: body
                .flat_map(|it| it.content.iter().map(Body::of))
                .collect(),
            tries: operation.can_be_tried(method).then(|| Try::of(operation)),
        }
    }

    /// Returns the `curl` command that calls it.
    fn curl(&self, base_url: &str) -> String {
        let body = self.bodies.iter().find_map(|it| {
            let example = it.example.as_deref()?.replace('\'', "'\\''");
            Some(format!(
                " -H 'Content-Type: {}' -d '{example}'",
                it.media_type
            ))
        });
        format!(
            "curl -b jar -X {}{} '{base_url}{}'",
            self.method,
            body.unwrap_or_default(),
            self.path
        )
    }
}

impl<'a> Line<'a> {
    fn of(document: &'a Document, status: &'a str, answer: &'a Answer) -> Option<Self> {
        let response = document.response(answer)?;
        Some(Self {
            status,
            description: &response.description,
            bodies: response.content.iter().map(Body::of).collect(),
        })
    }
}

impl<'a> Body<'a> {
    fn of((media_type, content): (&'a String, &'a Content)) -> Self {
        let mut shapes = Vec::new();
        if let Some(schema) = &content.schema {
            find_shapes(schema.as_value(), &mut shapes);
        }
        Self {
            media_type,
            shapes,
            example: content.example.as_ref().map(ToString::to_string),
        }
    }
}

impl<'a> Try<'a> {
    fn of(operation: &'a Operation) -> Self {
        let success = operation.responses.get("200");
        let content = success.and_then(|it| match it {
            Answer::Own(response) => Some(&response.content),
            Answer::Shared { .. } => None,
        });
        Self {
            inputs: operation
                .parameters
                .iter()
                .filter(|it| it.location != Location::Header)
                .map(Input::of)
                .collect(),
            media_types: content
                .into_iter()
                .flat_map(|it| it.keys().map(String::as_str))
                .collect(),
        }
    }
}

impl<'a> Input<'a> {
    fn of(parameter: &'a Parameter) -> Self {
        let schema = parameter.schema.as_value();
        let kind = schema.get("type").and_then(Value::as_str);
        let choices = match (kind, schema.get("enum")) {
            (Some("boolean"), _) => vec!["true".to_owned(), "false".to_owned()],
            (_, Some(Value::Array(values))) => values.iter().map(plain).collect(),
            _ => Vec::new(),
        };
        Self {
            parameter,
            choices,
            kind: match kind {
                Some("integer" | "number") => "number",
                _ => "text",
            },
            example: parameter.example.as_ref().map(plain).unwrap_or_default(),
        }
    }
}

/// The parts of `text` between backticks, and those around them.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    text.split('`')
        .enumerate()
        .map(|(index, text)| Piece {
            text,
            is_code: index % 2 == 1,
        })
        .collect()
}

/// The names of the shapes that `schema` refers to.
fn find_shapes(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(target) if key == "$ref" => {
                        let name = target.rsplit('/').next().unwrap_or(target);
                        if !found.iter().any(|it| it == name) {
                            found.push(name.to_owned());
                        }
                    }
                    other => find_shapes(other, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|it| find_shapes(it, found)),
        _ => {}
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

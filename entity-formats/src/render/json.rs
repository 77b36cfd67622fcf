//! Answers as JSON.

mod limited;

use std::io::Write as _;

use entity_core::engine::EXPANDED;
use entity_core::format::{Format, Problem, Renderer, View};
use entity_core::reply::{Body, Collection, Item};
use entity_core::{Error, FieldError, Reference, Result};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Serializer;

use self::limited::Limited;
pub(crate) use self::limited::{Limits, METADATA};
use crate::primitives::buffer::Buffer;

/// Writes JSON.
#[derive(Clone, Copy, Debug, Default)]
pub struct Json;

impl Renderer for Json {
    fn format(&self) -> Format {
        Format {
            name: "json",
            media_type: "application/json",
            aliases: &["text/json"],
            is_feed: false,
        }
    }

    fn accepts(&self, body: &Body) -> bool {
        body.is_data()
    }

    fn render(&self, body: &Body, view: &View<'_>) -> Result<Vec<u8>> {
        let mut buffer = Buffer::of(body, view);
        match body {
            Body::Empty => {}
            Body::Entity(item) => write_entity(&mut buffer, item, view.base_url)?,
            Body::Collection(it) => write_collection(&mut buffer, it, view)?,
            Body::Value(value) => write_value(&mut buffer, &value.data)?,
            _ => return Err(Error::not_acceptable(&["html"])),
        }
        Ok(buffer.into_bytes())
    }

    fn render_problem(&self, problem: &Problem, _view: &View<'_>) -> Option<Vec<u8>> {
        Some(write_problem(problem))
    }
}

/// The object that tells an error, the same at every address.
pub fn write_problem(problem: &Problem) -> Vec<u8> {
    let mut buffer = Buffer::unlimited();
    let written = write_value(&mut buffer, &ProblemBody::of(problem));
    debug_assert!(written.is_ok(), "text and lists of text can be written");
    buffer.into_bytes()
}

/// The object in which an error is told.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "error")]
pub struct ProblemBody<'a> {
    /// The error.
    error: ProblemFacts<'a>,
}

/// The facts of an error. The status is text because existing clients read text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "errorFacts")]
pub(crate) struct ProblemFacts<'a> {
    /// The status, as text.
    status: String,
    /// The message: the mistake and the remedy.
    message: &'a str,
    /// When it happened, ISO 8601.
    timestamp: &'a str,
    /// The request's id, to find it in the log.
    request_id: &'a str,
    /// The fields of the input that were refused.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    fields: &'a [FieldError],
    /// Which operation of a batch failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<usize>,
    /// The word by which programs tell this error from others with its status.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
}

impl<'a> ProblemBody<'a> {
    fn of(problem: &'a Problem) -> Self {
        Self {
            error: ProblemFacts::of(problem),
        }
    }
}

impl<'a> ProblemFacts<'a> {
    pub(crate) fn of(problem: &'a Problem) -> Self {
        Self {
            status: problem.status.to_string(),
            message: &problem.message,
            timestamp: &problem.timestamp,
            request_id: &problem.request_id,
            fields: &problem.fields,
            operation: problem.operation,
            code: problem.code,
        }
    }
}

/// The public address of what `reference` names, without a format.
pub(crate) fn entity_url(base_url: &str, reference: &Reference) -> String {
    format!("{base_url}/direct{}", reference.path())
}

/// Writes `value` as it is.
pub(crate) fn write_value<T: Serialize + ?Sized>(buffer: &mut Buffer, value: &T) -> Result<()> {
    write_limited(buffer, value).map(drop)
}

/// Writes the entity's fields, behind them its metadata and the entities that it is shown with. A key that
/// the entity writes itself wins.
pub(crate) fn write_entity(buffer: &mut Buffer, item: &Item, base_url: &str) -> Result<()> {
    let written = write_limited(buffer, &item.data())?;
    if buffer.pop() != Some(b'}') {
        return Err(Error::internal("an entity must be written as an object"));
    }
    for (name, value) in metadata(item, base_url) {
        let Some(value) = value.filter(|_| !written.has(name)) else {
            continue;
        };
        write_key(buffer, name)?;
        write_value(buffer, &value)?;
    }
    for (name, entity) in item.expanded() {
        write_key(buffer, &format!("{name}{EXPANDED}"))?;
        write_entity(buffer, entity, base_url)?;
    }
    write_raw(buffer, b"}")
}

/// Returns the keys that the framework adds to an entity, with their values.
pub(crate) fn metadata(
    item: &Item,
    base_url: &str,
) -> impl Iterator<Item = (&'static str, Option<String>)> {
    let reference = item.reference();
    let values = [
        Some(reference.to_string()),
        Some(entity_url(base_url, &reference)),
        Some(item.id()),
        item.title(),
    ];
    METADATA.into_iter().zip(values)
}

/// Writes `bytes`, which are JSON.
fn write_raw(buffer: &mut Buffer, bytes: &[u8]) -> Result<()> {
    buffer.write_all(bytes).map_err(too_large)
}

/// Begins a further entry of an object.
fn write_key(buffer: &mut Buffer, name: &str) -> Result<()> {
    if buffer.bytes().last() != Some(&b'{') {
        write_raw(buffer, b",")?;
    }
    write_value(buffer, name)?;
    write_raw(buffer, b":")
}

fn write_collection(buffer: &mut Buffer, collection: &Collection, view: &View<'_>) -> Result<()> {
    write_raw(buffer, b"{\"entityPrefix\":")?;
    write_value(buffer, collection.prefix)?;
    write_raw(buffer, b",")?;
    write_value(buffer, &format!("{}_collection", collection.prefix))?;
    write_raw(buffer, b":[")?;
    for (index, item) in collection.items.iter().enumerate() {
        let separator: &[u8] = if index > 0 { b"," } else { b"" };
        let written =
            write_raw(buffer, separator).and_then(|()| write_entity(buffer, item, view.base_url));
        buffer.check(written, index)?;
    }
    let written = write_raw(buffer, b"]}");
    buffer.check(written, collection.items.len().saturating_sub(1))
}

fn write_limited<T: Serialize + ?Sized>(buffer: &mut Buffer, value: &T) -> Result<Limited> {
    let mut limited = Limited::default();
    value
        .serialize(&mut Serializer::with_formatter(buffer, &mut limited))
        .map_err(refuse)?;
    Ok(limited)
}

/// Converts a failure of writing. Nothing but the limits of [`Limited`] keeps bytes from being put into memory.
fn refuse(error: serde_json::Error) -> Error {
    match error.is_io() {
        true => too_large(error),
        false => Error::internal(error),
    }
}

pub(crate) fn too_large(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::insufficient_storage(
        "this takes more than one answer may have: ask for parts of it, or for fewer fields",
    )
    .with_source(error)
}

//! Answers as XML.
//!
//! A field is an element. What its text can't tell is in the attributes `type`, `size` and `date`.

mod description;

use std::io;

use chrono::{DateTime, Utc};
use entity_core::format::{Format, Problem, Renderer, View};
use entity_core::schema::{Kind, Schema};
use entity_core::{Body, Collection, Error, Item, Result, wire};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use serde_json::{Map, Value};

use crate::render::json::ProblemFacts;
use crate::render::tree;
use crate::words::buffer::Buffer;
use crate::words::text::{escape, repair_name};

pub use description::{Described, write_description};

/// Items of these fields have names that existing clients know and nobody could guess.
const ITEM_NAMES: [(&str, &str); 1] = [("submissions", "simplesubmission")];

/// Writes XML.
#[derive(Clone, Copy, Debug, Default)]
pub struct Xml;

impl Renderer for Xml {
    fn format(&self) -> Format {
        Format {
            name: "xml",
            media_type: "application/xml; charset=utf-8",
            aliases: &["text/xml"],
            is_feed: false,
        }
    }

    fn accepts(&self, body: &Body) -> bool {
        body.is_data()
    }

    fn render(&self, body: &Body, view: &View<'_>) -> Result<Vec<u8>> {
        match body {
            Body::Empty => Ok(Vec::new()),
            Body::Entity(item) => {
                document(Buffer::of(body, view), |out| write_entity(out, item, view))
            }
            Body::Collection(it) => document(Buffer::of(body, view), |out| {
                write_collection(out, it, view)
            }),
            Body::Value(value) => {
                let data = tree::of_value(&value.data)?;
                let buffer = Buffer::of(body, view);
                document(buffer, |out| match &data {
                    Value::Array(items) => Ok(write_list(out, value.prefix, &value.name, items)?),
                    data => Ok(write(out, value.prefix, data, None)?),
                })
            }
            _ => Err(Error::not_acceptable(&["html"])),
        }
    }

    fn render_problem(&self, problem: &Problem, _view: &View<'_>) -> Option<Vec<u8>> {
        let data = tree::of_value(&ProblemFacts::of(problem)).ok()?;
        let buffer = Buffer::unlimited();
        document(buffer, |out| Ok(write(out, "error", &data, None)?)).ok()
    }
}

type Out = Writer<Buffer>;

/// Why a document could not be written.
struct Failure(Error);

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self(Error::internal(error))
    }
}

fn document(
    buffer: Buffer,
    content: impl FnOnce(&mut Out) -> Result<(), Failure>,
) -> Result<Vec<u8>> {
    let mut out = Writer::new(buffer);
    let declaration = Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None));
    out.write_event(declaration)
        .and_then(|()| out.write_event(Event::Text(BytesText::from_escaped("\n"))))
        .map_err(Error::internal)?;
    content(&mut out).map_err(|Failure(error)| error)?;
    Ok(out.into_inner().into_bytes())
}

fn write_entity(out: &mut Out, item: &Item, view: &View<'_>) -> Result<(), Failure> {
    let data = tree::of_entity(item, view.base_url)?;
    Ok(write(out, item.prefix(), &data, Some(item.schema()))?)
}

fn write_collection(
    out: &mut Out,
    collection: &Collection,
    view: &View<'_>,
) -> Result<(), Failure> {
    let name = format!("{}_collection", collection.prefix);
    let name = repair_name(&name);
    let prefix = escape(collection.prefix);
    let start =
        BytesStart::new(&*name).with_attributes([("entityPrefix".as_bytes(), prefix.as_bytes())]);
    out.write_event(Event::Start(start))?;
    for (index, item) in collection.items.iter().enumerate() {
        let written = write_entity(out, item, view).map_err(|Failure(error)| error);
        out.get_ref().check(written, index)?;
    }
    let written = out.write_event(Event::End(BytesEnd::new(&*name)));
    let last = collection.items.len().saturating_sub(1);
    Ok(out
        .get_ref()
        .check(written.map_err(Error::internal), last)?)
}

/// Writes `value` as the element `name`. `schema` tells of what kind the fields of `value` are.
///
/// The tree's depth is limited where it is made, so walking it may recurse.
fn write(out: &mut Out, name: &str, value: &Value, schema: Option<&Schema>) -> io::Result<()> {
    match value {
        Value::Null => out.write_event(Event::Empty(BytesStart::new(repair_name(name)))),
        Value::Bool(it) => write_text(out, name, &[("type", "boolean")], &it.to_string()),
        Value::Number(it) => write_text(out, name, &[("type", "number")], &it.to_string()),
        Value::String(it) => write_text(out, name, &[], it),
        Value::Array(items) => write_list(out, name, name, items),
        Value::Object(fields) => write_object(out, name, "bean", fields, schema),
    }
}

/// Writes a field of an entity, of which the schema may know more than the data shows.
fn write_field(out: &mut Out, name: &str, value: &Value, kind: Option<Kind>) -> io::Result<()> {
    match (kind, value) {
        (Some(Kind::Object), Value::Object(fields)) => write_object(out, name, "map", fields, None),
        (Some(kind), value) => match instant(kind, value) {
            Some(instant) => {
                let (iso, millis) = (wire::iso(instant), instant.timestamp_millis().to_string());
                write_text(out, name, &[("type", "date"), ("date", &iso)], &millis)
            }
            None => write(out, name, value, None),
        },
        (None, value) => write(out, name, value, None),
    }
}

fn instant(kind: Kind, value: &Value) -> Option<DateTime<Utc>> {
    match (kind, value) {
        (Kind::Millis, Value::Number(it)) => DateTime::from_timestamp_millis(it.as_i64()?),
        (Kind::Instant, Value::String(it)) => {
            DateTime::parse_from_rfc3339(it).ok().map(|it| it.to_utc())
        }
        _ => None,
    }
}

fn write_text(
    out: &mut Out,
    name: &str,
    attributes: &[(&str, &str)],
    text: &str,
) -> io::Result<()> {
    let name = repair_name(name);
    let start = BytesStart::new(&*name).with_attributes(attributes.iter().copied());
    out.write_event(Event::Start(start))?;
    out.write_event(Event::Text(BytesText::from_escaped(escape(text))))?;
    out.write_event(Event::End(BytesEnd::new(&*name)))
}

/// Writes `items` as the element `name`. The items are named for the list `list`.
fn write_list(out: &mut Out, name: &str, list: &str, items: &[Value]) -> io::Result<()> {
    write_group(out, name, "collection", items.len(), |out| {
        items
            .iter()
            .try_for_each(|item| write(out, &item_name(list, item), item, None))
    })
}

fn write_object(
    out: &mut Out,
    name: &str,
    kind: &str,
    fields: &Map<String, Value>,
    schema: Option<&Schema>,
) -> io::Result<()> {
    write_group(out, name, kind, fields.len(), |out| {
        fields.iter().try_for_each(|(name, value)| {
            let kind = schema.and_then(|it| it.field(name)).map(|field| field.kind);
            write_field(out, name, value, kind)
        })
    })
}

fn write_group(
    out: &mut Out,
    name: &str,
    kind: &str,
    size: usize,
    children: impl FnOnce(&mut Out) -> io::Result<()>,
) -> io::Result<()> {
    let name = repair_name(name);
    let size = size.to_string();
    let start = BytesStart::new(&*name).with_attributes([("type", kind), ("size", size.as_str())]);
    out.write_event(Event::Start(start))?;
    children(out)?;
    out.write_event(Event::End(BytesEnd::new(&*name)))
}

/// The name of an item of the list `list`: an object's is the list's in the singular.
fn item_name(list: &str, item: &Value) -> String {
    match item {
        Value::Object(_) => ITEM_NAMES
            .iter()
            .find(|(name, _)| *name == list)
            .map(|(_, item)| (*item).to_owned())
            .or_else(|| singular(list))
            .unwrap_or_else(|| "element".to_owned()),
        Value::String(_) => "string".to_owned(),
        _ => "element".to_owned(),
    }
}

fn singular(plural: &str) -> Option<String> {
    let stem = plural.strip_suffix('s')?;
    match stem.strip_suffix("ie") {
        _ if stem.is_empty() || stem.ends_with('s') => None,
        Some(stem) if !stem.is_empty() => Some(format!("{stem}y")),
        _ => Some(without_e(stem).to_owned()),
    }
}

/// The stem of a plural, without the vowel that hissing sounds need before the `s`.
fn without_e(stem: &str) -> &str {
    let shorter = stem.strip_suffix('e').unwrap_or(stem);
    let hisses = ["ss", "x"].iter().any(|it| shorter.ends_with(it));
    if hisses { shorter } else { stem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_has_the_name_of_its_list_in_the_singular() {
        for (plural, expected) in [
            ("addresses", Some("address")),
            ("classes", Some("class")),
            ("boxes", Some("box")),
            ("caches", Some("cache")),
            ("pages", Some("page")),
            ("tools", Some("tool")),
            ("categories", Some("category")),
            ("responses", Some("response")),
            ("uses", Some("use")),
            ("types", Some("type")),
            ("address", None),
            ("s", None),
            ("data", None),
        ] {
            assert_eq!(singular(plural).as_deref(), expected, "{plural}");
        }
        for (list, item) in ITEM_NAMES {
            assert_ne!(
                singular(list).as_deref(),
                Some(item),
                "`{list}` needs no exception"
            );
        }
    }
}

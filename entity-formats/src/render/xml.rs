//! Answers as XML.
//!
//! A field is an element. What its text can't tell is in the attributes `type`, `size` and `date`.

mod description;
mod element;
mod naming;

use entity_core::engine::EXPANDED;
use entity_core::format::{Format, Problem, Renderer, View};
use entity_core::reply::{Body, Collection, Item};
use entity_core::schema::Schema;
use entity_core::{Error, Result};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use serde::Serialize;

use self::element::{Element, Failure};
use self::naming::Name;
use crate::primitives::buffer::Buffer;
use crate::primitives::text::{escape, repair_name};
use crate::render::json::{Limits, ProblemFacts, metadata};

pub use description::{Described, write_description};

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
                let name = Name::Of(value.prefix, &value.name);
                document(Buffer::of(body, view), |out| {
                    write_value(out, name, &value.data)
                })
            }
            _ => Err(Error::not_acceptable(&["html"])),
        }
    }

    fn render_problem(&self, problem: &Problem, _view: &View<'_>) -> Option<Vec<u8>> {
        let facts = ProblemFacts::of(problem);
        let write = |out: &mut Out| write_value(out, Name::Own("error"), &facts);
        document(Buffer::unlimited(), write).ok()
    }
}

type Out = Writer<Buffer>;

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

fn write_value<T: Serialize + ?Sized>(
    out: &mut Out,
    name: Name<'_>,
    value: &T,
) -> Result<(), Failure> {
    let mut limits = Limits::default();
    value
        .serialize(Element::of(out, &mut limits, name))
        .map(drop)
}

/// Writes the entity's fields, behind them its metadata and the entities that it is shown with, exactly as JSON has them.
fn write_entity(out: &mut Out, item: &Item, view: &View<'_>) -> Result<(), Failure> {
    write_as(out, (item.prefix(), Some(item.schema())), item, view)
}

/// Writes the entity as the element `name`, of whose fields `schema` tells the kinds.
fn write_as(
    out: &mut Out,
    (name, schema): (&str, Option<&'static Schema>),
    item: &Item,
    view: &View<'_>,
) -> Result<(), Failure> {
    let mut limits = Limits::default();
    let element = Element {
        schema,
        stays_open: true,
        ..Element::of(out, &mut limits, Name::Own(name))
    };
    let mut ended = item.data().serialize(element)?;
    if ended.size_at == 0 {
        return Err(Error::internal("an entity must be written as an object").into());
    }
    let found = limits.found();
    for (name, value) in metadata(item, view.base_url) {
        if let Some(value) = value.filter(|_| !found.contains(&name)) {
            let mut limits = Limits::default();
            value.serialize(Element::of(out, &mut limits, Name::Own(name)))?;
            ended.size += 1;
        }
    }
    for (name, entity) in item.expanded() {
        write_as(out, (&format!("{name}{EXPANDED}"), None), entity, view)?;
        ended.size += 1;
    }
    element::close(out, &repair_name(name), ended).map(drop)
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

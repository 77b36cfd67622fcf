//! Answers as comma-separated values (RFC 4180), for spreadsheets and scripts.
//!
//! The first row names the columns: the fields that were chosen, in the order of the schema, then the fields of the
//! entities that are shown with them (`siteIdEntity.title`), then `entityReference` and `entityURL`. Lists and
//! objects are written as JSON, but those that a type [declares](entity_core::schema::Pivot) to be a table, which are it
//! instead of the fields. Numbers are written as they are; text that a spreadsheet would take for a formula has
//! an apostrophe before it, and characters that no spreadsheet can hold are replaced. HTML that shows no more than plain
//! text is written as that text.

mod pivot;

use std::borrow::Cow;

use csv::{Terminator, Writer, WriterBuilder};
use entity_core::engine::{EXPANDED, Projection};
use entity_core::format::{Format, Renderer, View};
use entity_core::primitives::typed::to_typed;
use entity_core::reply::{Body, Item};
use entity_core::schema::{Kind, Schema};
use entity_core::sheet::is_formula;
use entity_core::{Error, Result};
use serde_json::Value;

use crate::primitives::buffer::Buffer;
use crate::primitives::text::replace_forbidden;
use crate::render::feed::clean;
use crate::render::json::METADATA;
use crate::render::tree;

/// Writes CSV.
#[derive(Clone, Copy, Debug, Default)]
pub struct Csv;

entity_core::register_format!(Csv);

impl Renderer for Csv {
    fn format(&self) -> Format {
        Format {
            name: "csv",
            media_type: "text/csv; charset=utf-8; header=present",
            aliases: &[],
            is_feed: false,
        }
    }

    fn accepts(&self, body: &Body) -> bool {
        matches!(body, Body::Entity(_) | Body::Collection(_))
    }

    fn render(&self, body: &Body, view: &View<'_>) -> Result<Vec<u8>> {
        match body {
            Body::Entity(item) if let Some(table) = pivot::of(item.schema(), item.projection()) => {
                let buffer = Buffer::of(body, view);
                pivot::write(buffer, table, std::slice::from_ref(item), None, view)
            }
            Body::Collection(it)
                if let Some(table) = pivot::of(it.schema, Some(&it.projection)) =>
            {
                pivot::write(
                    Buffer::of(body, view),
                    table,
                    &it.items,
                    Some(it.schema),
                    view,
                )
            }
            Body::Entity(item) => {
                let columns = columns(item.schema(), item.projection(), view);
                let buffer = Buffer::of(body, view);
                write(buffer, &columns, std::slice::from_ref(item), view)
            }
            Body::Collection(it) => {
                let columns = columns(it.schema, Some(&it.projection), view);
                write(Buffer::of(body, view), &columns, &it.items, view)
            }
            _ => Err(Error::not_acceptable(&["json", "xml", "html"])),
        }
    }
}

/// Where a column's values are: a field of the entity, or one of the entity that stands in a field.
struct Column {
    outer: Cow<'static, str>,
    inner: Option<&'static str>,
    is_html: bool,
}

impl Column {
    fn of(name: &'static str) -> Self {
        Self {
            outer: Cow::Borrowed(name),
            inner: None,
            is_html: false,
        }
    }

    fn name(&self) -> Cow<'_, str> {
        match self.inner {
            Some(inner) => Cow::Owned(format!("{}.{inner}", self.outer)),
            None => Cow::Borrowed(&self.outer),
        }
    }

    fn value<'a>(&self, entity: &'a Value) -> &'a Value {
        let outer = entity.get(&*self.outer);
        let value = match self.inner {
            Some(inner) => outer.and_then(|it| it.get(inner)),
            None => outer,
        };
        value.unwrap_or(&Value::Null)
    }
}

fn lines(buffer: Buffer) -> Writer<Buffer> {
    WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(buffer)
}

/// Returns what was written of `count` items.
fn end(mut rows: Writer<Buffer>, count: usize) -> Result<Vec<u8>> {
    let written = rows.flush().map_err(Error::internal);
    rows.get_ref().check(written, count.saturating_sub(1))?;
    let written = rows.into_inner();
    let written = written.map_err(|error| Error::internal(error.into_error()));
    written.map(Buffer::into_bytes)
}

fn write(buffer: Buffer, columns: &[Column], items: &[Item], view: &View<'_>) -> Result<Vec<u8>> {
    let mut rows = lines(buffer);
    let names = columns.iter().map(Column::name);
    rows.write_record(names.map(Cow::into_owned))
        .map_err(Error::internal)?;
    for (index, item) in items.iter().enumerate() {
        let tree = tree::of_entity(item, view.base_url)?;
        let written = write_row(&mut rows, columns, &tree);
        rows.get_ref().check(written, index)?;
    }
    end(rows, items.len())
}

fn columns(schema: &Schema, projection: Option<&Projection>, view: &View<'_>) -> Vec<Column> {
    let chosen = projection.and_then(|it| it.fields.as_deref());
    let [reference, url, ..] = METADATA;
    let is_shown =
        |name: &&str| ![reference, url].contains(name) && chosen.is_none_or(|it| it.contains(name));
    let own = schema.fields.iter().filter(|it| is_shown(&it.name));
    let mut columns: Vec<_> = own
        .map(|it| Column {
            is_html: matches!(it.kind, Kind::Html(_)),
            ..Column::of(it.name)
        })
        .collect();
    for field in projection.iter().flat_map(|it| &it.expand) {
        let route = field.references.and_then(|it| view.registry.route(it));
        let others = route.iter().flat_map(|it| it.schema.fields);
        columns.extend(others.map(|other| Column {
            outer: Cow::Owned(format!("{}{EXPANDED}", field.name)),
            inner: Some(other.name),
            is_html: matches!(other.kind, Kind::Html(_)),
        }));
    }
    columns.extend([reference, url].map(Column::of));
    columns
}

fn write_row(rows: &mut Writer<Buffer>, columns: &[Column], entity: &Value) -> Result<()> {
    let cells = columns.iter().map(|it| match it.value(entity) {
        Value::String(html) if it.is_html => cell(&Value::from(to_typed(html))).into_owned(),
        value => cell(value).into_owned(),
    });
    rows.write_record(cells).map_err(Error::internal)
}

fn cell(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => Cow::Borrowed(""),
        Value::String(text) if is_formula(text) => Cow::Owned(format!("'{}", clean(text))),
        Value::String(text) => replace_forbidden(text),
        other => Cow::Owned(other.to_string()),
    }
}
